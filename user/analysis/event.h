/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One row of a trace with what its numbers stand for: the operation's name, the paths it is about.
 * Knows nothing of how it will be printed.
 */
#ifndef FAULTLINE_ANALYSIS_EVENT_H
#define FAULTLINE_ANALYSIS_EVENT_H

#include "trace/reader.h"

struct event {
	enum trace_kind kind;
	const uint64_t *values;	  /* in the order of trace_schemas[kind] */
	const char *name;	  /* of the operation; for rows without one, of their kind */
	struct trace_string path; /* absolute where known; of length 0 for none */
	struct trace_string path2;
};

struct event_resolver;

/* Reads the identities of all files. Returns 0, -ENOMEM or -EINVAL, `error` says more. */
int event_resolver_open(struct event_resolver **resolver, struct trace_reader *reader,
			struct trace_error *error);
void event_resolver_close(struct event_resolver *resolver);

/*
 * Makes an event of a row. A path that the row names itself, made absolute, goes before that of its
 * file. The paths are valid until the next call.
 */
void event_resolve(struct event_resolver *resolver, enum trace_kind kind, const uint64_t *values,
		   struct event *event);

#endif
