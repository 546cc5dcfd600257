/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Binary search by a condition. */
#pragma once

#include <stddef.h>

/* Returns the first i of from, ... end - 1 for which `before`, an expression in i, does not hold,
 * or end. `before` must hold for a first part of them and for none after it. Not to be nested. */
#define BISECT(i, from, end, before)                                                               \
	({                                                                                         \
		size_t low_ = (from), high_ = (end);                                               \
                                                                                                   \
		while (low_ < high_) {                                                             \
			const size_t i = low_ + (high_ - low_) / 2;                                \
                                                                                                   \
			if (before)                                                                \
				low_ = i + 1;                                                      \
			else                                                                       \
				high_ = i;                                                         \
		}                                                                                  \
		low_;                                                                              \
	})
