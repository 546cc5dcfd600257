// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Hot cached 4 KiB preads: the cost of a read from the page cache, with or without a tracer.
 * Prints "cpu seconds", then "ns-per-op ops".
 * Each thread reads its own file: threads on one file contend for its cache lines, which would
 * hide the cost of tracing.
 *
 * usage: hotread PREFIX THREADS SECONDS [OPS [RATE]]
 * OPS: per thread, instead of SECONDS; 0: none. RATE: reads a second and thread, at most; 0: no
 * limit.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/clock.h"

#define FILE_BYTES (1 << 20)
#define READ_BYTES 4096
#define OPS_PER_LOOK 256 /* reads between clock checks */

struct reader {
	pthread_t thread;
	pthread_barrier_t *start;
	int fd;
	double seconds;
	uint64_t limit; /* in ops; 0: none */
	uint64_t rate;	/* ops a second; 0: no limit */
	uint64_t ops, ns;
	int error;
};

static void sleep_until_due(const struct reader *reader, uint64_t start, uint64_t now)
{
	uint64_t due = start + reader->ops * 1000000000 / reader->rate;

	if (due > now)
		usleep((due - now) / 1000);
}

static void *read_hot(void *argument)
{
	struct reader *reader = argument;
	char buffer[READ_BYTES];
	uint64_t start, end;

	pthread_barrier_wait(reader->start);
	start = clock_ns();
	do {
		for (int i = 0; i < OPS_PER_LOOK; i++, reader->ops++) {
			off_t offset = reader->ops * READ_BYTES % FILE_BYTES;

			if (pread(reader->fd, buffer, sizeof(buffer), offset) != sizeof(buffer)) {
				reader->error = errno ? errno : EIO;
				return NULL;
			}
		}
		end = clock_ns();
		if (reader->rate)
			sleep_until_due(reader, start, end);
	} while (reader->limit ? reader->ops < reader->limit : end - start < reader->seconds * 1e9);
	reader->ns = end - start;
	return NULL;
}

static int make(const char *prefix, int number)
{
	static char zeros[FILE_BYTES];
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s.%d", prefix, number);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	if (fd < 0)
		return -1;
	if (pwrite(fd, zeros, sizeof(zeros), 0) != sizeof(zeros)) {
		close(fd);
		return -1;
	}
	return fd;
}

int main(int argc, char **argv)
{
	struct reader readers[64] = { 0 };
	pthread_barrier_t start;
	uint64_t ops = 0, ns = 0;
	int threads;

	threads = argc > 3 ? atoi(argv[2]) : 0;
	if (threads < 1 || threads > 64) {
		fprintf(stderr, "usage: hotread PREFIX THREADS SECONDS [OPS [RATE]]\n");
		return 2;
	}
	pthread_barrier_init(&start, NULL, threads);
	for (int i = 0; i < threads; i++) {
		readers[i].start = &start;
		readers[i].fd = make(argv[1], i);
		if (readers[i].fd < 0) {
			perror(argv[1]);
			return 1;
		}
		readers[i].seconds = atof(argv[3]);
		readers[i].limit = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
		readers[i].rate = argc > 5 ? strtoull(argv[5], NULL, 10) : 0;
		if (pthread_create(&readers[i].thread, NULL, read_hot, &readers[i])) {
			fprintf(stderr, "hotread: cannot start thread %d\n", i);
			return 1;
		}
	}
	for (int i = 0; i < threads; i++) {
		pthread_join(readers[i].thread, NULL);
		if (readers[i].error) {
			errno = readers[i].error;
			perror("pread");
			return 1;
		}
		ops += readers[i].ops;
		ns += readers[i].ns;
	}
	printf("cpu %.3f\n", cpu_seconds(RUSAGE_SELF));
	printf("%.2f %llu\n", (double)ns / ops, (unsigned long long)ops);
	return 0;
}
