/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a trace as events of a timeline. Knows nothing of where rows come from. Private to the
 * export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_ROWS_H
#define FAULTLINE_CHROME_ROWS_H

#include "analysis/model/resolve.h"
#include "analysis/model/walk.h"
#include "output/chrome_counters.h"
#include "output/chrome_requests.h"
#include "output/chrome_spans.h"

struct chrome_rows {
	struct job *job;
	struct row_resolver *resolver;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	uint64_t pid; /* only of this process, or FILTER_NONE */
	struct chrome_threads *threads;
	struct chrome_spans *spans;
	struct chrome_counters *counters;
	struct chrome_requests *requests;
};

/* What it is told in passing, of whole rows; its state is a struct chrome_rows. */
extern const struct walk_calls chrome_rows_calls;

/* The kinds of rows that it takes, as bits. */
uint64_t chrome_row_kinds(void);

#endif
