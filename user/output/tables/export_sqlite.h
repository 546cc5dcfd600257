/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces to an SQLite database: the tables of relations.h, typed and indexed, and views for
 * common questions. Numbers above INT64_MAX, which SQLite cannot store, become reals; NUL and bytes
 * that are not UTF-8 become \xHH.
 */
#ifndef FAULTLINE_EXPORT_SQLITE_H
#define FAULTLINE_EXPORT_SQLITE_H

#include "output/tables/relations.h"

/* Fills an empty file, which is unusable after an error. Returns 0, an error of relations_write, or
 * -EIO for SQLite errors; `error` describes it. */
int export_sqlite(const char *path, struct trace_reader *const *traces, const char *const *names,
		  size_t trace_count, const struct relation_options *options,
		  struct trace_error *error);

/* Writes the schema, with the meaning of columns and views. `nothing` is an empty trace. */
int export_sqlite_describe(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error);

/* Views and the questions they answer, terminated by a NULL name. */
struct sqlite_view {
	const char *name, *question, *select;
};

extern const struct sqlite_view sqlite_views[];

#endif
