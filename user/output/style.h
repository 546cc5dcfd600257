/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How text looks where it is printed: its width, and colour if there is any.
 */
#ifndef FAULTLINE_STYLE_H
#define FAULTLINE_STYLE_H

#include <stdbool.h>

#include "output/sink.h"

#define STYLE_WIDTH_DEFAULT 100 /* where there is no terminal */

enum style_mark { STYLE_PLAIN, STYLE_TITLE, STYLE_QUIET, STYLE_WARNING, STYLE_BAD, STYLE_GOOD };

struct style {
	size_t width; /* columns of the terminal */
	bool colour;
};

/* Columns of the terminal behind a descriptor; of a pipe those of $COLUMNS, or of the terminal that
 * the program runs on, where a pager shows it; else STYLE_WIDTH_DEFAULT. */
size_t style_width(int fd);
/* Whether it is a terminal that knows escape sequences: $TERM is set, and not dumb. */
bool style_escapes(int fd);
/* `when` is auto, always or never; auto is on a terminal that can, unless NO_COLOR is set. */
bool style_colour(const char *when, int fd);

/* What is written from here on looks so; nothing without colour. */
void style_mark(struct sink *out, const struct style *style, enum style_mark mark);

#endif
