// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Floods a tracer's small buffers, together with or by records that name processes and files.
 *
 *   flood looks DIR COUNT    failed lookups of long paths by two threads, while
 *                            COUNT processes start and COUNT files are created
 *   flood names DIR COUNT    COUNT files in a deep directory, all at once while the
 *                            parent is stopped, then again at a slow pace
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "live.h"

#define THREADS 2
#define DEPTH 12
#define NAME_LENGTH 250
#define PASSES 5

static volatile bool ended;

static void *look(void *unused)
{
	char path[3000];
	struct stat st;

	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	for (size_t i = 100; i < sizeof(path); i += 100)
		path[i] = '/';
	while (!ended)
		stat(path, &st);
	return unused;
}

static int make_file(int dir, int number)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "file-%d", number);
	fd = openat(dir, name, O_RDWR | O_CREAT, 0644);
	require(fd >= 0);
	return fd;
}

static void flood_looks(int dir, int count)
{
	pthread_t threads[THREADS];
	char byte;

	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, look, NULL));
	for (int i = 0; i < count; i++) {
		pid_t pid = vfork();
		int status, fd;

		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(WORKLOAD_BROKEN);
		}
		require(waitpid(pid, &status, 0) == pid && !status);
		fd = make_file(dir, i);
		require(pread(fd, &byte, 1, 0) == 0);
		close(fd);
	}
	ended = true;
	for (int i = 0; i < THREADS; i++)
		require(!pthread_join(threads[i], NULL));
}

static void flood_names(int dir, int count)
{
	char name[NAME_LENGTH + 1];

	memset(name, 'd', NAME_LENGTH);
	name[NAME_LENGTH] = 0;
	for (int i = 0; i < DEPTH; i++) {
		require(!mkdirat(dir, name, 0755));
		dir = openat(dir, name, O_RDONLY | O_DIRECTORY);
		require(dir >= 0);
	}
	/* A stopped parent drains no records. */
	require(!kill(getppid(), SIGSTOP));
	for (int i = 0; i < count; i++)
		close(make_file(dir, i));
	require(!kill(getppid(), SIGCONT));
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < count; i++) {
			close(make_file(dir, i));
			usleep(1000);
		}
}

int main(int argc, char **argv)
{
	int dir;

	require(argc == 4);
	dir = open(argv[2], O_RDONLY | O_DIRECTORY);
	require(dir >= 0);
	if (!strcmp(argv[1], "looks"))
		flood_looks(dir, atoi(argv[3]));
	else
		flood_names(dir, atoi(argv[3]));
	return 0;
}
