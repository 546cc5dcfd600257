/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marks times of summed operations: they are sums over threads, not the time with at least one
 * operation in flight.
 */
#pragma once

#include "analysis/job/job.h"
#include "analysis/table/table.h"

/*
 * KIND_UNION holds sums over threads if a job has summed operations. Marks these as unknown,
 * which is null in JSON; text shows the sum, under a title that says so. A view of both shows it
 * once.
 */
void summed_mark(struct table *table, const struct job *job);
