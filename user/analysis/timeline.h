/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The rows of a trace in the order of their start times, across kinds and blocks, in bounded
 * memory. Knows nothing of what is done with them.
 */
#ifndef FAULTLINE_TIMELINE_H
#define FAULTLINE_TIMELINE_H

#include <stdbool.h>

#include "trace/reader.h"

#define TIMELINE_ROWS (1u << 20) /* rows in memory by default, at most 168 bytes each */

struct timeline {
	uint64_t kinds; /* mask of 1 << enum trace_kind */
	size_t rows;	/* in memory at most, 2 or more; 0 for TIMELINE_ROWS */
	/* Whether a row is wanted, asked before it is sorted in; NULL for all. May be asked more
	 * than once of one row. `values` are in the order of trace_schemas[kind]. */
	bool (*want)(void *context, enum trace_kind kind, const uint64_t *values);
	/* Called for each wanted row in order. A value other than 0 ends the walk. */
	int (*visit)(void *context, enum trace_kind kind, const uint64_t *values);
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	void *context;
};

/* Returns 0, what `visit` returned, -ENOMEM, or -EINVAL for a damaged block: `error` says more. */
int timeline_walk(struct trace_reader *reader, const struct timeline *timeline,
		  struct trace_error *error);

#endif
