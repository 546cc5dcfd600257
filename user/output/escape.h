/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Hostile text made harmless. Paths, names and command lines come from the traced program and may
 * hold any bytes; what reaches a terminal is UTF-8 that neither moves the cursor nor changes the
 * order of the text. Everything else shows as \xHH, byte by byte.
 */
#ifndef FAULTLINE_ESCAPE_H
#define FAULTLINE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "output/sink.h"

struct glyph {
	unsigned int bytes;   /* of the text that it stands for */
	unsigned int columns; /* that it takes on a terminal, escaped where it must be */
	bool escaped;	      /* control characters (C0, C1, DEL), line separators, characters that
			       * change direction, bytes that are not UTF-8 */
};

/* The first character of a text of one byte or more. */
struct glyph escape_glyph(const char *text, size_t length);

bool escape_is_utf8(const char *text, size_t length);
/* Columns that the text takes on a terminal after escape_text. */
size_t escape_columns(const char *text, size_t length);
/* Writes the text, escaped. */
void escape_text(struct sink *out, const char *text, size_t length);
/* The same in at most `columns` columns (1 or more): what does not fit is left out of the middle,
 * where "…" stands for it. The end, which tells one path from another, keeps the larger part. */
void escape_shortened(struct sink *out, const char *text, size_t length, size_t columns);
/* The same for a path: directories are left out of its middle, never of its last part, which stays
 * whole up to 120 columns. */
void escape_path(struct sink *out, const char *path, size_t length, size_t columns);
/* Writes valid UTF-8: bytes that are not become the text \xHH, all others stay as they are. */
void escape_to_utf8(struct sink *out, const char *text, size_t length);

#endif
