/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The timeline of a run as bars and sparklines on one time axis. */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

/* Writes an empty line and the bars, if there are any. `timeline` is a report's table "timeline".
 * Errors are kept in the sink. */
void bars_write(struct sink *out, const struct table *timeline, const struct style *style);
