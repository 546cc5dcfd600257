// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Threads that read 4 KiB pieces of a cached file as fast as they can, and report the number of
 * reads.
 *
 *   hotread FILE OUT THREADS (seconds N | reads N) [STATUS]
 *
 * `reads` is per thread; STATUS is the exit status, 0 by default.
 */
#include <fcntl.h>
#include <pthread.h>

#include "live.h"

#define PIECE 4096
#define PIECES 256 /* of the file, read cyclically */
#define BATCH 256  /* reads between clock checks */

struct reader {
	int fd;
	uint64_t reads_max, end_ns; /* whichever comes first */
	uint64_t reads;
};

static void *read_on(void *argument)
{
	struct reader *reader = argument;
	char buffer[PIECE];

	while (reader->reads < reader->reads_max && now_ns() < reader->end_ns)
		for (int i = 0; i < BATCH && reader->reads < reader->reads_max; i++) {
			off_t at = reader->reads++ % PIECES * PIECE;

			require(pread(reader->fd, buffer, PIECE, at) == PIECE);
		}
	return NULL;
}

int main(int argc, char **argv)
{
	struct reader readers[16];
	pthread_t threads[16];
	uint64_t reads = 0, start;
	int count;
	FILE *out;

	require(argc == 6 || argc == 7);
	count = atoi(argv[3]);
	require(count > 0 && count <= 16);
	start = now_ns();
	for (int i = 0; i < count; i++) {
		readers[i] = (struct reader) { open(argv[1], O_RDONLY), -1ull, -1ull, 0 };
		require(readers[i].fd >= 0);
		if (!strcmp(argv[4], "seconds"))
			readers[i].end_ns = start + strtoull(argv[5], NULL, 10) * 1000000000;
		else
			readers[i].reads_max = strtoull(argv[5], NULL, 10);
	}
	for (int i = 0; i < count; i++)
		require(!pthread_create(&threads[i], NULL, read_on, &readers[i]));
	for (int i = 0; i < count; i++) {
		require(!pthread_join(threads[i], NULL));
		reads += readers[i].reads;
	}
	start = now_ns() - start;
	out = fopen(argv[2], "w");
	require(out != NULL);
	fprintf(out, "{\"reads\": %lu, \"wall_ns\": %lu}\n", reads, start);
	require(fclose(out) == 0);
	return argc == 7 ? atoi(argv[6]) : 0;
}
