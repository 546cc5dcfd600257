/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces to an SQLite database: the tables of relations.h, typed and indexed, and views for
 * common questions. Numbers above INT64_MAX, which SQLite cannot store, become reals; NUL and bytes
 * that are not UTF-8 become \xHH.
 */
#pragma once

#include "output/tables/relations.h"

/* Views and the questions they answer, terminated by a NULL name. */
struct sqlite_view {
	const char *name, *question, *select;
};

extern const struct sqlite_view sqlite_views[];
