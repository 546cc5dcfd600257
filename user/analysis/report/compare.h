/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares two runs: what changed, and by how much. */
#pragma once

#include "analysis/report/report.h"

#define COMPARE_TABLES 4

/*
 * Makes the tables "compared" (the run, compute, methods), "compared_findings" (new and gone),
 * "compared_paths" and "compared_lines", the largest changes first. Their texts are in the reports,
 * which must outlive them. Returns 0 or -ENOMEM; the caller frees all tables in any case.
 */
int compare_make(struct table *tables[COMPARE_TABLES], const struct report *before,
		 const struct report *now);

/* Returns how many rows at the start of "compared_paths" or "compared_lines" changed by at least a
 * thousandth of the longer run. `whole` is the table "compared". */
size_t compare_rows_worth(const struct table *whole, const struct table *sorted);
