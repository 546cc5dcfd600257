/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Describes the JSON report by a JSON Schema (draft 2020-12), made from the tables' own columns. */
#pragma once

#include "analysis/table/table.h"
#include "output/base/sink.h"

/* Writes the schema of a report of these tables, which need no rows. Returns 0 or a negative errno.
 */
int json_schema(struct sink *out, const struct table *const *tables, size_t count);
