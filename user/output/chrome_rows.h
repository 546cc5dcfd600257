/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rows of a trace as events of a timeline. Knows nothing of where rows come from. Private to the
 * export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_ROWS_H
#define FAULTLINE_CHROME_ROWS_H

#include "analysis/resolve.h"
#include "output/chrome_counters.h"
#include "output/chrome_spans.h"

struct chrome_rows {
	struct job *job;
	uint32_t trace; /* whose rows are written */
	struct row_resolver *resolver;
	const struct chrome_window *window;
	uint64_t min_duration_ns;
	struct chrome_threads *threads;
	struct chrome_spans *spans;
	struct chrome_counters *counters;
};

/* The kinds of rows that chrome_row takes, as bits. */
uint64_t chrome_row_kinds(void);
/* The process and the thread that a row of such a kind is of. */
uint64_t chrome_row_pid(enum trace_kind kind, const uint64_t *values);
uint64_t chrome_row_tid(enum trace_kind kind, const uint64_t *values);
/* Whether a row matters to what is written. */
bool chrome_row_matters(const struct chrome_rows *rows, enum trace_kind kind,
			const uint64_t *values);
/* Writes a row. Rows come in the order of their times. Returns 0 or -ENOMEM. */
int chrome_row(struct chrome_rows *rows, enum trace_kind kind, const uint64_t *values);

#endif
