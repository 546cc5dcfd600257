// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads that map and unmap memory as fast as they can, next to threads that fault on a cached
 * file: only the mapping identifies the file of such a fault.
 *
 * usage: churn FILE ROUNDS   prints how many faults the kernel counted while pages were touched
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define THREADS 2
#define STRIDE (64ul << 10) /* at most the kernel's fault-around distance */

static int fd;
static size_t size;
static unsigned long rounds;
static atomic_ulong faults;
static atomic_bool done;

static void *churn(void *unused)
{
	char *maps[16];

	(void)unused;
	while (!atomic_load(&done)) {
		for (int i = 0; i < 16; i++) /* with different permissions, so that they do not
					      * merge */
			maps[i] = mmap(NULL, 4096 * (i + 1), i & 1 ? PROT_READ : PROT_NONE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int i = 0; i < 16; i++)
			munmap(maps[i], 4096 * (i + 1));
	}
	return NULL;
}

static unsigned long count_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt + usage.ru_majflt;
}

static void *touch(void *unused)
{
	volatile unsigned int sum = 0;

	(void)unused;
	count_faults(); /* faults its own pages in */
	for (unsigned long i = 0; i < rounds; i++) {
		volatile unsigned char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
		unsigned long before = count_faults();

		if (map == MAP_FAILED)
			exit(1);
		for (size_t at = 0; at < size; at += STRIDE)
			sum += map[at];
		atomic_fetch_add(&faults, count_faults() - before);
		munmap((void *)map, size);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2 * THREADS];
	struct stat status;

	if (argc != 3)
		return 2;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &status))
		return 1;
	size = status.st_size;
	rounds = strtoul(argv[2], NULL, 10);
	for (int i = 0; i < 2 * THREADS; i++)
		if (pthread_create(&threads[i], NULL, i < THREADS ? touch : churn, NULL))
			return 1;
	for (int i = 0; i < 2 * THREADS; i++) {
		if (i == THREADS)
			atomic_store(&done, 1);
		pthread_join(threads[i], NULL);
	}
	printf("%lu\n", atomic_load(&faults));
	return 0;
}
