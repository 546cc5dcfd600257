/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Untrusted text, character by character. Paths, names and command lines come from the traced
 * program and may hold any bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the first character of a text of at least one byte; 0: not UTF-8. */
unsigned int utf8_length(const char *text, size_t length);
bool utf8_is_valid(const char *text, size_t length);
/* Returns the length of a text that is cut to at most `max` bytes, but not inside a character. */
size_t utf8_cut(const char *text, size_t length, size_t max);

#define UTF8_ESCAPED_COLUMNS 4 /* of a byte, as \xHH */

struct glyph {
	unsigned int bytes;   /* of the text */
	unsigned int columns; /* on a terminal, after escaping */
	bool escaped;	      /* control characters (C0, C1, DEL), line separators, characters that
			       * change direction, bytes that are not UTF-8 */
};

/* Returns the first character of a text of at least one byte. */
struct glyph utf8_glyph(const char *text, size_t length);
