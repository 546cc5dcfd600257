/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first lines of the text report: what ran, where, how long, how much of that was I/O; what was
 * lost, what was not recorded, and why the trace is incomplete if it is.
 */
#ifndef FAULTLINE_HEADLINE_H
#define FAULTLINE_HEADLINE_H

#include "analysis/table.h"
#include "output/sink.h"

/* At most ten lines, none wider than `width`. The tables are those of the report; NULL is fine. */
void headline_write(struct sink *out, const struct table *trace, const struct table *totals,
		    size_t width);

#endif
