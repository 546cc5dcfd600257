// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A process whose second thread execs: the program continues under the process's ID, and the
 * thread's ID ceases to exist. Writes that ID to OUT beforehand.
 *
 *   reborn OUT
 */
#include <pthread.h>
#include <sys/syscall.h>

#include "live.h"

static void *execute(void *out)
{
	FILE *file = fopen(out, "w");

	require(file);
	fprintf(file, "{\"pid\": %d, \"tid\": %ld}\n", (int)getpid(), (long)syscall(SYS_gettid));
	require(!fclose(file));
	execl("/proc/self/exe", "reborn", (char *)NULL);
	_exit(WORKLOAD_BROKEN);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	if (argc == 1)
		return 0;
	require(!pthread_create(&thread, NULL, execute, argv[1]));
	for (;;)
		pause();
}
