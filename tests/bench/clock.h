/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Clocks for benchmark programs. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* CPU time so far, from getrusage for RUSAGE_SELF or RUSAGE_CHILDREN. */
static inline double cpu_seconds(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}
