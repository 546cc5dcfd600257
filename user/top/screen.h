/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The lines of one screen: the node, the table, the keys. Knows nothing of terminals but their
 * size.
 */
#ifndef FAULTLINE_TOP_SCREEN_H
#define FAULTLINE_TOP_SCREEN_H

#include "output/sink.h"
#include "output/style.h"
#include "top/controls.h"

struct top_screen {
	const struct style *style;
	size_t lines;	     /* of the terminal; 0: as many as there is to say */
	const char *where;   /* whose samples they are */
	const char *clock;   /* the time of day */
	const char *trouble; /* NULL: none */
};

/* `node` and `table` are of top_frame; NULL: there are no two samples yet. Errors are the sink's.
 */
void top_screen_write(struct sink *out, const struct top_screen *screen,
		      const struct controls *controls, const struct top_sample *sample,
		      const struct table *node, const struct table *table);

#endif
