/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A small generator of numbers, the same ones on every machine and in every run: xorshift64,
 * Marsaglia 2003.
 */
#pragma once

#include <stdint.h>

/* `*state` is not 0. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}
