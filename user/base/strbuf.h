/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A sentence or a list built piece by piece, in bounded memory; sinks hold text of any length. */
#pragma once

#include <stddef.h>

#define STRBUF_BYTES 2048

/* All zeroes is empty. `bytes` always ends with a NUL; text that does not fit is dropped. */
struct strbuf {
	char bytes[STRBUF_BYTES];
	size_t used;
};

void strbuf_add(struct strbuf *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same, with `between` after any text that precedes it. */
void strbuf_join(struct strbuf *text, const char *between, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
#define strbuf_clause(text, ...) strbuf_join(text, "; ", __VA_ARGS__)
