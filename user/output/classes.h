/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "totals", one long row, laid out for reading: a row for each class of I/O.
 */
#ifndef FAULTLINE_CLASSES_H
#define FAULTLINE_CLASSES_H

#include "analysis/table.h"

/*
 * `totals` and `trace` are tables of the report, or NULL. With `brief` only what the first screen
 * has room for: no classes that did not occur, and fewer columns. Returns 0 or -ENOMEM; *out is to
 * be freed in any case.
 */
int classes_make(struct table **out, const struct table *trace, const struct table *totals,
		 bool brief);

#endif
