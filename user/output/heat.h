/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests by time and by how long they took, or how large they were, as maps of block characters.
 */
#ifndef FAULTLINE_OUTPUT_HEAT_H
#define FAULTLINE_OUTPUT_HEAT_H

#include "analysis/table/table.h"
#include "output/style.h"

/* The table "device_heat" of a report. Errors are the sink's. */
void heat_write(struct sink *out, const struct table *heat, const struct style *style);

#endif
