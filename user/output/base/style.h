/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How text is displayed: its width, and colour if any. */
#pragma once

#include <stdbool.h>

#include "output/base/sink.h"

#define STYLE_WIDTH_DEFAULT 100 /* without a terminal */

enum style_mark { STYLE_PLAIN, STYLE_TITLE, STYLE_QUIET, STYLE_WARNING, STYLE_BAD, STYLE_GOOD };

struct style {
	size_t width; /* columns of the terminal */
	bool colour;
};

/* Returns the columns of the terminal behind a descriptor; for a pipe, $COLUMNS, or the columns of
 * the controlling terminal, where a pager may show the text; else STYLE_WIDTH_DEFAULT. */
size_t style_width(int fd);
/* Whether the descriptor is a terminal that supports escape sequences: $TERM is set and not
 * dumb. */
bool style_escapes(int fd);
/* `when` is auto, always or never; auto means a capable terminal, unless NO_COLOR is set. */
bool style_colour(const char *when, int fd);

/* Sets the style of what is written next; does nothing without colour. */
void style_mark(struct sink *out, const struct style *style, enum style_mark mark);
