/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Makes untrusted text harmless. Paths, names and command lines come from the traced program and
 * may hold any bytes; what reaches a terminal is UTF-8 that neither moves the cursor nor reorders
 * text. Everything else is shown as \xHH, byte by byte.
 */
#pragma once

#include <stddef.h>

#include "output/base/sink.h"

/* Returns the columns that the text takes on a terminal after escape_text. */
size_t escape_columns(const char *text, size_t length);
/* Writes the text, escaped. */
void escape_text(struct sink *out, const char *text, size_t length);
/* The same in at most `columns` columns (≥ 1): replaces the middle with "…". The end, which
 * distinguishes paths, keeps the larger part; but a line of code, "FILE:LINE in FUNCTION", keeps
 * its number. */
void escape_shortened(struct sink *out, const char *text, size_t length, size_t columns);
/* The same, but replaces the end. */
void escape_cut(struct sink *out, const char *text, size_t length, size_t columns);
/* Shortens a path: omits directories from the middle, but nothing from the last component,
 * which stays whole up to 120 columns. */
void escape_path(struct sink *out, const char *path, size_t length, size_t columns);
/* Writes valid UTF-8: invalid bytes become the text \xHH, everything else is unchanged. */
void escape_to_utf8(struct sink *out, const char *text, size_t length);
