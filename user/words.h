/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sentence built piece by piece, in bounded memory.
 */
#ifndef FAULTLINE_WORDS_H
#define FAULTLINE_WORDS_H

#include <stddef.h>

#define WORDS_BYTES 512

/* All zeroes is empty. `bytes` always ends with a NUL; text that does not fit is dropped. */
struct words {
	char bytes[WORDS_BYTES];
	size_t used;
};

void words_add(struct words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, separated by "; " from what precedes it. */
void words_clause(struct words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
