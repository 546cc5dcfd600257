/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as a database of SQLite: the tables of relations.h, typed, with indexes, and views that
 * answer what is asked most. Numbers above INT64_MAX, which SQLite has not, become reals; bytes
 * that are not UTF-8, and NUL, are \xHH.
 */
#ifndef FAULTLINE_EXPORT_SQLITE_H
#define FAULTLINE_EXPORT_SQLITE_H

#include "output/relations.h"

/* Fills an empty file. After an error it is of no use. Returns 0, what relations_write returns, or
 * -EIO for errors of SQLite; `error` says which. */
int export_sqlite(const char *path, struct trace_reader *const *traces, const char *const *names,
		  size_t trace_count, const struct relation_options *options,
		  struct trace_error *error);

/* The schema, as SQLite is told of it, with what columns and views mean. `nothing` is a trace of
 * nothing. */
int export_sqlite_describe(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error);

/* Questions and the views that answer them; the last one has no name. */
struct sqlite_view {
	const char *name, *question, *select;
};

extern const struct sqlite_view sqlite_views[];

#endif
