/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Summaries: a report's tables as a trace file, with what percentiles are of, so that reports of
 * many runs become one. Knows nothing of how tables are merged.
 *
 * The file is an ordinary one of mode "summary", whose rows are of the kinds summary_* (columns.h).
 * Its size does not depend on how much was recorded: no table has more than so many rows, and one
 * more that stands for the rest; no text is longer than SUMMARY_TEXT_MOST, no list of texts than
 * SUMMARY_TEXTS_MOST.
 */
#ifndef FAULTLINE_SUMMARY_H
#define FAULTLINE_SUMMARY_H

#include "analysis/report/report.h"

#define SUMMARY_MODE "summary"
#define SUMMARY_ROWS_MOST 512 /* of a table, by default */
#define SUMMARY_TEXT_MOST 4096
#define SUMMARY_TEXTS_MOST 4096

bool summary_is(const struct trace_reader *reader);

/*
 * Writes a report, whose traces are open, into an empty regular file, which stays the caller's.
 * Tables of more than `rows` rows are folded, in the report, too. Returns 0 or -errno.
 */
int summary_write(int fd, struct report *report, size_t rows);

/* The tables of a summary, to be freed one by one as *tables itself. Returns 0, -ENOMEM, or -EINVAL
 * for what is damaged, incomplete or no summary, and `error` says why. */
int summary_read(struct trace_reader *reader, struct table ***tables, size_t *count,
		 struct trace_error *error);

#endif
