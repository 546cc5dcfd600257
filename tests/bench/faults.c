// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Page faults on a file mapping, with or without a tracer. Prints "ns-per-fault faults", by its own
 * clock and the kernel's fault counts.
 *
 * usage: faults FILE minor|major|random SECONDS   (FILE exists, a few hundred MiB)
 *   minor   the pages are in the page cache: a fault only maps them
 *   major   cold, one touch per 256 KiB in random order, with the kernel's default readahead
 *   random  cold, every page in random order under MADV_RANDOM: one small read per fault
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/bench/clock.h"

#define TOUCHES_PER_LOOK 16

static const struct mode {
	const char *name;
	size_t stride; /* distance in bytes between touches */
	int advice;
	int cold;
} modes[] = {
	/* Fault-around maps up to 64 KiB at once: closer touches would not fault. */
	{ "minor", 64 << 10, MADV_NORMAL, 0 },
	{ "major", 256 << 10, MADV_NORMAL, 1 },
	{ "random", 4 << 10, MADV_RANDOM, 1 },
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(modes[i].name, name))
			return &modes[i];
	}
	return NULL;
}

/* A full-period walk over 0 .. count-1 without a table; count is a power of two. */
static size_t next_place(size_t place, size_t count)
{
	return (place * 1664525 + 1013904223) & (count - 1);
}

static uint64_t faults_so_far(const struct mode *mode)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return mode->cold ? usage.ru_majflt : usage.ru_minflt;
}

/* One walk over the file; adds the touches' time and faults to *ns and *faults. */
static int walk(int fd, size_t bytes, const struct mode *mode, double limit_ns, uint64_t *ns,
		uint64_t *faults)
{
	size_t count = 1, place = 1;
	volatile unsigned char *map;
	uint64_t start, end, before;
	size_t done = 0;

	while (count * 2 * mode->stride <= bytes)
		count *= 2;
	if (mode->cold && (fdatasync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED)))
		return -1;
	map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	madvise((void *)map, bytes, mode->advice);
	before = faults_so_far(mode);
	start = end = clock_ns();
	while (done < count && *ns + (end - start) < limit_ns) {
		for (int i = 0; i < TOUCHES_PER_LOOK; i++, done++) {
			(void)map[place * mode->stride];
			place = next_place(place, count);
		}
		end = clock_ns();
	}
	*ns += end - start;
	*faults += faults_so_far(mode) - before;
	munmap((void *)map, bytes);
	return 0;
}

/* Reads the whole file into the page cache. */
static int warm(int fd, size_t bytes)
{
	static char buffer[1 << 20];

	for (size_t offset = 0; offset < bytes; offset += sizeof(buffer)) {
		if (pread(fd, buffer, sizeof(buffer), offset) <= 0)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const struct mode *mode = argc == 4 ? find_mode(argv[2]) : NULL;
	uint64_t ns = 0, faults = 0;
	struct stat about;
	double limit_ns;
	int fd;

	if (!mode) {
		fprintf(stderr, "usage: faults FILE minor|major|random SECONDS\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &about) || (!mode->cold && warm(fd, about.st_size))) {
		perror(argv[1]);
		return 1;
	}
	limit_ns = atof(argv[3]) * 1e9;
	while (ns < limit_ns) {
		uint64_t before = faults;

		if (walk(fd, about.st_size, mode, limit_ns, &ns, &faults)) {
			perror(argv[1]);
			return 1;
		}
		if (faults == before) {
			fprintf(stderr, "faults: no %s fault: is %s cached or empty?\n",
				mode->cold ? "major" : "minor", argv[1]);
			return 1;
		}
	}
	printf("%.2f %llu\n", (double)ns / faults, (unsigned long long)faults);
	return 0;
}
