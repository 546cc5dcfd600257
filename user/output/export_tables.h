/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as text, a file for each table: comma-separated values (RFC 4180), or a JSON object a
 * line.
 *
 * In both, times are whole ns since the start of the run, bytes whole bytes, and what is not known
 * is told from 0: nothing stands there in CSV, null in JSON. Bytes that are not UTF-8 are \xHH;
 * JSON has all bytes of such a text in a member NAME_hex beside it. Arguments and command lines are
 * JSON: a value in JSON, the text of one in CSV.
 */
#ifndef FAULTLINE_EXPORT_TABLES_H
#define FAULTLINE_EXPORT_TABLES_H

#include "output/relations.h"

/* How a table looks. */
struct table_format {
	const char *suffix; /* of a file's name */
	void (*head)(struct sink *out, const struct relation *relation);
	void (*row)(struct sink *out, const struct relation *relation, const struct cell *cells);
};

extern const struct table_format export_csv, export_jsonl;

/*
 * Writes tables into files of a directory, NAME.csv and so on; they must not be there yet, or are
 * replaced. They are the user's alone. After an error those that were made are gone. Returns 0,
 * what relations_write returns, or -errno, and then `error` says of which file.
 */
int export_tables_directory(const struct table_format *format, int directory, bool replace,
			    struct trace_reader *const *traces, const char *const *names,
			    size_t trace_count, const struct relation_options *options,
			    struct trace_error *error);
/* Writes the one table of options->only. Errors of the sink stay in the sink. */
int export_tables_one(const struct table_format *format, struct sink *out,
		      struct trace_reader *const *traces, const char *const *names,
		      size_t trace_count, const struct relation_options *options,
		      struct trace_error *error);

/* Tables and columns, with types and meaning, for people. `nothing` is a trace of nothing. */
int export_tables_describe(struct sink *out, struct trace_reader *nothing,
			   struct trace_error *error);

#endif
