/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares the times at lines of two runs. */
#pragma once

#include "analysis/report/report.h"

/*
 * Makes the table "compared_lines": lines whose time differs by more than two standard errors,
 * which the number of samples gives, the largest change first. Absent unless both were recorded
 * with samples. Returns 0 or -ENOMEM; the caller frees the table in any case.
 */
int compare_lines_make(struct table **table, const struct report *before, const struct report *now);
