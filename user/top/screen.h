/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The lines of one screen: the node, the table, the keys. */
#pragma once

#include "output/base/sink.h"
#include "output/base/style.h"
#include "top/controls.h"

struct top_screen {
	const struct style *style;
	size_t lines;	   /* of the terminal; 0: no limit */
	const char *where; /* source of the samples */
	const char *clock; /* time of day */
	const char *error; /* NULL: none */
	uint64_t idle;	   /* rows that are left out */
};

/* `node` and `table` are from top_frame; NULL until there are two samples. Errors stay in the
 * sink. */
void top_screen_write(struct sink *out, const struct top_screen *screen,
		      const struct controls *controls, const struct top_sample *sample,
		      const struct table *node, const struct table *table);
