/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The course of a run as bars and sparklines on one axis of time.
 */
#ifndef FAULTLINE_BARS_H
#define FAULTLINE_BARS_H

#include "analysis/table/table.h"
#include "output/style.h"

/* The table "timeline" of a report. Errors are the sink's. */
void bars_write(struct sink *out, const struct table *course, const struct style *style);

#endif
