/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first screen of the text report, for a reader in a hurry: what ran, how long, how much of it
 * was I/O, through which door, to which files, what was lost and what was not recorded.
 */
#ifndef FAULTLINE_SUMMARY_H
#define FAULTLINE_SUMMARY_H

#include "analysis/table.h"
#include "output/sink.h"

#define SUMMARY_LINES 24

/* At most SUMMARY_LINES lines, however many rows the tables have. Returns 0 or -ENOMEM. */
int summary_write(struct sink *out, const struct table *const *tables, size_t count, size_t width);

#endif
