/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Draws rows of a trace as timeline events. Private to the Trace Event Format export. */
#ifndef FAULTLINE_CHROME_ROWS_H
#define FAULTLINE_CHROME_ROWS_H

#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "output/timeline/chrome_counters.h"
#include "output/timeline/chrome_requests.h"
#include "output/timeline/chrome_spans.h"

struct chrome_rows {
	struct job *job;
	struct row_resolver *resolver;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	uint64_t pid; /* only this process, or FILTER_NONE */
	struct chrome_threads *threads;
	struct chrome_spans *spans;
	struct chrome_counters *counters;
	struct chrome_requests *requests;
};

/* Callbacks for a walk over whole rows; the state is a struct chrome_rows. */
extern const struct walk_calls chrome_rows_calls;

/* The row kinds that are drawn, as bits. */
uint64_t chrome_row_kinds(void);

#endif
