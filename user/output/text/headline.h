/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first lines of the text report: what ran, where and when, how it ended, and what a reader
 * must know before trusting the rest.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

/* Writes "LABEL  FILE, WHEN: COMMAND" for one of several runs, from its table "trace". */
void headline_write_run(struct sink *out, const char *label, const struct table *trace,
			const struct style *style);

/* Takes the tables "trace", "caveats" and "access" of a report. Errors are kept in the sink. */
void headline_write(struct sink *out, const struct table *trace, const struct table *caveats,
		    const struct table *access, const struct style *style);
