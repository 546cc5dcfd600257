/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where threads spent their time: a line per kind of thread, with the share of each state. */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

/* `kinds` is a report's table "thread_kinds". Writes at most `max` kinds, those with the most time
 * first, and nothing if the table is empty. Errors are kept in the sink. */
void thread_lines_write(struct sink *out, const struct table *kinds, size_t max,
			const struct style *style);
