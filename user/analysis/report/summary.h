/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Summaries: a report's tables as a trace file, with the histograms behind percentiles, so that
 * reports of many runs can be merged.
 *
 * The file is an ordinary one of mode "summary", whose rows are of the kinds summary_* (columns.h).
 * Its size does not depend on how much was recorded: a table has a limited number of rows, and one
 * more for the rest; no text is longer than SUMMARY_TEXT_MAX, no list of texts than
 * SUMMARY_TEXTS_MAX.
 */
#pragma once

#include "analysis/report/report.h"

#define SUMMARY_MODE "summary"
#define SUMMARY_ROWS_MAX 512 /* of a table, by default */
#define SUMMARY_TEXT_MAX 4096
#define SUMMARY_TEXTS_MAX 4096

bool summary_is_file(const struct trace_reader *reader);

/*
 * Writes a report, whose traces are open, into an empty regular file, which the caller keeps.
 * Tables longer than `rows` are folded, also in `report` itself. Returns 0 or -errno.
 */
int summary_write(int fd, struct report *report, size_t rows);

/* Reads the tables of a summary; the caller frees each of them, and *tables. Returns 0, -ENOMEM, or
 * -EINVAL if it is damaged, incomplete or no summary; `error` says why. */
int summary_read(struct trace_reader *reader, struct table ***tables, size_t *count,
		 struct trace_error *error);
