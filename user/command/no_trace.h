/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A trace of nothing, for what a report can say of itself.
 */
#ifndef FAULTLINE_NO_TRACE_H
#define FAULTLINE_NO_TRACE_H

#include "trace/reader.h"

struct report;
struct rollup_key;

/* All layers are on, and next to nothing happened. Returns 0 or a negative errno; *reader is the
 * caller's.
 */
int no_trace_open(struct trace_reader **reader);

/* Its report, with all tables and columns that there are. `key` may be NULL. Returns 0 or a
 * negative errno; report and reader are the caller's in any case. */
int no_trace_report(struct report **report, struct trace_reader **reader,
		    const struct rollup_key *key);

#endif
