/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a trace can hold: the kinds of blocks and their columns, as tables generated from columns.h.
 *
 * A row is an array of 64-bit values in the column order given there. In memory every value is a
 * uint64_t; signed columns hold the two's complement. Both lists are append-only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/columns.h"
#include "trace/format/flags.h"

#define TRACE_VERSION 1
#define TRACE_BLOCK_ROWS 32768		  /* maximum rows of a writer's blocks */
#define TRACE_BLOCK_ROWS_MAX (1u << 17)	  /* a reader rejects blocks with more rows */
#define TRACE_FRAME_BYTES_MAX (64u << 20) /* ... and frames that decompress to more */
#define TRACE_COLUMNS_MAX 64		  /* of a kind: as many as fit in a mask */

/* Kinds of rows and their columns: see columns.h. */
#define TRACE_ENUM_KIND(id, ...) TRACE_##id,
enum trace_kind { TRACE_KINDS(TRACE_ENUM_KIND) TRACE_KIND_COUNT };
/* A trace also holds the header, "string" blocks, "index" and "totals". */

enum trace_column_type {
	TRACE_TIME,   /* ns on the trace's clock; stored as `dts`, differences that start at t0 */
	TRACE_UINT,   /* unsigned */
	TRACE_INT,    /* signed */
	TRACE_STRING, /* id of a string, 0 for none */
};

enum trace_unit { TRACE_UNIT_NONE, TRACE_UNIT_NS, TRACE_UNIT_BYTES, TRACE_UNIT_COUNT };

struct trace_column {
	const char *name;
	enum trace_column_type type;
	enum trace_unit unit;
	const char *meaning; /* one line */
};

struct trace_schema {
	const char *kind;    /* the block's name in the file */
	const char *layer;   /* layer of its rows */
	const char *meaning; /* one line */
	const struct trace_column *columns;
	unsigned int column_count;
	int duration; /* number of the column with a duration in ns, or -1 */
	bool names;   /* its rows say what the numbers in other rows stand for */
};

/* One row per kind, indexed by enum trace_kind. */
extern const struct trace_schema trace_schemas[TRACE_KIND_COUNT];

/* Column 0 of every kind is its time: the start of an operation, the moment of an event. */
#define TRACE_COL_TIME 0

/* Column numbers, FAULT_TIME to FAULT_COLUMNS and so on. TRACE_SYSCALL_PATH begins with the columns
 * of TRACE_SYSCALL; TRACE_ASYNC has the same ones as TRACE_SYSCALL_PATH. */
#define TRACE_NUMBER(id, number, ...) id = number,
#define TRACE_ONE_MORE(...) +1
#define TRACE_NUMBERS_OWN(id)                                                                      \
	enum { TRACE_COLUMNS(id, TRACE_NUMBER) id##_COLUMNS = TRACE_COLUMNS(id, TRACE_ONE_MORE) };
#define TRACE_NUMBERS_SHARED(id)
#define TRACE_NUMBERS(id, name, layer, duration, names, numbers, ...) TRACE_NUMBERS_##numbers(id)
TRACE_KINDS(TRACE_NUMBERS)
enum {
	TRACE_COLUMNS(PATHS, TRACE_NUMBER) SYSCALL_PATH_COLUMNS =
		TRACE_COLUMNS(SYSCALL_PATH, TRACE_ONE_MORE),
	ASYNC_COLUMNS = SYSCALL_PATH_COLUMNS
};

/* Rows of a summary: they hold the results of a report, not events. */
#define TRACE_SUMMARY_KINDS                                                                        \
	(1ull << TRACE_SUMMARY_TABLE | 1ull << TRACE_SUMMARY_COLUMN | 1ull << TRACE_SUMMARY_CELL | \
	 1ull << TRACE_SUMMARY_CLASS)

/*
 * Maps a pid or file id to one of 64 bits. An index keeps the bits of all pids and of all files of
 * a block: a block without the bit of a pid or file has no row of it, one with the bit may.
 */
static inline uint64_t trace_key(uint64_t value)
{
	return 1ull << (value * 0x9e3779b97f4a7c15ull >> 58);
}

/* Whether rows of the kind may be of the layer. Rows "remote" are of the layer of their operation,
 * any of LAYERS_OF_SERVERS. */
bool trace_kind_has_layer(enum trace_kind kind, const char *layer);

/* True if column SYSCALL_OP of a kind is the number of an operation. */
static inline bool trace_has_operations(enum trace_kind kind)
{
	return kind == TRACE_SYSCALL || kind == TRACE_SYSCALL_PATH || kind == TRACE_REQUEST ||
	       kind == TRACE_BIO || kind == TRACE_ASYNC || kind == TRACE_VFS ||
	       kind == TRACE_PROFILE || kind == TRACE_PROFILE_CLASS || kind == TRACE_SAMPLE ||
	       kind == TRACE_REMOTE;
}

_Static_assert((int)REQUEST_OP == (int)SYSCALL_OP && (int)BIO_OP == (int)SYSCALL_OP &&
		       (int)VFS_OP == (int)SYSCALL_OP && (int)PROFILE_OP == (int)SYSCALL_OP &&
		       (int)PROFILE_CLASS_OP == (int)SYSCALL_OP &&
		       (int)SAMPLE_OP == (int)SYSCALL_OP && (int)REMOTE_OP == (int)SYSCALL_OP,
	       "operations stand in the same column of all kinds that have them");
