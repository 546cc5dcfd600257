/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A sentence built piece by piece, in bounded memory.
 */
#ifndef FAULTLINE_STRBUF_H
#define FAULTLINE_STRBUF_H

#include <stddef.h>

#define STRBUF_BYTES 512

/* All zeroes is empty. `bytes` always ends with a NUL; text that does not fit is dropped. */
struct strbuf {
	char bytes[STRBUF_BYTES];
	size_t used;
};

void strbuf_add(struct strbuf *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The same, separated by "; " from what precedes it. */
void strbuf_clause(struct strbuf *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
