/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Which lines of the program took longest: on a CPU, in I/O, and in other waits of the main thread.
 */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

/* Returns false if the reason why lines are unknown is, in every row, that there is no Python. */
bool slow_lines_of_python(const struct table *lines);

/* `lines` is a report's table "lines". Writes at most `max` lines, those with the longest time
 * first, and nothing if there are none. Errors are kept in the sink. */
void slow_lines_write(struct sink *out, const struct table *lines, size_t max,
		      const struct style *style);
