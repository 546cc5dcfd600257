/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Marks numbers that are lower bounds because events were lost. */
#pragma once

#include "analysis/job/job.h"
#include "analysis/table/table.h"

/*
 * Marks times that events add to, if some are missing. Leaves alone counts and bytes that are exact
 * by the kernel's totals, and numbers that more events would reduce; a share of a lower bound is
 * not a lower bound. `counted`: the table's KIND_THREAD are also totals of the kernel, exact if the
 * traces are complete.
 */
void lower_bounds_mark(struct table *table, const struct job *job, bool counted);
