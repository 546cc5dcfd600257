// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * open, fstat, read, close over a directory of small cached files, as a loader of images does.
 * Must not know whether anybody traces it. Prints "ns-per-file files".
 *
 * usage: smallfiles DIRECTORY FILES SECONDS   (makes the files that are not there)
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/clock.h"

#define FILE_BYTES 4096

static char buffer[FILE_BYTES];

static int make(int directory, unsigned int files)
{
	for (unsigned int i = 0; i < files; i++) {
		char name[16];
		ssize_t wrote;
		int fd;

		snprintf(name, sizeof(name), "%u", i);
		fd = openat(directory, name, O_WRONLY | O_CREAT, 0600);
		if (fd < 0)
			return -1;
		wrote = write(fd, buffer, sizeof(buffer));
		close(fd);
		if (wrote != sizeof(buffer))
			return -1;
	}
	return 0;
}

static int load(int directory, unsigned int number)
{
	char name[16];
	struct stat about;
	ssize_t got = -1;
	int fd;

	snprintf(name, sizeof(name), "%u", number);
	fd = openat(directory, name, O_RDONLY);
	if (fd < 0)
		return -1;
	if (!fstat(fd, &about))
		got = read(fd, buffer, about.st_size);
	close(fd);
	return got == FILE_BYTES ? 0 : -1;
}

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
	if (directory < 0 || make(directory, files)) {
		perror(argv[1]);
		return 1;
	}
	start = clock_ns();
	do {
		for (unsigned int i = 0; i < files; i++, loaded++) {
			if (load(directory, i)) {
				perror(argv[1]);
				return 1;
			}
		}
		end = clock_ns();
	} while (end - start < limit_ns);
	printf("%.2f %llu\n", (double)(end - start) / loaded, (unsigned long long)loaded);
	return 0;
}
