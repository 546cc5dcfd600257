/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Traces as tables for other programs: calls, faults, requests, spans, files, processes and others,
 * row by row in one pass. Writers of a format only see columns and cells.
 */
#pragma once

#include "output/tables/relation.h"

#define RELATIONS_MAX 32 /* more than there are */
#define RELATIONS_VERSION 1

/* Callbacks return 0 or a negative errno. */
struct relation_writer {
	/* Called for each table before any row; numbers are less than RELATIONS_MAX. */
	int (*begin)(void *to, unsigned int number, const struct relation *relation);
	/* Cells are in the order of the columns, and valid until this returns. */
	int (*row)(void *to, unsigned int number, const struct cell *cells);
};

struct relation_options {
	const char *only;	     /* the only table to write; NULL: all */
	const struct filter *filter; /* NULL: all events */
	/* Called periodically with the fraction done, 0 to 1; may be NULL. */
	void (*progress)(void *context, double done);
	/* Called for each wanted table that these traces cannot provide, with the reason; may be
	 * NULL. The texts are valid until it returns. */
	void (*absent)(void *context, const char *name, const char *why);
	void *context;
	bool no_rows; /* call only begin(), to describe the tables without a trace */
};

/*
 * Exports traces as one job. A call that passes the filter is exported whole. Memory grows with the
 * number of processes, files, strings and open spans, not with events. Returns 0, the writer's
 * status, -ENOMEM, or the error of a trace or a filter, which `error` describes.
 */
int relations_write(const struct relation_writer *writer, void *to,
		    struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, const struct relation_options *options,
		    struct trace_error *error);

/* Returns the kinds of rows that are in a table: a mask of 1 << enum trace_kind. */
uint64_t relations_kinds(void);

/* Lists all table names, separated by commas; checks whether a name is one of them. */
void relations_names(char *list, size_t size);
bool relations_has(const char *name);
