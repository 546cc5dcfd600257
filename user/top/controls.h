/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What keys control: what is shown, how it is sorted, what is filtered out. */
#pragma once

#include <stdbool.h>

#include "top/frame.h"

#define CONTROLS_FILTER_BYTES 64

struct controls {
	enum top_subject subject;
	size_t sort; /* see top_sort_column */
	bool paused, help, quit;
	bool idle;			    /* show idle rows, too */
	bool typing;			    /* a filter */
	char filter[CONTROLS_FILTER_BYTES]; /* NUL included */
	char typed[CONTROLS_FILTER_BYTES];  /* so far */
};

/* Initializes from the options; `sort` NULL is the first column. Returns false if there is no
 * column of that name. */
bool controls_init(struct controls *controls, enum top_subject subject, const char *sort,
		   const char *filter);
/* Handles a key, see terminal.h. Returns whether it changed anything visible. */
bool controls_key(struct controls *controls, int key);
struct top_view controls_view(const struct controls *controls);

/* Returns the keys as lines of help; NULL after the last. */
const char *controls_help(size_t number);
