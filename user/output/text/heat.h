/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Requests by time and by duration or size, as maps of block characters. */
#pragma once

#include "analysis/table/table.h"
#include "output/base/style.h"

/* `heat` is a report's table "device_heat". Errors are kept in the sink. */
void heat_write(struct sink *out, const struct table *heat, const struct style *style);
