/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What keys change: what is seen, how it is sorted, what is left out. Knows nothing of what is
 * shown, nor of terminals.
 */
#ifndef FAULTLINE_TOP_CONTROLS_H
#define FAULTLINE_TOP_CONTROLS_H

#include <stdbool.h>

#include "top/frame.h"

#define CONTROLS_FILTER_BYTES 64

struct controls {
	enum top_subject subject;
	size_t sort; /* see top_sort_column */
	bool paused, help, quit;
	bool typing;			    /* a filter */
	char filter[CONTROLS_FILTER_BYTES]; /* its NUL included */
	char typed[CONTROLS_FILTER_BYTES];  /* so far */
};

/* As the options say; `sort` NULL is the first column. False: there is no column of that name. */
bool controls_init(struct controls *controls, enum top_subject subject, const char *sort,
		   const char *filter);
/* A key, see terminal.h. Returns whether it changed anything that is seen. */
bool controls_key(struct controls *controls, int key);
struct top_view controls_view(const struct controls *controls);

/* The keys as lines for people: of each what it does. NULL behind the last. */
const char *controls_help(size_t number);

#endif
