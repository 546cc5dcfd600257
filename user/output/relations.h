/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as tables for other programs: calls, faults, requests, spans, files, processes and what
 * else there is, row by row in one pass. Whoever writes a format gets columns and cells, and knows
 * nothing of traces.
 */
#ifndef FAULTLINE_RELATIONS_H
#define FAULTLINE_RELATIONS_H

#include "output/relation.h"

#define RELATIONS_MOST 16
#define RELATIONS_VERSION 1

/* Each returns 0 or a negative errno. */
struct relation_writer {
	/* Called for each table before any row; numbers are less than RELATIONS_MOST. */
	int (*begin)(void *to, unsigned int number, const struct relation *relation);
	/* Cells are in the order of the columns, and valid until this returns. */
	int (*row)(void *to, unsigned int number, const struct cell *cells);
};

struct relation_options {
	const char *only;	     /* the one table that is wanted; NULL: all */
	const struct filter *filter; /* NULL: all events */
	/* Called now and then with the share of the work done, 0 to 1; NULL for none. */
	void (*progress)(void *context, double done);
	/* Called for each wanted table that cannot be made of these traces, and why; NULL for
	 * none. The texts are valid until it returns. */
	void (*absent)(void *context, const char *name, const char *why);
	void *context;
	bool no_rows; /* begin alone is called: for what can be said without a trace */
};

/*
 * Hands traces on as one job. A call that a filter lets pass is whole. Memory grows with the number
 * of processes, files, strings and open spans, not with that of events. Returns 0, what the writer
 * returned, -ENOMEM, or the error of a trace or a filter, and then `error` says which.
 */
int relations_write(const struct relation_writer *writer, void *to,
		    struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct relation_options *options,
		    struct trace_error *error);

/* The names of all tables, with commas between; false for a name that is none of them. */
void relations_names(char *list, size_t size);
bool relations_has(const char *name);

#endif
