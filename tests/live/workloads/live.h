/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the workloads of the live tests. A workload writes its activity and the kernel's counts
 * (rusage, mincore, /proc/self/io) as one JSON object to a file, independently of Faultline, so
 * that the two can be compared.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../random.h"

#define WORKLOAD_BROKEN 99 /* exit status: the workload itself failed */

/* Ends the workload if an assumption of the test does not hold. */
#define require(condition)                                                                         \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			dprintf(2, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,     \
				strerror(errno));                                                  \
			_exit(WORKLOAD_BROKEN);                                                    \
		}                                                                                  \
	} while (0)

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}
