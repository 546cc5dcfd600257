/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sentence that is put together piece by piece, in bounded memory. Knows nothing of what it says.
 */
#ifndef FAULTLINE_WORDS_H
#define FAULTLINE_WORDS_H

#include <stddef.h>

#define WORDS_BYTES 512

/* All zeroes is an empty one. `bytes` always ends with a NUL; what does not fit is left out. */
struct words {
	char bytes[WORDS_BYTES];
	size_t used;
};

void words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, set off by "; " from what stands before it. */
void words_clause(struct words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
