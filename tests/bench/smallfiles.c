// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * open, fstat, read, close over a directory of small cached files, as an image loader does, with or
 * without a tracer. Prints "ns-per-file files".
 *
 * usage: smallfiles DIRECTORY FILES SECONDS   (creates missing files)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/clock.h"
#include "tests/bench/small_files.h"

#define FILE_BYTES 4096

static uint8_t buffer[FILE_BYTES];

int main(int argc, char **argv)
{
	unsigned int files = argc == 4 ? atoi(argv[2]) : 0;
	double limit_ns = argc == 4 ? atof(argv[3]) * 1e9 : 0;
	uint64_t start, end, loaded = 0;
	int directory;

	if (!files) {
		fprintf(stderr, "usage: smallfiles DIRECTORY FILES SECONDS\n");
		return 2;
	}
	mkdir(argv[1], 0700);
	directory = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (directory < 0 || small_files_make(directory, files, buffer, FILE_BYTES)) {
		perror(argv[1]);
		return 1;
	}
	start = clock_ns();
	do {
		for (unsigned int i = 0; i < files; i++, loaded++) {
			if (small_files_load(directory, i, buffer, FILE_BYTES)) {
				perror(argv[1]);
				return 1;
			}
		}
		end = clock_ns();
	} while (end - start < limit_ns);
	printf("%.2f %llu\n", (double)(end - start) / loaded, (unsigned long long)loaded);
	return 0;
}
