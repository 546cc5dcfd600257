/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "methods": I/O by access method. Each byte has one method, and methods add up to the
 * totals: of read and mmap_read for the read side, of write and mmap_write for the write side. The
 * numbers come from totals.c.
 *
 * The kernel counts by operation, which determines everything but whether a file was opened with
 * O_DIRECT: lost read and write calls have their own row, method "unknown".
 */
#include <string.h>

#include "analysis/totals/methods.h"
#include "analysis/shared/results.h"
#include "analysis/totals/totals.h"

static const char *const side_names[SIDES] = { "read", "write" };

static const struct {
	unsigned int needs; /* JOB_*: no row without it */
	bool mapped;	    /* bytes are accessed in memory, not passed by a call */
	bool lost;	    /* not in trace rows: only if something was lost */
} methods[METHODS] = {
	[METHOD_SYSCALL] = { JOB_MOVED, false, false },
	[METHOD_DIRECT] = { JOB_MOVED, false, false },
	[METHOD_MMAP] = { JOB_FAULT, true, false },
	[METHOD_SPLICE] = { JOB_MOVED, false, false },
	[METHOD_URING] = { JOB_ASYNC, false, false },
	[METHOD_LIBAIO] = { JOB_ASYNC, false, false },
	[METHOD_KERNEL] = { JOB_VFS, false, false },
	[METHOD_UNKNOWN] = { JOB_MOVED, false, true },
};

/* A table row. */
struct methods_row {
	const char *method, *side;
	uint64_t count, bytes, fetched_bytes, created_bytes, time_ns, thread_time_ns;
};

static const struct table_column columns[] = {
	COLUMN(methods_row, method, "method", NONE, KEY,
	       "access method: syscall, direct, mmap, splice, io_uring, libaio, kernel, or unknown "
	       "(lost reads and writes)"),
	COLUMN_AS("op", methods_row, side, "op", NONE, KEY, "read or write"),
	COLUMN(methods_row, count, "count", COUNT, SUM, "number of operations", 0, STRETCH(COUNT)),
	COLUMN(methods_row, bytes, "bytes", BYTES, SUM,
	       "bytes moved by calls; for mmap, bytes read from storage by faults, or dirtied by "
	       "stores",
	       0, STRETCH_MOVED | STRETCH(READ_FAULTED) | STRETCH(DIRTIED)),
	COLUMN(methods_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, readahead included", JOB_PAGECACHE,
	       STRETCH(FETCHED)),
	COLUMN(methods_row, created_bytes, "newly cached", BYTES, SUM,
	       "bytes of new page-cache pages filled by writes", JOB_PAGECACHE, STRETCH(CREATED)),
	COLUMN(methods_row, time_ns, "time", NS, UNION,
	       "time with at least one operation of this method in progress", 0, STRETCH(TIME)),
	COLUMN(methods_row, thread_time_ns, "thread time", NS, THREAD,
	       "operation time summed over threads", 0, STRETCH(THREAD_TIME)),
};

/* The class of I/O of one side of a method. */
static unsigned int class_of(unsigned int method, unsigned int side)
{
	if (methods[method].mapped)
		return side == SIDE_READ ? IO_MMAP_READ : IO_MMAP_WRITE;
	return side == SIDE_READ ? IO_READ : IO_WRITE;
}

/* For merged reports. */
static struct tally tally_of_table(const struct table *table, enum io_method method,
				   enum method_side side)
{
	struct tally tally = { 0 };

	for (size_t row = 0; row < table->row_count; row++) {
		const struct cell *cells = table_row(table, row);
		struct methods_row line = { .method = NULL };

		if (!cell_is(&cells[0], method_names[method]) ||
		    !cell_is(&cells[1], side_names[side]))
			continue;
		table_read_row(table, row, &line);
		tally.count = line.count;
		tally.bytes = line.bytes;
		tally.fetched_bytes = line.fetched_bytes;
		tally.created_bytes = line.created_bytes;
		tally.thread_time_ns = line.thread_time_ns;
		tally.time.measure = line.time_ns;
	}
	return tally;
}

struct tally methods_tally(const struct results *results, enum io_method method,
			   enum method_side side)
{
	return results->job ? *totals_path(results, class_of(method, side), method)
			    : tally_of_table(report_by(results->report, &analysis_methods), method,
					     side);
}

/* Table row of each, plus 1; 0: none. */
struct methods {
	uint32_t rows[METHODS][SIDES];
};

static void add_row(struct table *table, const struct results *results, unsigned int method,
		    unsigned int side)
{
	static const struct tally empty;
	struct methods *kept = results_state(results, &analysis_methods);
	const unsigned int layers = results->job->layers;
	const struct tally *tally = totals_path(results, class_of(method, side), method);
	struct methods_row line = {
		.method = method_names[method],
		.side = side_names[side],
		.count = tally->count,
		.bytes = tally->bytes,
		.fetched_bytes = tally->fetched_bytes,
		.created_bytes = tally->created_bytes,
		.time_ns = methods[method].lost ? TABLE_NO_UINT : tally->time.measure,
		.thread_time_ns = tally->thread_time_ns,
	};

	/* Totals may include a layer that was recorded as off. */
	if (!memcmp(tally, &empty, sizeof(empty)) &&
	    (methods[method].lost || (layers & methods[method].needs) != methods[method].needs))
		return;
	/* Bytes read through a mapping are known only if they were fetched, and bytes stored only
	 * as dirtied pages. */
	if (methods[method].mapped) {
		unsigned int needs = side == SIDE_READ ? JOB_PAGECACHE : JOB_DIRTIED;

		line.bytes = side == SIDE_READ ? tally->fetched_bytes : tally->dirtied_bytes;
		if (!(layers & needs))
			line.bytes = TABLE_NO_UINT;
	}
	kept->rows[method][side] = table->row_count + 1;
	table_add(table, &line);
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
{
	const struct methods *kept = state;
	unsigned int side = event->class == IO_WRITE || event->class == IO_MMAP_WRITE;

	if (event->method >= METHODS || event->class != class_of(event->method, side) ||
	    !kept->rows[event->method][side])
		return 0;
	rows[0] = (struct row_of) { .row = kept->rows[event->method][side] - 1 };
	return 1;
}

static void conclude(const struct results *results, struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = results->job->layers;
	for (unsigned int method = 0; method < METHODS; method++)
		for (unsigned int side = 0; side < SIDES; side++)
			add_row(table, results, method, side);
}

const struct analysis analysis_methods = {
	.name = "methods",
	.meaning = "I/O by access method: system calls, O_DIRECT, mmap, splice, io_uring, libaio, "
		   "kernel",
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct methods),
	.conclude = conclude,
	.rows_of = rows_of,
	.merging = { .fixed = columns, .fixed_count = sizeof(columns) / sizeof(columns[0]) },
};
