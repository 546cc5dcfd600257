// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * More concurrent threads than a tracer may have preallocated for: all exist before any does its
 * read. Then the youngest execs, which ends all others.
 *
 *   crowd FILE THREADS OUT    each reads a page of its own of FILE
 *   crowd FILE                reads the first byte of FILE
 */
#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "live.h"

#define PAGE 4096

static pthread_barrier_t here, read_all;
static const char *path, *out;
static long threads;
static int file;

static void execute(void)
{
	FILE *account = fopen(out, "w");

	require(account);
	fprintf(account, "{\"pid\": %d, \"tid\": %ld}\n", (int)getpid(), (long)syscall(SYS_gettid));
	require(!fclose(account));
	execl("/proc/self/exe", "crowd", path, (char *)NULL);
	_exit(WORKLOAD_BROKEN);
}

static void *run(void *number)
{
	char page[PAGE];
	long at = (long)number;

	pthread_barrier_wait(&here);
	require(pread(file, page, PAGE, at * PAGE) == PAGE);
	pthread_barrier_wait(&read_all);
	if (at == threads - 1)
		execute();
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pthread_attr_t attributes;
	pthread_t thread;
	char byte;

	require(argc == 2 || argc == 4);
	path = argv[1];
	file = open(path, O_RDONLY | O_CLOEXEC);
	require(file >= 0);
	if (argc == 2)
		return read(file, &byte, 1) == 1 ? 0 : WORKLOAD_BROKEN;
	threads = atol(argv[2]);
	out = argv[3];
	require(!pthread_barrier_init(&here, NULL, threads));
	require(!pthread_barrier_init(&read_all, NULL, threads));
	require(!pthread_attr_init(&attributes));
	require(!pthread_attr_setstacksize(&attributes, 64 << 10));
	for (long i = 0; i < threads; i++)
		require(!pthread_create(&thread, &attributes, run, (void *)i));
	for (;;)
		pause();
}
