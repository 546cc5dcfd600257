/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What of times is left where operations were summed up: their time summed over threads, and not
 * the time with at least one of them under way. Knows columns by their names, as lower_bounds.h.
 */
#ifndef FAULTLINE_SUMMED_H
#define FAULTLINE_SUMMED_H

#include "analysis/model/job.h"
#include "analysis/table/table.h"

/*
 * Columns that would hold unions of times hold sums over threads where a job has such: they are
 * marked as not known, which is null in JSON; people are shown the sum, under a title that says so.
 * A view that would show both shows it once. Returns 0 or -ENOMEM.
 */
int summed_mark(struct table *table, const struct job *job);

#endif
