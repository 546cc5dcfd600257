// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A job that runs for a while: reads from its file every few milliseconds, and reports the result
 * at the end.
 *
 *   pacer FILE OUT SECONDS [ignore|default|exit]
 *
 * Effect of SIGINT and SIGTERM: `default` ends it at once, `exit` makes it write OUT and exit with
 * 3, `ignore` counts them. FILE.started appears once it reads.
 */
#include <fcntl.h>
#include <signal.h>

#include "live.h"

static volatile sig_atomic_t signals, leave;
static int leave_at_signal;

static void on_signal(int number)
{
	(void)number;
	signals++;
	leave = leave_at_signal;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t reads = 0, bytes = 0, start = now_ns(), end;
	char started[600], buffer[4096];
	int fd, ready;
	FILE *out;

	require(argc == 4 || argc == 5);
	end = start + (uint64_t)(atof(argv[3]) * 1e9);
	if (argc == 5 && strcmp(argv[4], "default")) {
		leave_at_signal = !strcmp(argv[4], "exit");
		require(!sigaction(SIGINT, &action, NULL) && !sigaction(SIGTERM, &action, NULL));
	}
	fd = open(argv[1], O_RDONLY);
	require(fd >= 0);
	snprintf(started, sizeof(started), "%s.started", argv[1]);
	while (now_ns() < end && !leave) {
		require(pread(fd, buffer, sizeof(buffer), reads % 64 * 4096) == sizeof(buffer));
		bytes += sizeof(buffer);
		if (reads++ == 0) {
			ready = open(started, O_WRONLY | O_CREAT, 0644);
			require(ready >= 0);
		}
		usleep(2000);
	}
	out = fopen(argv[2], "w");
	require(out != NULL);
	fprintf(out, "{\"pid\": %d, \"reads\": %lu, \"bytes\": %lu, \"signals\": %d}\n", getpid(),
		reads, bytes, (int)signals);
	require(fclose(out) == 0);
	return leave ? 3 : 0;
}
