/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "operations": each kind of call and fault with its latencies and sizes. Counts and
 * sums hold lost events too (see totals.c); percentiles and sizes are those of rows.
 * Knows nothing of files or processes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/analysis.h"
#include "analysis/histogram.h"

/* Right-closed: 4096 bytes belong to "<=4KiB". Each is four times the one before. */
static const char *const size_columns[] = {
	"sizes.<=4KiB",	  "sizes.<=16KiB", "sizes.<=64KiB", "sizes.<=256KiB",
	"sizes.<=1MiB",	  "sizes.<=4MiB",  "sizes.<=16MiB", "sizes.<=64MiB",
	"sizes.<=256MiB", "sizes.<=1GiB",  "sizes.<=4GiB",  "sizes.>4GiB",
};
#define SIZES (sizeof(size_columns) / sizeof(size_columns[0]))
#define TITLE_AT (sizeof("sizes.") - 1)

/* What rows say of an operation; made when its first row comes. */
struct detail {
	struct histogram latency;
	uint64_t sizes[SIZES]; /* of the bytes asked for */
};

struct operations {
	const struct job *job;
	struct detail *details[JOB_OPERATIONS_MOST];
};

enum {
	LAYER,
	NAME,
	FAMILY,
	COUNT,
	ERRORS,
	BYTES,
	FETCHED_BYTES,
	THREAD_TIME_NS,
	P50_NS,
	P99_NS,
	MAX_NS,
	FIRST_SIZE
};
static const struct table_column columns[] = {
	[LAYER] = { "layer", NULL, UNIT_NONE },
	[NAME] = { "op", "operation", UNIT_NONE },
	[FAMILY] = { "family", NULL, UNIT_NONE },
	[COUNT] = { "count", "count", UNIT_COUNT },
	[ERRORS] = { "errors", "errors", UNIT_COUNT },
	[BYTES] = { "bytes", "bytes", UNIT_BYTES },
	[FETCHED_BYTES] = { "fetched_bytes", "into cache", UNIT_BYTES },
	[THREAD_TIME_NS] = { "thread_time_ns", "thread time", UNIT_NS },
	[P50_NS] = { "p50_ns", "p50", UNIT_NS },
	[P99_NS] = { "p99_ns", "p99", UNIT_NS },
	[MAX_NS] = { "max_ns", "max", UNIT_NS },
};

/* Numbers that have a meaning for all operations of a family. */
#define HAS_ERRORS (1u << 0)
#define HAS_FETCHED (1u << 1)
#define HAS_TIME (1u << 2)
#define OF_CALL (HAS_ERRORS | HAS_FETCHED | HAS_TIME)
static const unsigned int has[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = OF_CALL,	      [TRACE_WRITE] = OF_CALL,
	[TRACE_METADATA] = OF_CALL,   [TRACE_SYNC] = OF_CALL,
	[TRACE_MAP] = OF_CALL,	      [TRACE_TRANSFER] = OF_CALL,
	[TRACE_ADVICE] = OF_CALL,     [TRACE_FILEFAULT] = HAS_FETCHED | HAS_TIME,
	[TRACE_ANONFAULT] = HAS_TIME, [TRACE_CACHE] = HAS_FETCHED,
	[TRACE_UNDECODED] = 0,
};

static unsigned int size_class(uint64_t bytes)
{
	unsigned int bits, class;

	if (bytes <= 4096)
		return 0;
	bits = 64 - __builtin_clzll(bytes - 1); /* of the power of two that holds it */
	class = (bits - 11) / 2;
	return class < SIZES - 1 ? class : SIZES - 1;
}

static int begin(const struct job *job, void **state)
{
	struct operations *operations = calloc(1, sizeof(*operations));

	if (!operations)
		return -ENOMEM;
	operations->job = job;
	*state = operations;
	return 0;
}

static void end(void *state)
{
	struct operations *operations = state;

	for (size_t i = 0; i < JOB_OPERATIONS_MOST; i++)
		free(operations->details[i]);
	free(operations);
}

static struct detail *detail_of(struct operations *operations, uint32_t number)
{
	if (!operations->details[number])
		operations->details[number] = calloc(1, sizeof(struct detail));
	return operations->details[number];
}

static int add_faults(struct operations *operations, const struct rows *rows)
{
	struct detail *detail = detail_of(operations, rows_operation(rows, 0));

	if (!detail)
		return -ENOMEM;
	for (size_t i = 0; i < rows->count; i++)
		histogram_add(&detail->latency, rows->columns[FAULT_DUR][i]);
	return 0;
}

static int add_rows(void *state, const struct rows *rows)
{
	struct operations *operations = state;

	if (rows->kind == TRACE_FAULT)
		return rows->count ? add_faults(operations, rows) : 0;
	if (rows->kind != TRACE_SYSCALL && rows->kind != TRACE_SYSCALL_PATH)
		return 0;
	for (size_t i = 0; i < rows->count; i++) {
		struct detail *detail = detail_of(operations, rows_operation(rows, i));

		if (!detail)
			return -ENOMEM;
		histogram_add(&detail->latency, rows->columns[SYSCALL_DUR][i]);
		detail->sizes[size_class(rows->columns[SYSCALL_ASKED][i])]++;
	}
	return 0;
}

/* An operation of the table, and what it is sorted by. */
struct line {
	uint32_t number;
	struct trace_operation_total total;
	const struct operation *operation;
};

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int order;

	if (a->total.thread_time_ns != b->total.thread_time_ns)
		return a->total.thread_time_ns > b->total.thread_time_ns ? -1 : 1;
	order = strcmp(a->operation->name, b->operation->name);
	return order ? order : strcmp(a->operation->layer, b->operation->layer);
}

static size_t make_lines(const struct job *job, struct line *lines)
{
	size_t count = 0;

	for (uint32_t i = 0; i < job->operation_count; i++) {
		const struct operation *operation = &job->operations[i];
		const struct trace_operation_total *seen = &operation->seen;
		const struct trace_operation_total *unseen = &operation->unseen;

		if (!(seen->count + unseen->count))
			continue;
		lines[count++] = (struct line) {
			.number = i,
			.operation = operation,
			.total = { .count = seen->count + unseen->count,
				   .errors = seen->errors + unseen->errors,
				   .bytes = seen->bytes + unseen->bytes,
				   .thread_time_ns = seen->thread_time_ns + unseen->thread_time_ns,
				   .fetched_bytes = seen->fetched_bytes + unseen->fetched_bytes },
		};
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

static int add_line(struct table *table, const struct operations *operations,
		    const struct line *line)
{
	const struct operation *operation = line->operation;
	const struct detail *detail = operations->details[line->number];
	const char *family = trace_family_names[operation->family];
	unsigned int means = has[operation->family];
	struct cell *row;
	int status = table_add_row(table, &row);

	if (!status)
		status = table_set_text(table, &row[LAYER], operation->layer,
					strlen(operation->layer));
	if (!status)
		status =
			table_set_text(table, &row[NAME], operation->name, strlen(operation->name));
	if (!status)
		status = table_set_text(table, &row[FAMILY], family, strlen(family));
	if (status)
		return status;
	cell_uint(&row[COUNT], line->total.count);
	if (means & HAS_ERRORS)
		cell_uint(&row[ERRORS], line->total.errors);
	if (event_moves_bytes(operation->family))
		cell_uint(&row[BYTES], line->total.bytes);
	if (means & HAS_FETCHED && operations->job->layers & JOB_PAGECACHE)
		cell_uint(&row[FETCHED_BYTES], line->total.fetched_bytes);
	if (means & HAS_TIME)
		cell_uint(&row[THREAD_TIME_NS], line->total.thread_time_ns);
	if (!detail)
		return 0;
	cell_uint(&row[P50_NS], histogram_percentile(&detail->latency, 50));
	cell_uint(&row[P99_NS], histogram_percentile(&detail->latency, 99));
	cell_uint(&row[MAX_NS], detail->latency.max);
	for (size_t i = 0; i < SIZES && event_moves_bytes(operation->family); i++)
		cell_uint(&row[FIRST_SIZE + i], detail->sizes[i]);
	return 0;
}

static int set_note(struct table *table, const struct job *job)
{
	char note[128];

	if (!job->lost)
		return 0;
	snprintf(note, sizeof(note),
		 "percentiles and sizes are without the %llu lost events, all other numbers with "
		 "them",
		 (unsigned long long)job->lost);
	return table_set_note(table, note);
}

static int fill(void *state, struct table *table)
{
	struct operations *operations = state;
	struct line *lines;
	size_t count;
	int status = table_add_columns(table, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; i < SIZES && !status; i++)
		status = table_add_column(table, size_columns[i], size_columns[i] + TITLE_AT,
					  UNIT_COUNT);
	if (!status)
		status = set_note(table, operations->job);
	if (status)
		return status;
	lines = calloc(JOB_OPERATIONS_MOST, sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	count = make_lines(operations->job, lines);
	for (size_t i = 0; i < count && !status; i++)
		status = add_line(table, operations, &lines[i]);
	free(lines);
	return status;
}

const struct analysis analysis_operations = {
	.name = "operations",
	.title = "Operations",
	.shape = TABLE_LIST,
	.begin = begin,
	.rows = add_rows,
	.fill = fill,
	.end = end,
};
