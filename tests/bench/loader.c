// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A training loop bound by decoding, with or without a tracer: two workers open, read and close
 * small cached files, decode each into private memory and hand it over in shared memory. Prints
 * "cpu seconds", then "ns-per-image images".
 *
 * usage: loader DIRECTORY FILES SECONDS   (creates missing files)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/clock.h"
#include "tests/bench/small_files.h"

#define WORKERS 2
#define FILE_BYTES 20480
#define IMAGE_BYTES 20480 /* decoded: in private memory, new for each */
#define BATCH_BYTES 8192  /* of each image, handed over */
#define DECODE_ROUNDS 12

struct result {
	uint64_t images, ns;
};

static uint8_t file_bytes[FILE_BYTES];

/* As much work as decoding a small image, a third of a millisecond. */
static int decode(void)
{
	uint8_t *image, *batch;
	uint32_t state = 1;

	image = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	batch = mmap(NULL, BATCH_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (image == MAP_FAILED || batch == MAP_FAILED)
		return -1;
	for (int round = 0; round < DECODE_ROUNDS; round++)
		for (int i = 0; i < IMAGE_BYTES; i++) {
			state = state * 1664525 + file_bytes[i] + 1013904223;
			image[i] ^= state >> 24;
		}
	memcpy(batch, image, BATCH_BYTES);
	munmap(image, IMAGE_BYTES);
	munmap(batch, BATCH_BYTES);
	return 0;
}

static int work(int directory, unsigned int files, uint64_t limit_ns, struct result *result)
{
	uint64_t start = clock_ns(), end;

	do {
		for (unsigned int i = 0; i < 50; i++, result->images++)
			if (small_files_load(directory, result->images % files, file_bytes,
					     FILE_BYTES) ||
			    decode())
				return -1;
		end = clock_ns();
	} while (end - start < limit_ns);
	result->ns = end - start;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int files = argc == 4 ? atoi(argv[2]) : 0;
	uint64_t limit_ns = argc == 4 ? atof(argv[3]) * 1e9 : 0;
	struct result *results, sum = { 0 };
	int directory, status, failed = 0;

	if (!files) {
		fprintf(stderr, "usage: loader DIRECTORY FILES SECONDS\n");
		return 2;
	}
	mkdir(argv[1], 0700);
	directory = open(argv[1], O_RDONLY | O_DIRECTORY);
	results = mmap(NULL, WORKERS * sizeof(*results), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (directory < 0 || results == MAP_FAILED ||
	    small_files_make(directory, files, file_bytes, FILE_BYTES)) {
		perror(argv[1]);
		return 1;
	}
	for (int i = 0; i < WORKERS; i++)
		if (!fork())
			_exit(work(directory, files, limit_ns, &results[i]) ? 1 : 0);
	while (wait(&status) > 0)
		failed |= status;
	if (failed) {
		fprintf(stderr, "loader: a worker failed\n");
		return 1;
	}
	for (int i = 0; i < WORKERS; i++) {
		sum.images += results[i].images;
		sum.ns += results[i].ns;
	}
	printf("cpu %.3f\n", cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN));
	printf("%.2f %llu\n", (double)sum.ns / sum.images, (unsigned long long)sum.images);
	return 0;
}
