/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* An empty trace, for what a report can say about itself. */
#pragma once

#include "trace/read/reader.h"

struct report;
struct rollup_key;

/* All layers are on, and almost nothing happened. Returns 0 or a negative errno; the caller owns
 * *reader. */
int no_trace_open(struct trace_reader **reader);

/* Makes its report, with all tables and columns. `key` may be NULL. Returns 0 or a negative errno;
 * the caller owns report and reader in any case. */
int no_trace_report(struct report **report, struct trace_reader **reader,
		    const struct rollup_key *key);
