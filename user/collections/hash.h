/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The step of the hash functions: a multiplication whose high half is folded into its low half,
 * after wyhash (public domain). */
#pragma once

#include <stdint.h>

static inline uint64_t hash_mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}
