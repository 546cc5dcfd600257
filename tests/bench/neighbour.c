// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * A process unrelated to I/O, on a monitored or unmonitored node: computes, or calls getppid.
 * Prints "ns-per-op ops".
 *
 * usage: neighbour computes|asks SECONDS
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/clock.h"

#define OPS_PER_LOOK 256
#define STEPS 100 /* per computing operation */

int main(int argc, char **argv)
{
	bool computes = argc == 3 && !strcmp(argv[1], "computes");
	double seconds = argc == 3 ? atof(argv[2]) : 0;
	uint64_t start = clock_ns(), end, ops = 0, random = 1;

	if (!computes && (argc != 3 || strcmp(argv[1], "asks") != 0)) {
		fprintf(stderr, "usage: neighbour computes|asks SECONDS\n");
		return 2;
	}
	do {
		for (int i = 0; i < OPS_PER_LOOK; i++, ops++) {
			if (!computes)
				syscall(SYS_getppid);
			for (int step = 0; computes && step < STEPS; step++)
				random = (random ^ random >> 29) * 0xbf58476d1ce4e5b9ull + step;
		}
		end = clock_ns();
	} while (end - start < seconds * 1e9);
	/* Uses the result, so that it is not optimized away. */
	printf("%.3f %llu\n", (double)(end - start) / ops, (unsigned long long)ops + !random);
	return 0;
}
