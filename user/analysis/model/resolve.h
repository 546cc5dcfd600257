/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One row of a trace with what its numbers stand for: the operation's name, the paths it is about.
 * Knows nothing of how it will be printed.
 */
#ifndef FAULTLINE_RESOLVE_H
#define FAULTLINE_RESOLVE_H

#include "analysis/model/event.h"

struct resolved_row {
	enum trace_kind kind;
	const struct trace_reader *reader; /* whose strings the values name */
	const uint64_t *values;		   /* in the order of trace_schemas[kind] */
	const char *name;	  /* of the operation; for rows without one, of their kind */
	struct trace_string path; /* absolute where known; of length 0 for none */
	struct trace_string path2;
	struct trace_string program; /* of its process, if that is asked for; or of length 0 */
};

struct row_resolver;

/* The job must outlive the resolver. Returns 0 or -ENOMEM. */
int row_resolver_open(struct row_resolver **resolver, const struct job *job);
void row_resolver_close(struct row_resolver *resolver); /* NULL is fine */

/*
 * Names what the row of an event speaks of; the cursor must give whole rows. A path that the row
 * names itself, made absolute, goes before that of its file. Values and paths are valid until the
 * next call, paths no longer than any string of the reader (TRACE_STRING_CALLS).
 */
void row_resolve(struct row_resolver *resolver, const struct event *event,
		 struct resolved_row *row);

#endif
