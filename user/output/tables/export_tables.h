/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exports traces as text, one file per table: comma-separated values (RFC 4180) or JSON lines.
 *
 * In both, times are whole ns since the start of the run, and bytes whole bytes. Unknown values are
 * distinct from 0: empty in CSV, null in JSON. Bytes that are not UTF-8 become \xHH; JSON adds all
 * bytes of such a text as NAME_hex. Arguments and command lines are JSON: a value in JSON, its text
 * in CSV.
 */
#pragma once

#include "output/tables/relations.h"

/* A text format of tables. */
struct table_format {
	const char *suffix; /* file name suffix */
	void (*head)(struct sink *out, const struct relation *relation);
	void (*row)(struct sink *out, const struct relation *relation, const struct cell *cells);
};

/*
 * Writes each table to a file in a directory, NAME.csv and so on, readable only by the user.
 * Existing files are an error, or replaced if `replace`. Removes the files that it made after an
 * error. Returns 0, an error of relations_write, or -errno, for which `error` names the file.
 */
int export_tables_directory(const struct table_format *format, int directory, bool replace,
			    struct trace_reader *const *traces, const char *const *names,
			    size_t trace_count, const struct relation_options *options,
			    struct trace_error *error);
/* Writes the single table options->only. Sink errors stay in the sink. */
int export_tables_one(const struct table_format *format, struct sink *out,
		      struct trace_reader *const *traces, const char *const *names,
		      size_t trace_count, const struct relation_options *options,
		      struct trace_error *error);
