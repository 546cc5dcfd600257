// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Two threads on one CPU that wake each other through pipes: each hand-over is a context switch.
 * Prints "ns-per-switch switches": CPU time of the best of many short stretches, which suffers less
 * from other load, and the switches that the kernel counted.
 *
 * usage: switches SECONDS
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/bench/clock.h"

#define ROUNDS 500 /* in a stretch */

static int there[2], back[2];

static bool pass(int from, int to)
{
	char byte;

	return read(from, &byte, 1) == 1 && write(to, &byte, 1) == 1;
}

static void *echo(void *nothing)
{
	while (pass(there[0], back[1]))
		;
	return nothing;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static uint64_t switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

int main(int argc, char **argv)
{
	double seconds = argc == 2 ? atof(argv[1]) : 0;
	uint64_t start, count = 0;
	double best = 1e9;
	pthread_t thread;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (argc != 2 || sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back) ||
	    pthread_create(&thread, NULL, echo, NULL)) {
		fprintf(stderr, "usage: switches SECONDS\n");
		return 2;
	}
	start = clock_ns();
	do {
		uint64_t cpu = cpu_ns(), before = switches();
		double each;

		for (int i = 0; i < ROUNDS; i++)
			if (write(there[1], "", 1) != 1 || read(back[0], &(char) { 0 }, 1) != 1)
				return 1;
		each = (double)(cpu_ns() - cpu) / (switches() - before);
		best = each < best ? each : best;
		count += switches() - before;
	} while (clock_ns() - start < seconds * 1e9);
	printf("%.3f %llu\n", best, (unsigned long long)count);
	return 0;
}
