/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is exported as tables: which there are, their columns, and how a row fills them. The tables
 * of events have the columns of trace/columns.h and what analyses make of a row. Knows nothing of
 * the format that a table is written in. Private to the exports.
 */
#ifndef FAULTLINE_RELATION_H
#define FAULTLINE_RELATION_H

#include "analysis/report/report.h"
#include "analysis/model/resolve.h"
#include "output/sink.h"
#include "units.h"

#define RELATION_COLUMNS_MOST 96
#define RELATION_NAME_BYTES 48

enum relation_type {
	RELATION_UINT,
	RELATION_INT,
	RELATION_REAL,
	RELATION_BOOL,
	RELATION_TEXT,
	RELATION_JSON, /* a text that is a JSON value */
};

/* A span from its begin to its end. */
struct relation_span {
	uint64_t name, category, args; /* string ids of its trace */
	uint64_t flags;
	int64_t epoch, step; /* TABLE_NO_INT: of none that is known */
};

/* What getters look at. */
struct relation_row {
	struct job *job;
	uint64_t base_ns; /* what times are told from */
	const struct event *event;
	const struct resolved_row *resolved;
	uint32_t number;		/* of a file, a process, or the place of a span */
	uint32_t process;		/* of the event or span; PROCESS_UNKNOWN for none */
	uint64_t span;			/* serial of the span that it happened in; 0: in none */
	const struct relation_span *of; /* of a span's row */
	struct sink *made; /* where a text lies that is made for this row: one at a time */
	char devices[2][UNITS_TEXT]; /* likewise */
};

struct relation_column;

/* Fills a cell that is CELL_NULL. */
typedef void relation_getter(struct relation_row *row, const struct relation_column *column,
			     struct cell *cell);

struct relation_column {
	char name[RELATION_NAME_BYTES];
	enum relation_type type;
	enum table_unit unit;
	const char *meaning;
	const char *refers; /* the relation whose `id` it is, or NULL */
	relation_getter *get;
	unsigned int number; /* of the trace's column, for getters that several share */
	unsigned int needs;  /* JOB_*: without these of its trace it is null */
};

struct relation {
	const char *name, *meaning;
	uint64_t kinds;		   /* of the rows it is made of; 0: no events */
	const struct table *table; /* of the report, that it is made of; or NULL */
	struct relation_column columns[RELATION_COLUMNS_MOST];
	size_t column_count;
};

/* Adds a column; beyond RELATION_COLUMNS_MOST nothing happens. */
void relation_add(struct relation *relation, const struct relation_column *column);
/* Those of a kind of rows, by the names that `faultline print` gives them. */
void relation_add_schema(struct relation *relation, enum trace_kind kind);
void relation_add_columns(struct relation *relation, const struct relation_column *columns,
			  size_t count);
#define RELATION_ADD(relation, list)                                                               \
	relation_add_columns(relation, list, sizeof(list) / sizeof((list)[0]))

/* Each makes the columns of one table. */
void relation_make_calls(struct relation *relation);
void relation_make_faults(struct relation *relation);
void relation_make_requests(struct relation *relation);
void relation_make_bios(struct relation *relation);
void relation_make_pagecache(struct relation *relation);
void relation_make_throttles(struct relation *relation);
void relation_make_moments(struct relation *relation);
void relation_make_spans(struct relation *relation);
void relation_make_files(struct relation *relation);
void relation_make_processes(struct relation *relation);

/* "class" of operations, IO_NONE included (NULL). */
const char *relation_class(unsigned int class);

/* For getters. */
void relation_text(struct cell *cell, struct trace_string text);
void relation_literal(struct cell *cell, const char *text);

#endif
