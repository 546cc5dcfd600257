/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads clocks, and gives a job one clock. Each trace uses the monotonic clock of its boot; a job
 * uses nanoseconds since 1970. All traces of one boot are shifted by the same amount, the
 * difference of the two clocks that the first one recorded, which preserves their order. How well
 * different hosts line up depends on their wall clocks (NTP, PTP).
 */
#pragma once

#include <stdint.h>
#include <time.h>

#include "base/number.h"

/* Returns the time of a clock of this system. */
static inline uint64_t clock_now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

struct clock_shift {
	uint64_t forward, back; /* one of them is 0 */
};

/* Converts times of a clock to those of another one: `from_ns` and `to_ns` are one moment. */
static inline struct clock_shift clock_shift_of(uint64_t from_ns, uint64_t to_ns)
{
	return (struct clock_shift) { .forward = number_sub(to_ns, from_ns),
				      .back = number_sub(from_ns, to_ns) };
}

static inline uint64_t clock_shifted(struct clock_shift shift, uint64_t time_ns)
{
	return number_sub(number_add(time_ns, shift.forward), shift.back);
}
