/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Results do not depend on row order in the file: random programs on random CPUs, whose rows are
 * written as operations end, in small blocks of many CPU buffers. The expected numbers come from
 * painting time squares and from sorting everything. Then the same with very little memory, and
 * with rows that no kernel would write.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/order/cursor.h"
#include "ask_report.h"
#include "collections/compare.h"
#include "tests/random.h"

#define PROCESSES 3
#define FILES 4
#define OPEN_FILES 3 /* per file and process */
#define LANES 5
#define EVENTS 600
#define SQUARES 4096
#define SQUARE_NS 100000 /* 0.1 ms: operations take up to 20 ms, long for the writer */

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	return next_random(&random_state) >> 8;
}

struct operation_done {
	uint32_t start, end; /* in squares */
	uint32_t process, file;
	unsigned int op; /* M_READ, M_WRITE, M_FAULT, M_OPENAT or M_CLOSE */
	uint32_t open_file;
	bool direct;
	int64_t offset;
	uint64_t bytes;
};

struct painting {
	unsigned char squares[SQUARES];
	uint64_t count;
};

struct pattern {
	uint64_t sequential, consecutive, random;
};

/* The expected report. */
struct expected {
	struct painting reads, direct_reads, writes, faults, all;
	struct painting process_reads[PROCESSES];
	struct painting file_reads[FILES], file_writes[FILES];
	struct pattern patterns[FILES], read_patterns[FILES], fault_patterns[FILES];
};

static void paint(struct painting *painting, const struct operation_done *done)
{
	for (uint32_t i = done->start; i < done->end; i++) {
		painting->count += !painting->squares[i];
		painting->squares[i] = 1;
	}
}

COMPARE_BY(by_start, struct operation_done, COMPARE(a->start, b->start))

COMPARE_BY(by_end, struct operation_done, COMPARE(a->end, b->end))

/* Closes an open file now and then; a closed file is reopened before its next use. */
static void open_and_close(struct operation_done *done, bool opened[PROCESSES][FILES][OPEN_FILES])
{
	bool *is_open = &opened[done->process][done->file][done->open_file];

	if (done->op == M_FAULT)
		return;
	if (!*is_open)
		done->op = M_OPENAT;
	else if (random_bits() % 16 == 0)
		done->op = M_CLOSE;
	else
		return;
	*is_open = done->op == M_OPENAT;
	done->bytes = 0;
	done->direct = false;
}

/* No two operations start in the same square, so the right order is unique. With `alike`, a process
 * repeats the same operation for a while before it changes.
 */
static void make_operations(struct operation_done *list, bool alike, bool several)
{
	static const unsigned int ops[] = { M_READ, M_READ, M_WRITE, M_FAULT };
	bool opened[PROCESSES][FILES][OPEN_FILES] = { 0 };

	for (size_t i = 0; i < EVENTS; i++) {
		struct operation_done *done = &list[i];

		done->start = i * ((SQUARES - 300) / EVENTS) + random_bits() % 3;
		done->end =
			done->start + (random_bits() % 5 ? random_bits() % 8 : random_bits() % 200);
		done->process = random_bits() % PROCESSES;
		done->file = random_bits() % FILES;
		done->op = ops[random_bits() % 4];
		done->direct = random_bits() % 4 == 0;
		done->offset = random_bits() % 6 * 4096;
		done->bytes = 4096 * (1 + random_bits() % 2);
		done->open_file = several ? random_bits() % OPEN_FILES : 0;
		if (alike && i && random_bits() % 60) {
			done->process = done[-1].process;
			if (done[-1].op == M_READ || done[-1].op == M_WRITE ||
			    done[-1].op == M_FAULT)
				done->op = done[-1].op;
			done->direct = done[-1].direct;
		}
		if (several)
			open_and_close(done, opened);
	}
	qsort(list, EVENTS, sizeof(*list), by_start);
}

static void note_pattern(struct pattern *pattern, int64_t *expected, int64_t offset, int64_t end)
{
	if (*expected >= 0) {
		pattern->sequential += offset >= *expected;
		pattern->consecutive += offset == *expected;
		pattern->random += offset < *expected;
	}
	*expected = end;
}

static void work_out(const struct operation_done *list, struct expected *expected)
{
	int64_t calls[PROCESSES][FILES][OPEN_FILES], reads[PROCESSES][FILES][OPEN_FILES];
	int64_t faults[PROCESSES][FILES];

	memset(expected, 0, sizeof(*expected));
	memset(calls, -1, sizeof(calls));
	memset(reads, -1, sizeof(reads));
	memset(faults, -1, sizeof(faults));
	for (const struct operation_done *done = list; done < list + EVENTS; done++) {
		uint32_t process = done->process, file = done->file;
		int64_t *call = &calls[process][file][done->open_file];
		int64_t *read = &reads[process][file][done->open_file];

		paint(&expected->all, done);
		if (done->op == M_FAULT) {
			paint(&expected->faults, done);
			note_pattern(&expected->fault_patterns[file], &faults[process][file],
				     done->offset, done->offset + 4096);
			continue;
		}
		if (done->op == M_OPENAT)
			*call = *read = -1;
		if (done->op == M_OPENAT || done->op == M_CLOSE)
			continue;
		note_pattern(&expected->patterns[file], call, done->offset,
			     done->offset + (int64_t)done->bytes);
		if (done->op == M_WRITE) {
			paint(&expected->writes, done);
			paint(&expected->file_writes[file], done);
			continue;
		}
		note_pattern(&expected->read_patterns[file], read, done->offset,
			     done->offset + (int64_t)done->bytes);
		paint(&expected->reads, done);
		paint(&expected->process_reads[process], done);
		paint(&expected->file_reads[file], done);
		if (done->direct)
			paint(&expected->direct_reads, done);
	}
}

static void write_operation(struct made_trace *made, const struct operation_done *done)
{
	uint64_t time = (uint64_t)done->start * SQUARE_NS;
	uint64_t dur = (uint64_t)(done->end - done->start) * SQUARE_NS;
	unsigned int lane = random_bits() % LANES;
	bool moves = done->op == M_READ || done->op == M_WRITE;

	if (done->op == M_FAULT)
		FAULT(made, .time = time, .dur = dur, .pid = 10 + done->process,
		      .file = 1 + done->file, .offset = done->offset, .lane = lane);
	else
		CALL(made, .time = time, .dur = dur, .pid = 10 + done->process,
		     .tid = random_bits() % 100, .op = done->op, .file = 1 + done->file,
		     .offset = moves ? done->offset : -1, .asked = done->bytes,
		     .result = done->bytes, .open_file = done->open_file + 1,
		     .flags = done->direct ? TRACE_OP_DIRECT : 0, .lane = lane);
}

static void make_trace(struct made_trace *made, struct operation_done *list, uint64_t end_ns)
{
	uint64_t now = 0;

	BEGIN(made, .lanes = LANES);
	for (uint64_t i = 0; i < PROCESSES; i++)
		EXEC(made, .time = 0, .pid = 10 + i, .comm = "p", .command = "p", .rank = -1);
	for (uint64_t i = 0; i < FILES; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/f%d", (int)i);
		FILE_ROW(made, .time = 0, .id = 1 + i, .ino = 1 + i, .path = path);
	}
	qsort(list, EVENTS, sizeof(*list), by_end);
	for (size_t i = 0; i < EVENTS; i++) {
		write_operation(made, &list[i]);
		/* Now and then a second passes: pending rows are written out. */
		if (random_bits() % 10 == 0)
			assert_int_equal(trace_writer_tick(made->writer, now += 2000000000), 0);
	}
	made_finish(made, 0, end_ns);
}

/* Painted time within a time range. */
static uint64_t painted_ns(const struct painting *painting, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < SQUARES; i++) {
		uint64_t from = i * SQUARE_NS > from_ns ? i * SQUARE_NS : from_ns;
		uint64_t to = (i + 1) * SQUARE_NS < to_ns ? (i + 1) * SQUARE_NS : to_ns;

		sum += painting->squares[i] && to > from ? to - from : 0;
	}
	return sum;
}

static void check_timeline(const struct report *report, const struct expected *expected)
{
	const struct table *table = report_table(report, "timeline");

	assert_true(table->row_count > 0);
	for (size_t i = 0; i < table->row_count; i++) {
		uint64_t from = ask(report, "timeline", i, "start_ns")->uint;
		uint64_t to = from + ask(report, "timeline", i, "length_ns")->uint;

		CHECK(report, "timeline", i, "io_ns", painted_ns(&expected->all, from, to));
		CHECK(report, "timeline", i, "mmap_ns", painted_ns(&expected->faults, from, to));
	}
}

static void check_report(const struct report *report, const struct expected *expected)
{
	int direct = row_with(report, "methods", "method", "direct");
	size_t row;

	CHECK(report, "totals", 0, "io.time_ns", expected->all.count * SQUARE_NS);
	CHECK(report, "totals", 0, "read.time_ns", expected->reads.count * SQUARE_NS);
	CHECK(report, "totals", 0, "write.time_ns", expected->writes.count * SQUARE_NS);
	CHECK(report, "totals", 0, "mmap_read.time_ns", expected->faults.count * SQUARE_NS);
	if (direct >= 0)
		CHECK(report, "methods", direct, "time_ns",
		      expected->direct_reads.count * SQUARE_NS);
	else
		assert_int_equal(expected->direct_reads.count, 0);
	for (size_t i = 0; i < PROCESSES; i++)
		CHECK(report, "processes", i, "read.time_ns",
		      expected->process_reads[i].count * SQUARE_NS);
	for (size_t i = 0; i < FILES; i++) {
		char path[16];

		snprintf(path, sizeof(path), "/f%d", (int)i);
		row = find_row(report, "files", "path", path);
		CHECK(report, "files", row, "read.time_ns",
		      expected->file_reads[i].count * SQUARE_NS);
		CHECK(report, "files", row, "write.time_ns",
		      expected->file_writes[i].count * SQUARE_NS);
		CHECK(report, "files", row, "pattern.sequential", expected->patterns[i].sequential);
		CHECK(report, "files", row, "pattern.consecutive",
		      expected->patterns[i].consecutive);
		CHECK(report, "files", row, "pattern.random", expected->patterns[i].random);
		CHECK(report, "files", row, "read.pattern.sequential",
		      expected->read_patterns[i].sequential);
		CHECK(report, "files", row, "read.pattern.consecutive",
		      expected->read_patterns[i].consecutive);
		CHECK(report, "files", row, "read.pattern.random",
		      expected->read_patterns[i].random);
		CHECK(report, "files", row, "mmap.pattern.sequential",
		      expected->fault_patterns[i].sequential);
		CHECK(report, "files", row, "mmap.pattern.consecutive",
		      expected->fault_patterns[i].consecutive);
		CHECK(report, "files", row, "mmap.pattern.random",
		      expected->fault_patterns[i].random);
	}
}

TEST(test_random_programs)
{
	static struct operation_done list[EVENTS];
	static struct expected expected;

	for (int round = 0; round < 40; round++) {
		/* The whole run in a few timeline buckets, or in hundreds. */
		uint64_t squares = SQUARES * (round & 2 ? 100 : 1);
		struct made_trace made;
		struct report *report;

		make_operations(list, round & 1, round & 4);
		work_out(list, &expected);
		make_trace(&made, list, squares * SQUARE_NS);
		assert_true(trace_reader_block_count(made.reader) > 40);
		report = made_report(&made.reader, 1);
		check_report(report, &expected);
		check_timeline(report, &expected);
		done(&made, report);
	}
}

struct reported {
	double last;
	int calls;
};

static void note_progress(void *context, double done)
{
	struct reported *reported = context;

	assert_true(done > reported->last && done <= 1);
	reported->last = done;
	reported->calls++;
}

/* Progress only moves forward, and ends at 1. */
TEST(test_progress)
{
	static struct operation_done list[EVENTS];
	struct reported reported = { 0 };
	const struct report_options options = { .progress = note_progress, .context = &reported };
	struct made_trace made;
	struct report *report;

	make_operations(list, false, false);
	make_trace(&made, list, (uint64_t)SQUARES * SQUARE_NS);
	report = report_with(&made, &options);
	assert_true(reported.last == 1);
	assert_true(reported.calls > 1);
	done(&made, report);
}

/* --- less memory than overlapping rows need --- */

/* All events of a trace, with at most `max` bytes in memory or one block more. */
static struct event *collect(struct made_trace *made, size_t most, size_t *count)
{
	static const char *const names[] = { "a.flt" };
	const struct cursor_options options = { .kinds = ~(1ull << TRACE_FILE), .bytes_max = most };
	struct event *events = calloc(2 * EVENTS, sizeof(*events));
	struct trace_error error = { "" };
	const struct event *batch;
	struct cursor *cursor;
	size_t batch_count;
	struct job job;

	*count = 0;
	assert_int_equal(job_load(&job, &made->reader, names, 1, &error), 0);
	assert_int_equal(cursor_open(&cursor, &job, &options), 0);
	do {
		assert_int_equal(cursor_next(cursor, &batch, &batch_count, &error), 0);
		assert_true(*count + batch_count <= 2 * EVENTS);
		/* An event's row must be intact even if its block was evicted and reloaded. */
		for (size_t i = 0; i < batch_count; i++)
			assert_true(batch[i].start == event_value(&batch[i], TRACE_COL_TIME));
		for (size_t i = 0; i < batch_count; i++)
			if (batch[i].flags & EVENT_CALL)
				assert_true((int64_t)event_value(&batch[i], SYSCALL_OFFSET) ==
					    batch[i].offset);
		memcpy(events + *count, batch, batch_count * sizeof(*batch));
		*count += batch_count;
	} while (batch_count);
	assert_true(cursor_progress(cursor) == 1);
	cursor_close(cursor);
	/* Rows that are read twice count once. */
	job_count_unseen(&job);
	for (size_t i = 0; i < job.operation_count; i++)
		assert_int_equal(job.operations[i].unseen.count, 0);
	job_free(&job);
	return events;
}

static void check_same_events(struct made_trace *made, size_t most)
{
	size_t count, trimmed_count;
	struct event *events = collect(made, 0, &count);
	struct event *trimmed = collect(made, most, &trimmed_count);

	/* One more event per process: the start of its program. */
	assert_int_equal(count, EVENTS + PROCESSES);
	assert_int_equal(trimmed_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_true(!i || events[i - 1].start <= events[i].start);
		assert_true(trimmed[i].start == events[i].start);
		assert_true(trimmed[i].end == events[i].end);
		assert_true(trimmed[i].process == events[i].process);
		assert_true(trimmed[i].offset == events[i].offset);
		assert_true(trimmed[i].flags == events[i].flags);
	}
	free(events);
	free(trimmed);
}

TEST(test_little_memory)
{
	static struct operation_done list[EVENTS];

	for (int round = 0; round < 40; round++) {
		struct made_trace made;

		make_operations(list, false, false);
		/* In some rounds hundreds of operations start at the same moment. */
		for (size_t i = 0; i < EVENTS && round % 4 == 3; i++)
			list[i].start = list[i].start < SQUARES / 2 ? 5 : list[i].start;
		make_trace(&made, list, (uint64_t)SQUARES * SQUARE_NS);
		check_same_events(&made, 1 + random_bits() % (round % 2 ? 400 : 20000));
		made_close(&made);
	}
}

/* --- hostile rows --- */

static uint64_t hostile_value(void)
{
	static const uint64_t odd[] = { 0,	   1,	       2,	   INT64_MAX,
					INT64_MIN, UINT64_MAX, UINT32_MAX, (uint64_t)-4095,
					4194304,   10,	       1ull << 32, (uint64_t)-2 };

	return random_bits() % 3 ? odd[random_bits() % (sizeof(odd) / sizeof(odd[0]))]
				 : random_bits() << random_bits() % 56;
}

static void append_hostile(struct made_trace *made, enum trace_kind kind)
{
	uint64_t values[TRACE_COLUMNS_MAX];

	for (unsigned int i = 0; i < trace_schemas[kind].column_count; i++)
		values[i] = hostile_value();
	if (trace_has_operations(kind))
		values[SYSCALL_OP] = random_bits() % M_OPERATIONS;
	assert_int_equal(trace_writer_append(made->writer, kind, 0, values), 0);
}

/* TABLE_NO_UINT is the only value printed as unknown. */
static uint64_t number(const struct report *report, const char *table, size_t row,
		       const char *column)
{
	const struct cell *cell = ask(report, table, row, column);

	return cell->type == CELL_UINT ? cell->uint : TABLE_NO_UINT;
}

/* Sum over a column of the methods, or of all but mmap, for one operation. May wrap around. */
static uint64_t sum_of_methods(const struct report *report, const char *op, bool mapped,
			       const char *column)
{
	size_t count = report_table(report, "methods")->row_count;
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		if (cell_is(ask(report, "methods", i, "op"), op) &&
		    cell_is(ask(report, "methods", i, "method"), "mmap") == mapped)
			sum += number(report, "methods", i, column);
	return sum;
}

static uint64_t sum_of_rows(const struct report *report, const char *table, const char *column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report_table(report, table)->row_count; i++)
		sum += number(report, table, i, column);
	return sum;
}

/* True if times are sums over threads, whose number is unknown. */
static bool is_summed(const struct report *report)
{
	const struct table *totals = report_table(report, "totals");

	return totals->cells[table_find_column(totals, "io.time_ns")].summed;
}

/* Whatever the rows contain, the numbers are consistent. */
static void check_consistent(const struct report *report, bool complete)
{
	static const char *const sums[] = { "count", "bytes", "fetched_bytes", "created_bytes",
					    "thread_time_ns" };
	static const char *const classes[] = { "read", "write",	    "metadata",
					       "sync", "mmap_read", "mmap_write" };
	char name[64];

	for (int write = 0; write < 2; write++)
		for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
			const char *op = write ? "write" : "read";

			snprintf(name, sizeof(name), "%s.%s", op, sums[i]);
			assert_true(sum_of_methods(report, op, false, sums[i]) ==
				    number(report, "totals", 0, name));
		}
	assert_true(sum_of_methods(report, "read", true, "count") ==
		    number(report, "totals", 0, "mmap_read.faults"));
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		snprintf(name, sizeof(name), "%s.time_ns", classes[i]);
		/* Sums of hostile rows wrap around. */
		assert_true(is_summed(report) || number(report, "totals", 0, name) <=
							 number(report, "totals", 0, "io.time_ns"));
		snprintf(name, sizeof(name), "%s.%s", classes[i], i < 4 ? "count" : "faults");
		assert_true(complete || sum_of_rows(report, "processes", name) ==
						number(report, "totals", 0, name));
	}
}

TEST(test_hostile_rows)
{
	for (int round = 0; round < 60; round++) {
		struct made_trace made[2];
		struct trace_reader *readers[2];
		struct report *report;

		for (int i = 0; i < 2; i++) {
			BEGIN(&made[i], .monotonic_ns = hostile_value(),
			      .realtime_ns = hostile_value(), .boot_id = round % 2 ? "" : "same",
			      .vfs = true);
			trace_writer_string(made[i].writer, "/some/path", 10);
			trace_writer_string(made[i].writer, "\0\0", 2);
			for (int j = 0; j < 300; j++)
				append_hostile(&made[i], random_bits() % TRACE_KIND_COUNT);
			for (size_t j = 0; j < M_OPERATIONS; j++)
				made[i].operations[j] = (struct trace_operation_total) {
					hostile_value(), hostile_value(), hostile_value(),
					hostile_value(), hostile_value(), hostile_value(),
					hostile_value(), hostile_value(), hostile_value()
				};
			readers[i] =
				round % 3 ? made_finish(&made[i], hostile_value(), hostile_value())
					  : made_abandon(&made[i]);
		}
		report = made_report(readers, 2);
		for (size_t i = 0; i < report->table_count; i++) {
			const struct table *table = report->tables[i];

			assert_true(table->absent ? table->note != NULL : table->column_count > 0);
			if (!table->absent && table->shape == TABLE_RECORD)
				assert_int_equal(table->row_count, 1);
		}
		check_consistent(report, round % 3);
		report_free(report);
		made_close(&made[0]);
		made_close(&made[1]);
	}
}
