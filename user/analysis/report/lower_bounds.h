/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What events that are missing leave of numbers. Knows columns by the ends of their names, so that
 * it holds for every table.
 */
#ifndef FAULTLINE_LOWER_BOUNDS_H
#define FAULTLINE_LOWER_BOUNDS_H

#include "analysis/model/job.h"
#include "analysis/table/table.h"

/*
 * Marks times that events add to, when some are missing. Counts and bytes that the kernel's totals
 * make whole are not touched, nor is what more events would make smaller; a share of what is itself
 * a lower bound is none.
 */
void lower_bounds_mark(struct table *table, const struct job *job);

#endif
