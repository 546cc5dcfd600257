/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables for export: their columns, and how a row fills them. Event tables have the columns of
 * trace/format/columns.h and derived ones. Private to the exports.
 */
#pragma once

#include "analysis/report/report.h"
#include "analysis/events/resolve.h"
#include "analysis/stacks/stack_tree.h"
#include "output/base/sink.h"
#include "base/units.h"

#define RELATION_COLUMNS_MAX 96
#define RELATION_NAME_BYTES 48

enum relation_type {
	RELATION_UINT,
	RELATION_INT,
	RELATION_REAL,
	RELATION_BOOL,
	RELATION_TEXT,
	RELATION_JSON, /* text that is a JSON value */
};

/* A span from its begin to its end. */
struct relation_span {
	uint64_t name, category, args; /* string ids of its trace */
	uint64_t flags;
	int64_t epoch, step; /* TABLE_NO_INT: none known */
};

/* Input of getters. */
struct relation_row {
	struct job *job;
	uint64_t base_ns; /* origin of times */
	const struct event *event;
	const struct resolved_row *resolved;
	struct stack_tree stacks;	/* of the samples so far */
	uint32_t number;		/* of a file, process or stack, or the slot of a span */
	uint32_t process;		/* of the event or span; PROCESS_UNKNOWN for none */
	uint64_t span;			/* serial of the enclosing span; 0: none */
	const struct relation_span *of; /* for a span's row */
	struct sink *made;		/* holds a text made for this row, one at a time */
	char devices[2][UNITS_TEXT];	/* likewise */
};

struct relation_column;

/* Fills a cell that is initially CELL_NULL. */
typedef void relation_getter(struct relation_row *row, const struct relation_column *column,
			     struct cell *cell);

struct relation_column {
	char name[RELATION_NAME_BYTES];
	enum relation_type type;
	enum table_unit unit;
	const char *meaning;
	const char *refers; /* the relation whose `id` this is, or NULL */
	relation_getter *get;
	unsigned int number; /* of the trace's column, for shared getters */
	unsigned int needs;  /* JOB_*: null unless the trace has all of these */
};

struct relation {
	const char *name, *meaning;
	uint64_t kinds;		   /* of its rows; 0: no events */
	const struct table *table; /* report table that it is made from, or NULL */
	struct relation_column columns[RELATION_COLUMNS_MAX];
	size_t column_count;
};

/* Adds a column; does nothing beyond RELATION_COLUMNS_MAX. */
void relation_add(struct relation *relation, const struct relation_column *column);
/* Adds the columns of a row kind, named as by `faultline print`. */
void relation_add_schema(struct relation *relation, const struct trace_schema *schema);

struct relation_columns {
	const struct relation_column *list;
	size_t count;
};
#define RELATION_COLUMNS(list)                                                                     \
	{                                                                                          \
		list, sizeof(list) / sizeof((list)[0])                                             \
	}

void relation_add_columns(struct relation *relation, const struct relation_columns *columns);

/* For tables of events, in addition to their row kind's columns; */
extern const struct relation_columns relation_calls, relation_faults;
extern const struct relation_columns relation_process, relation_process_span, relation_device;
/* and for other tables. */
extern const struct relation_columns relation_spans, relation_files, relation_processes;
extern const struct relation_columns relation_stacks;

/* The "class" of operations, including IO_NONE (NULL). */
const char *relation_class(unsigned int class);

/* The process of an event or a span. */
#define RELATION_PROCESS                                                                           \
	{                                                                                          \
		"process", RELATION_UINT, UNIT_NONE, "process; unlike pids, never reused",         \
			.refers = "processes", .get = relation_get_process                         \
	}
relation_getter relation_get_process;

/* For getters. */
void relation_text(struct cell *cell, struct trace_string text);
void relation_literal(struct cell *cell, const char *text);

/* Defines a getter: null unless `known`, else what `set` makes of `value`. Both are expressions in
 * row and column. */
#define RELATION_GETTER(name, known, set, value)                                                   \
	static void name(struct relation_row *row, const struct relation_column *column,           \
			 struct cell *cell)                                                        \
	{                                                                                          \
		if (known)                                                                         \
			set(cell, value);                                                          \
	}
