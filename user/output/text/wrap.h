/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Lines of words, within a number of columns of a terminal. Words are not cut: one that is wider
 * has a line of its own.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/sink.h"

/* Returns the next line of a text, and advances *text past it. */
struct cell wrap_line(const char **text, size_t width);
/* Returns the number of lines of a text. */
size_t wrap_count(const char *text, size_t width);
/* Returns the smallest width at which a text takes at most `lines` lines. */
size_t wrap_width(const char *text, size_t lines);

/* Writes a text in as many lines as the width requires, escaped. */
void wrap_text(struct sink *out, const char *text, size_t width);
/* The same for a text that begins at column `indent` of a line and continues there. */
void wrap_below(struct sink *out, const char *text, size_t width, size_t indent);
/* The same, with all lines but the first indented. */
void wrap_indented(struct sink *out, const char *text, size_t width, size_t indent);
