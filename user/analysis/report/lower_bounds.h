/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marks numbers that are lower bounds because events were lost. Recognizes columns by the ends of
 * their names, so that it works for every table.
 */
#ifndef FAULTLINE_LOWER_BOUNDS_H
#define FAULTLINE_LOWER_BOUNDS_H

#include "analysis/job/job.h"
#include "analysis/table/table.h"

/*
 * Marks times that events add to, if some are missing. Leaves alone counts and bytes that are exact
 * by the kernel's totals, and numbers that more events would reduce; a share of a lower bound is
 * not a lower bound.
 */
void lower_bounds_mark(struct table *table, const struct job *job);

#endif
