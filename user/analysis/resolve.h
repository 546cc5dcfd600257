/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One row of a trace with what its numbers stand for: the operation's name, the paths it is about.
 * Knows nothing of how it will be printed.
 */
#ifndef FAULTLINE_RESOLVE_H
#define FAULTLINE_RESOLVE_H

#include "analysis/file_table.h"
#include "trace/reader.h"

struct resolved_row {
	enum trace_kind kind;
	const uint64_t *values;	  /* in the order of trace_schemas[kind] */
	const char *name;	  /* of the operation; for rows without one, of their kind */
	struct trace_string path; /* absolute where known; of length 0 for none */
	struct trace_string path2;
};

struct row_resolver;

/* Reads the identities of all files. Returns 0, -ENOMEM or -EINVAL, `error` says more. */
int row_resolver_open(struct row_resolver **resolver, struct trace_reader *reader,
		      struct trace_error *error);
/* The same for a trace of a job whose files are known, which must outlive the resolver. Returns 0
 * or -ENOMEM. */
int row_resolver_open_shared(struct row_resolver **resolver, const struct file_table *files,
			     uint32_t trace);
void row_resolver_close(struct row_resolver *resolver);

/*
 * Names what a row speaks of. A path that the row names itself, made absolute, goes before that of
 * its file. The paths are valid until the next call, but no longer than any string of the reader
 * (TRACE_STRING_CALLS).
 */
void row_resolve(struct row_resolver *resolver, enum trace_kind kind, const uint64_t *values,
		 struct resolved_row *row);

#endif
