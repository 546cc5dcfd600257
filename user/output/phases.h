/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables of spans laid out for reading: the overlap of I/O and compute as a row for each kind
 * of time, ranks as rows, and of the steps those that stand out.
 */
#ifndef FAULTLINE_PHASES_H
#define FAULTLINE_PHASES_H

#include "analysis/table.h"
#include "output/sink.h"
#include "output/text.h"

/* `overlap` is the table of the report, present; `trace` may be NULL. Return 0 or -ENOMEM. */
int phases_overlap(struct sink *out, const struct table *trace, const struct table *overlap,
		   const struct text_options *options);
int phases_steps(struct sink *out, const struct table *steps, const struct text_options *options);

/*
 * One line for the first screen: how much was compute and how much I/O it did not hide, or that
 * nobody knows; nothing for a job without spans. The tables may be NULL.
 */
void phases_line(struct sink *out, const struct table *trace, const struct table *spans,
		 const struct table *overlap, size_t width);

#endif
