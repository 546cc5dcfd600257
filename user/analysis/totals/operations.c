/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "operations": each kind of call and fault with its latencies and sizes. Counts and sums
 * include lost events (see totals.c); percentiles and sizes do not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/shared/analysis.h"
#include "collections/histogram.h"
#include "analysis/shared/size_class.h"
#include "base/units.h"
#include "base/strbuf.h"
#include "collections/compare.h"
#include "base/number.h"

#define SIZES SIZE_CLASSES

/* Details of an operation; allocated with its first event. */
struct detail {
	struct histogram latency;
	uint64_t sizes[SIZES]; /* by bytes requested */
	bool summed;	       /* includes aggregated operations, known only by class */
};

struct operations {
	const struct job *job;
	struct arena *arena;
	struct detail *details[JOB_OPERATIONS_MAX];
};

/* Numbers that are meaningful for the operations of a family. */
#define HAS_ERRORS (1u << 0)
#define HAS_FETCHED (1u << 1)
#define HAS_TIME (1u << 2)
#define OF_CALL (HAS_ERRORS | HAS_FETCHED | HAS_TIME)
#define OF_VFS (HAS_ERRORS | HAS_TIME)
static const unsigned int has[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = OF_CALL,		[TRACE_WRITE] = OF_CALL,
	[TRACE_METADATA] = OF_CALL,	[TRACE_SYNC] = OF_CALL,
	[TRACE_MAP] = OF_CALL,		[TRACE_TRANSFER] = OF_CALL,
	[TRACE_ADVICE] = OF_CALL,	[TRACE_FILEFAULT] = HAS_FETCHED | HAS_TIME,
	[TRACE_ANONFAULT] = HAS_TIME,	[TRACE_CACHE] = HAS_FETCHED,
	[TRACE_INDIRECT] = HAS_FETCHED, [TRACE_UNDECODED] = 0,
	[TRACE_SUBMITS] = OF_CALL,	[TRACE_OTHER] = 0,
	[TRACE_KERNEL_READ] = OF_VFS,	[TRACE_KERNEL_WRITE] = OF_VFS,
	[TRACE_SPLICE_READ] = OF_VFS,	[TRACE_SPLICE_WRITE] = OF_VFS,
	[TRACE_APART] = OF_VFS,		[TRACE_SERVED] = HAS_ERRORS,
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct operations *operations = state;

	operations->job = job;
	operations->arena = arena;
}

static struct detail *detail_of(struct operations *operations, uint32_t number)
{
	if (!operations->details[number])
		operations->details[number] = arena_alloc(operations->arena, sizeof(struct detail));
	return operations->details[number];
}

/* Adds the operations of a class, each at the class's upper bound. */
static void add_class(struct detail *detail, const struct event *event)
{
	uint64_t bits = event_value(event, PROFILE_CLASS_BITS);
	uint64_t bound = bits < 64 ? 1ull << bits : UINT64_MAX;

	if (event_value(event, PROFILE_CLASS_WHAT) == TRACE_CLASS_SIZE)
		detail->sizes[size_class(bound)] += event->summed_count;
	else
		histogram_add_many(&detail->latency, bits < 64 ? bound - 1 : bound,
				   event->summed_count);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct operations *operations = state;

	for (const struct event *event = events; event < events + count; event++) {
		struct detail *detail;

		if (!(event->flags & (EVENT_CALL | EVENT_FAULT | EVENT_ASYNC | EVENT_VFS)) ||
		    event->flags & EVENT_SECOND)
			continue;
		detail = detail_of(operations, event->operation);
		if (!detail)
			return -ENOMEM;
		if (event->flags & EVENT_SUMMED) {
			detail->summed = true;
			if (event->flags & EVENT_CLASSES)
				add_class(detail, event);
			continue;
		}
		histogram_add(&detail->latency, event->end - event->start);
		detail->sizes[size_class(event->asked_bytes)] += !(event->flags & EVENT_FAULT);
	}
	return 0;
}

/* An operation of the table, with its sort key. */
struct operations_row {
	uint32_t number;
	struct trace_operation_total total;
	const struct operation *operation;
};

/* An operation as the columns see it. */
struct operation_row {
	const char *layer, *name, *family;
	uint64_t count, errors, bytes, fetched_bytes, created_bytes, read_for_write_bytes;
	uint64_t thread_time_ns;
	uint64_t p50_ns, p99_ns, max_ns;
	const struct histogram *latency; /* source of the percentiles; NULL: they are bounds */
	uint64_t sizes[SIZES];
};

static void get_percentile(struct table *table, struct cell *cell, const void *row,
			   const struct table_column *column)
{
	const struct histogram *latency = ((const struct operation_row *)row)->latency;

	table_get_uint(table, cell, row, column);
	if (cell->type == CELL_NULL || !latency)
		return;
	table_note_percentile(table, cell, latency,
			      column->key == offsetof(struct operation_row, p50_ns) ? 50 : 99);
}

static const struct table_column columns[] = {
	COLUMN(operation_row, layer, NULL, NONE, KEY, "layer that recorded the operation"),
	COLUMN_AS("op", operation_row, name, "operation", NONE, KEY,
		  "kernel name of the call, or kind of fault; *_apart: layer vfs, for another "
		  "operation or in kernel threads, included in no total"),
	COLUMN(operation_row, family, NULL, NONE, FACT,
	       "kind of operation, for example read, write, metadata or sync"),
	COLUMN(operation_row, count, "count", COUNT, SUM, "number of operations", 0,
	       STRETCH(COUNT)),
	COLUMN(operation_row, errors, "errors", COUNT, SUM, "operations that failed", 0,
	       STRETCH(ERRORS)),
	COLUMN(operation_row, bytes, "bytes", BYTES, SUM,
	       "bytes moved; null for operations that move none", 0, STRETCH_MOVED),
	COLUMN(operation_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, readahead included", JOB_PAGECACHE,
	       STRETCH(FETCHED)),
	COLUMN(operation_row, created_bytes, "newly cached", BYTES, SUM,
	       "bytes of new page-cache pages filled by writes", JOB_PAGECACHE, STRETCH(CREATED)),
	COLUMN(operation_row, read_for_write_bytes, NULL, BYTES, SUM,
	       "bytes read from storage to complete partially written pages, not included in "
	       "created_bytes; requires layers block and pagecache",
	       JOB_READ_FOR_WRITE),
	COLUMN(operation_row, thread_time_ns, "thread time", NS, THREAD,
	       "operation time summed over threads", 0, STRETCH(THREAD_TIME)),
	{ "p50_ns", "p50", UNIT_NS, KIND_PERCENTILE,
	  "median duration of an operation, at most 1/64 too large; an upper bound if operations "
	  "were aggregated",
	  .get = get_percentile, .key = offsetof(struct operation_row, p50_ns) },
	{ "p99_ns", "p99", UNIT_NS, KIND_PERCENTILE,
	  "99th percentile of the duration, at most 1/64 too large; an upper bound if operations "
	  "were aggregated",
	  .get = get_percentile, .key = offsetof(struct operation_row, p99_ns) },
	COLUMN(operation_row, max_ns, "max", NS, MAX,
	       "longest duration of an operation, exact; null if operations were aggregated"),
};

COMPARE_BY(compare_lines, struct operations_row,
	   COMPARE(b->total.thread_time_ns, a->total.thread_time_ns) ?:
	   strcmp(a->operation->name, b->operation->name) ?:
	   strcmp(a->operation->layer, b->operation->layer))

static size_t make_lines(const struct job *job, struct operations_row *lines)
{
	size_t count = 0;

	for (uint32_t i = 0; i < job->operation_count; i++) {
		const struct operation *operation = &job->operations[i];
		const struct trace_operation_total *seen = &operation->seen;
		const struct trace_operation_total *unseen = &operation->unseen;

		/* Throttling is part of the calls and faults that it happens in. */
		if (!(seen->count + unseen->count) || operation->family == TRACE_DELAY)
			continue;
		lines[count++] = (struct operations_row) {
			.number = i,
			.operation = operation,
			.total = { .count = seen->count + unseen->count,
				   .errors = seen->errors + unseen->errors,
				   .bytes = seen->bytes + unseen->bytes,
				   .thread_time_ns = seen->thread_time_ns + unseen->thread_time_ns,
				   .fetched_bytes = seen->fetched_bytes + unseen->fetched_bytes,
				   .created_bytes = seen->created_bytes + unseen->created_bytes,
				   .read_for_write_bytes = seen->read_for_write_bytes +
							   unseen->read_for_write_bytes },
		};
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

/*
 * For aggregated operations the percentile is the upper bound of a class, a power of two, which may
 * be impossibly large: operations from that rank on are at least as long, so together they cannot
 * take more than the total time. If damage made the counts contradictory, the class bound is
 * returned as it is.
 */
static uint64_t percentile(const struct operations_row *line, const struct detail *detail,
			   bool timed, unsigned int percent)
{
	const struct histogram *latency = &detail->latency;
	uint64_t bound = histogram_percentile(latency, percent), max, rank;

	if (!latency->count)
		return TABLE_NO_UINT;
	if (!detail->summed || !timed || latency->count > line->total.count)
		return bound;
	rank = ((unsigned __int128)latency->count * percent + 99) / 100;
	max = line->total.thread_time_ns / (latency->count - rank + 1);
	return number_min(bound, max);
}

static void add_line(struct table *table, const struct operations *operations,
		     const struct operations_row *line)
{
	const struct operation *operation = line->operation;
	const struct detail *detail = operations->details[line->number];
	unsigned int means = has[operation->family];
	bool moves = event_moves_bytes(operation->family);
	struct operation_row view = {
		.layer = operation->layer,
		.name = operation->name,
		.family = trace_family_names[operation->family],
		.count = line->total.count,
		.errors = means & HAS_ERRORS ? line->total.errors : TABLE_NO_UINT,
		.bytes = moves ? line->total.bytes : TABLE_NO_UINT,
		.fetched_bytes = means & HAS_FETCHED ? line->total.fetched_bytes : TABLE_NO_UINT,
		.created_bytes = means & HAS_FETCHED ? line->total.created_bytes : TABLE_NO_UINT,
		.read_for_write_bytes =
			operation->family == TRACE_WRITE || operation->family == TRACE_TRANSFER
				? line->total.read_for_write_bytes
				: TABLE_NO_UINT,
		.thread_time_ns = means & HAS_TIME ? line->total.thread_time_ns : TABLE_NO_UINT,
		.p50_ns = detail ? percentile(line, detail, means & HAS_TIME, 50) : TABLE_NO_UINT,
		.p99_ns = detail ? percentile(line, detail, means & HAS_TIME, 99) : TABLE_NO_UINT,
		.latency = detail && !detail->summed ? &detail->latency : NULL,
		.max_ns = detail && !detail->summed ? detail->latency.max : TABLE_NO_UINT,
	};

	for (size_t i = 0; i < SIZES; i++)
		view.sizes[i] = detail && moves ? detail->sizes[i] : TABLE_NO_UINT;
	table_add(table, &view);
}

static void set_note(struct table *table, const struct job *job)
{
	struct strbuf note = { .used = 0 };
	char count[UNITS_TEXT];

	if (job->lost)
		strbuf_clause(&note,
			      "percentiles and sizes exclude the %s lost events; all other numbers "
			      "include them",
			      units_count(count, job->lost));
	if (job->aggregated)
		strbuf_clause(
			&note,
			"percentiles of aggregated operations are upper bounds, in powers of two");
	if (note.used)
		table_set_note(table, note.bytes);
}

static void fill(void *state, struct table *table)
{
	struct operations *operations = state;
	struct operations_row *lines;
	size_t count;

	table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));
	table->recorded = operations->job->layers;
	size_class_add_columns(table,
			       "operations that requested a number of bytes in this size class",
			       offsetof(struct operation_row, sizes));
	lines = arena_alloc(operations->arena, JOB_OPERATIONS_MAX * sizeof(*lines));
	if (!lines)
		return;
	count = make_lines(operations->job, lines);
	if (count) /* an empty table needs no note */
		set_note(table, operations->job);
	for (size_t i = 0; i < count; i++)
		add_line(table, operations, &lines[i]);
}

const struct analysis analysis_operations = {
	.name = "operations",
	.meaning = "each kind of call and fault, with latencies and sizes",
	.title = "Operations",
	.shown = "op,thread_time_ns,count,bytes,p50_ns,p99_ns,max_ns,fetched_bytes,errors",
	.by = "thread_time_ns",
	.share = "share", /* faults without a file are not I/O */
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct operations),
	.begin = begin,
	.aggregated_ok = true,
	.counted = true,
	.consumer = { .parallel = true, .sums = true, .events = add_events },
	.fill = fill,
	.merging = { .sorted = "-thread_time_ns", .many = "operations", .label = "op" },
};
