// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Short-lived processes in many cgroups in turn, as on a node that starts a job for each small
 * task: each is born into its cgroup, execs and reads. Writes the number of reads per cgroup.
 *
 *   swarm FILE OUT PARENT GROUPS PROCESSES SECONDS   PARENT holds the cgroups 0, 1, ... GROUPS - 1;
 *                                                    PROCESSES evenly over SECONDS, 0: at once
 *   swarm FILE READS                                 reads READS times
 */
#include "live.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define GROUPS_MAX 2000
#define READS_MAX 7
#define LIVING_MAX 16

static long reads[GROUPS_MAX];

static int read_often(const char *path, long count)
{
	int fd = open(path, O_RDONLY);
	char buffer[512];

	require(fd >= 0);
	for (long i = 0; i < count; i++)
		require(pread(fd, buffer, sizeof(buffer), 0) == sizeof(buffer));
	return 0;
}

static void start(const char *self, const char *path, int group, long count)
{
	struct clone_args clone = {
		.flags = CLONE_INTO_CGROUP,
		.exit_signal = SIGCHLD,
		.cgroup = group,
	};
	char number[32];
	long pid = syscall(SYS_clone3, &clone, sizeof(clone));

	require(pid >= 0);
	if (pid)
		return;
	snprintf(number, sizeof(number), "%ld", count);
	execl(self, "swarm", path, number, (char *)NULL);
	_exit(WORKLOAD_BROKEN);
}

static void reap(void)
{
	int status;

	require(wait(&status) > 0 && WIFEXITED(status) && !WEXITSTATUS(status));
}

static void run(const char *path, const int *groups, long group_count, long count, double seconds)
{
	uint64_t begin_ns = now_ns();
	long living = 0;
	char self[4096] = "";

	require(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	for (long i = 0; i < count; i++) {
		uint64_t due_ns = begin_ns + seconds * 1e9 / count * i;
		long reading = 1 + i % READS_MAX;

		while (now_ns() < due_ns)
			usleep(200);
		if (living == LIVING_MAX) {
			reap();
			living--;
		}
		start(self, path, groups[i % group_count], reading);
		reads[i % group_count] += reading;
		living++;
	}
	while (living--)
		reap();
}

int main(int argc, char **argv)
{
	int groups[GROUPS_MAX];
	long group_count;
	FILE *out;

	if (argc == 3)
		return read_often(argv[1], atol(argv[2]));
	require(argc == 7);
	group_count = atol(argv[4]);
	require(group_count > 0 && group_count <= GROUPS_MAX);
	for (long i = 0; i < group_count; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%ld", argv[3], i);
		groups[i] = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		require(groups[i] >= 0);
	}
	run(argv[1], groups, group_count, atol(argv[5]), atof(argv[6]));
	out = fopen(argv[2], "w");
	require(out);
	fprintf(out, "[");
	for (long i = 0; i < group_count; i++)
		fprintf(out, "%s%ld", i ? ", " : "", reads[i]);
	fprintf(out, "]\n");
	require(!fclose(out));
	return 0;
}
