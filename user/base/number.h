/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Arithmetic that saturates instead of wrapping: numbers in a hostile trace may have any value. */
#pragma once

#include <stdint.h>

/* Returns at most UINT64_MAX. */
static inline uint64_t number_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/* Returns at least 0. */
static inline uint64_t number_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Returns the part of an amount up to `at`, if it is spread evenly over an interval. Parts of
 * neighbours add up to the amount exactly. */
static inline uint64_t number_part(uint64_t amount, uint64_t from, uint64_t to, uint64_t at)
{
	if (at >= to)
		return amount;
	if (at <= from)
		return 0;
	return (unsigned __int128)amount * (at - from) / (to - from);
}

static inline uint64_t number_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t number_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}
