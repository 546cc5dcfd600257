/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A row of a trace with its numbers resolved: the operation's name and its paths. */
#pragma once

#include "analysis/events/event.h"

struct resolved_row {
	enum trace_kind kind;
	const struct trace_reader *reader; /* has the strings of the values */
	const uint64_t *values;		   /* in the order of trace_schemas[kind] */
	const char *layer;
	const char *name;	  /* of the operation; of the kind if the row has none */
	struct trace_string path; /* absolute if known; empty if there is none */
	struct trace_string path2;
	struct trace_string program; /* of its process, if requested; otherwise empty */
};

struct row_resolver;

/* The job must outlive the resolver. Returns 0 or -ENOMEM. */
int row_resolver_open(struct row_resolver **resolver, const struct job *job);
void row_resolver_close(struct row_resolver *resolver); /* NULL is fine */

/*
 * Resolves the row of an event; the cursor must return whole rows. A path in the row itself, made
 * absolute, takes precedence over its file's. Values and paths are valid until the next call, paths
 * no longer than any string of the reader (TRACE_STRING_CALLS).
 */
void row_resolve(struct row_resolver *resolver, const struct event *event,
		 struct resolved_row *row);
