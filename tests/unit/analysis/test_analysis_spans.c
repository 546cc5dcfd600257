/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which span an operation belongs to, and the table of spans: hand-made traces with hand-computed
 * numbers; spans that end oddly or never, and too many of everything.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "ask_report.h"
#include "tests/random.h"

static void read_at(struct made_trace *made, uint64_t time, uint64_t dur, uint64_t pid,
		    uint64_t tid, uint64_t bytes)
{
	CALL(made, .time = time, .dur = dur, .pid = pid, .tid = tid, .op = M_READ, .file = 1,
	     .result = bytes);
}

#define ROW(report, name) find_row(report, "spans", "name", name)
#define SPANS(report, name, column, expected)                                                      \
	CHECK(report, "spans", ROW(report, name), column, expected)

/*
 *         100       200       300       400       500       600
 *   10:10  |--- step ------------------------------------|
 *   10:10       |- fetch ----|    r=         r=                 r=
 *   10:10            r=====       (step)     (step)             (none)
 *   10:11                     r=  (process's span: step)
 */
TEST(test_innermost)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	SPAN(&made, .begin = 100, .end = 550, .pid = 10, .id = 1, .name = "step");
	SPAN(&made, .begin = 150, .end = 280, .pid = 10, .id = 2, .name = "fetch",
	     .category = "data");
	read_at(&made, 200, 50, 10, 10, 1000);
	FAULT(&made, .time = 260, .dur = 10, .pid = 10, .file = 1, .flags = TRACE_FAULT_MAJOR,
	      .fetched = 4096);
	read_at(&made, 285, 10, 10, 11, 30); /* that thread has no span */
	read_at(&made, 300, 10, 10, 10, 500);
	CALL(&made, .time = 400, .dur = 20, .pid = 10, .op = M_WRITE, .file = 1, .result = 70);
	CALL(&made, .time = 405, .dur = 20, .pid = 10, .tid = 11, .op = M_READ, .file = 1,
	     .result = 9, .flags = TRACE_OP_DIRECT);
	read_at(&made, 600, 10, 10, 10, 7);
	made_instant(&made, 700, 10, "fetch", "data");
	report = report_of(&made, 1000);
	row = ROW(report, "fetch");
	check_text(report, "spans", row, "category", "data");
	CHECK(report, "spans", row, "count", 1);
	CHECK(report, "spans", row, "instants", 1);
	CHECK(report, "spans", row, "unfinished", 0);
	CHECK(report, "spans", row, "time_ns", 130);
	CHECK(report, "spans", row, "union_ns", 130);
	CHECK(report, "spans", row, "p50_ns", 130);
	CHECK(report, "spans", row, "max_ns", 130);
	CHECK(report, "spans", row, "io_time_ns", 60);
	CHECK(report, "spans", row, "operations", 2);
	CHECK(report, "spans", row, "read_bytes", 1000);
	CHECK(report, "spans", row, "mmap_fetched_bytes", 4096);
	CHECK(report, "spans", row, "faults", 1);
	CHECK(report, "spans", row, "major", 1);
	CHECK(report, "spans", row, "inherited", 0);
	CHECK(report, "spans", row, "methods.syscall.read_bytes", 1000);
	CHECK(report, "spans", row, "methods.mmap.fetched_bytes", 4096);
	CHECK(report, "spans", row, "inclusive.read_bytes", 1000);
	row = ROW(report, "step");
	check_text(report, "spans", row, "category", "");
	CHECK(report, "spans", row, "time_ns", 450);
	/*
	 * 285-295, 300-310, 400-425: two concurrent threads count once in time, twice in thread
	 * time.
	 */
	CHECK(report, "spans", row, "io_time_ns", 10 + 10 + 25);
	CHECK(report, "spans", row, "io_thread_time_ns", 10 + 10 + 40);
	CHECK(report, "spans", row, "read_bytes", 539);
	CHECK(report, "spans", row, "write_bytes", 70);
	CHECK(report, "spans", row, "faults", 0);
	CHECK(report, "spans", row, "methods.direct.read_bytes", 9);
	CHECK(report, "spans", row, "methods.syscall.read_bytes", 530);
	CHECK(report, "spans", row, "methods.syscall.write_bytes", 70);
	CHECK(report, "spans", row, "inclusive.io_time_ns", 45 + 60);
	CHECK(report, "spans", row, "inclusive.read_bytes", 1539);
	CHECK(report, "spans", row, "inclusive.mmap_fetched_bytes", 4096);
	assert_non_null(
		strstr(report_table(report, "spans")->note, "outside spans: 1 operation, 7 "));
	/* Longest first. */
	assert_int_equal(ROW(report, "step"), 0);
	done(&made, report);
}

/* An operation that outlasts its span counts up to the span's end. */
TEST(test_outlasting)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 100, .end = 200, .pid = 10, .id = 1, .name = "save");
	read_at(&made, 150, 100, 10, 11, 1000);
	report = report_of(&made, 1000);
	SPANS(report, "save", "io_time_ns", 50);
	SPANS(report, "save", "io_thread_time_ns", 100);
	SPANS(report, "save", "read_bytes", 1000);
	done(&made, report);
}

/* Two spans of one thread that cross; one ended by another thread; one nested in itself. */
TEST(test_odd_order)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 100, .end = 300, .pid = 10, .id = 1, .name = "a");
	SPAN(&made, .begin = 200, .end = 400, .pid = 10, .id = 2, .name = "b");
	read_at(&made, 250, 1, 10, 10, 1);
	read_at(&made, 350, 1, 10, 10, 10);
	SPAN(&made, .begin = 500, .pid = 10, .tid = 11, .id = 3, .name = "c");
	SPAN(&made, .end = 600, .pid = 10, .tid = 12, .id = 3);
	read_at(&made, 550, 1, 10, 12, 100);
	read_at(&made, 650, 1, 10, 11, 1000);
	SPAN(&made, .begin = 700, .end = 900, .pid = 10, .id = 4, .name = "again");
	SPAN(&made, .begin = 750, .end = 850, .pid = 10, .id = 5, .name = "again");
	read_at(&made, 800, 1, 10, 10, 3);
	report = report_of(&made, 1000);
	SPANS(report, "a", "time_ns", 200);
	SPANS(report, "a", "read_bytes", 0);
	SPANS(report, "a", "inclusive.read_bytes", 1);
	SPANS(report, "b", "time_ns", 200);
	SPANS(report, "b", "read_bytes", 11);
	SPANS(report, "b", "inclusive.read_bytes", 11);
	SPANS(report, "c", "time_ns", 100);
	SPANS(report, "c", "unfinished", 0);
	SPANS(report, "c", "read_bytes", 100);
	SPANS(report, "again", "count", 2);
	SPANS(report, "again", "time_ns", 300);
	SPANS(report, "again", "union_ns", 200);
	SPANS(report, "again", "read_bytes", 3);
	SPANS(report, "again", "inclusive.read_bytes", 3); /* once, though two enclosing spans have
							    * this name */
	SPANS(report, "again", "inclusive.io_time_ns", 1);
	done(&made, report);
}

/* Ended twice, never begun, ID 0, one ID begun twice, begin and end at the same moment. */
TEST(test_odd_ids)
{
	struct made_trace made;
	struct report *report;
	const char *note;

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 100, .end = 200, .pid = 10, .id = 1, .name = "twice ended");
	SPAN(&made, .end = 250, .pid = 10, .id = 1);
	SPAN(&made, .end = 260, .pid = 10, .id = 77);
	SPAN(&made, .end = 270, .pid = 11, .id = 1);
	SPAN(&made, .begin = 300, .end = 310, .pid = 10, .id = 0, .name = "zero");
	SPAN(&made, .begin = 400, .end = 430, .pid = 10, .id = 5, .name = "reused");
	SPAN(&made, .begin = 410, .end = 450, .pid = 10, .id = 5, .name = "reused");
	SPAN(&made, .begin = 500, .end = 500, .pid = 10, .id = 6, .name = "moment");
	report = report_of(&made, 1000);
	SPANS(report, "twice ended", "count", 1);
	SPANS(report, "twice ended", "time_ns", 100);
	SPANS(report, "reused", "count", 2);
	SPANS(report, "reused", "time_ns", 20 + 50); /* the newest ends first */
	SPANS(report, "reused", "union_ns", 50);
	SPANS(report, "reused", "unfinished", 0);
	SPANS(report, "moment", "count", 1);
	SPANS(report, "moment", "max_ns", 0);
	SPANS(report, "moment", "unfinished", 0);
	SPANS(report, "zero", "count", 0);
	note = report_table(report, "spans")->note;
	assert_non_null(strstr(note, "4 span ends without a matching start"));
	done(&made, report);
}

/* Closed by an exit, an exec, and the end of the trace. Their PIDs are reused. */
TEST(test_never_ended)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	SPAN(&made, .begin = 100, .pid = 10, .id = 1, .name = "exit");
	SPAN(&made, .begin = 110, .pid = 10, .tid = 11, .id = 2, .name = "exit");
	EXIT(&made, .time = 150, .pid = 10, .tid = 11, .thread_only = 1, .comm = "a");
	EXIT(&made, .time = 200, .pid = 10, .code = 9, .comm = "a");
	made_fork(&made, 300, 9, 10);
	read_at(&made, 310, 10, 10, 10, 5);
	SPAN(&made, .begin = 320, .pid = 10, .id = 1, .name = "exec");
	EXEC(&made, .time = 400, .pid = 10, .comm = "b", .command = "b", .rank = -1);
	SPAN(&made, .end = 450, .pid = 10, .id = 1);
	SPAN(&made, .begin = 500, .pid = 10, .id = 1, .name = "end");
	report = report_of(&made, 1000);
	SPANS(report, "exit", "count", 2);
	SPANS(report, "exit", "unfinished", 2);
	SPANS(report, "exit", "time_ns", 100 + 90);
	SPANS(report, "exit", "read_bytes", 0);
	SPANS(report, "exec", "unfinished", 1);
	SPANS(report, "exec", "time_ns", 80);
	SPANS(report, "end", "unfinished", 1);
	SPANS(report, "end", "time_ns", 500);
	done(&made, report);
}

/* Workers forked before and during the span; a grandchild; a worker with a span of its own. */
TEST(test_inherited)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	made_fork(&made, 50, 10, 20);
	SPAN(&made, .begin = 100, .end = 900, .pid = 10, .id = 1, .name = "epoch");
	made_fork(&made, 150, 10, 21);
	made_fork(&made, 160, 21, 22);
	read_at(&made, 200, 1, 20, 20, 1);
	read_at(&made, 210, 1, 21, 21, 10);
	read_at(&made, 220, 1, 22, 22, 100);
	SPAN(&made, .begin = 300, .end = 400, .pid = 21, .id = 1, .name = "item",
	     .category = "data");
	read_at(&made, 310, 1, 21, 21, 1000);
	read_at(&made, 320, 1, 21, 99, 2000);  /* its process */
	read_at(&made, 330, 1, 22, 22, 10000); /* its nearest ancestor */
	read_at(&made, 340, 1, 20, 20, 4);
	read_at(&made, 350, 1, 10, 10, 8);
	read_at(&made, 950, 1, 20, 20, 16);
	report = report_of(&made, 1000);
	SPANS(report, "epoch", "read_bytes", 1 + 10 + 100 + 4 + 8);
	SPANS(report, "epoch", "operations", 5);
	SPANS(report, "epoch", "inherited", 4);
	SPANS(report, "epoch", "inclusive.read_bytes", 1 + 10 + 100 + 4 + 8 + 13000);
	SPANS(report, "item", "read_bytes", 13000);
	SPANS(report, "item", "inherited", 1);
	done(&made, report);
}

/* Spans are identified by name and category, which may hold any bytes. */
TEST(test_names)
{
	struct made_trace made;
	struct report *report;
	char name[32];

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 10, .end = 20, .pid = 10, .id = 1);
	SPAN(&made, .begin = 30, .end = 60, .pid = 10, .id = 2, .name = "a", .category = "x");
	SPAN(&made, .begin = 70, .end = 90, .pid = 10, .id = 3, .name = "a", .category = "y");
	SPAN(&made, .begin = 91, .end = 92, .pid = 10, .id = 3, .name = "\xff\033[2J");
	for (unsigned int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		SPAN(&made, .begin = 100 + i, .end = 100 + i, .pid = 10, .id = 4 + i, .name = name,
		     .category = i % 2 ? "compute" : "other");
	}
	SPAN(&made, .begin = 10000, .end = 20000, .pid = 10, .id = 1, .name = "late",
	     .category = "compute");
	SPAN(&made, .begin = 30000, .end = 40000, .pid = 10, .id = 1, .name = "late",
	     .category = "x");
	report = report_of(&made, 100000);
	assert_int_equal(report_table(report, "spans")->row_count, 4096 + 2);
	SPANS(report, "", "time_ns", 10);
	SPANS(report, "\xff\033[2J", "count", 1);
	check_text(report, "spans", 0, "name", "(others)");
	check_text(report, "spans", 1, "name", "(others)");
	assert_non_null(strstr(report_table(report, "spans")->note, "in (others)"));
	/* Folded names keep their category. */
	CHECK(report, "overlap", 0, "compute_ns", 10000);
	done(&made, report);
}

/* More unclosed spans than the limit: memory is bounded, and known values are reported. */
TEST(test_leaks)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	for (unsigned int i = 0; i < 300000; i++)
		SPAN(&made, .begin = 10 + i, .pid = 10, .id = i + 1, .name = "leak");
	read_at(&made, 400000, 1, 10, 10, 1);
	report = report_of(&made, 1000000);
	SPANS(report, "leak", "count", 1 << 18);
	SPANS(report, "leak", "unfinished", 1 << 18);
	SPANS(report, "leak", "read_bytes", 1);
	assert_non_null(strstr(report_table(report, "spans")->note,
			       "37,856 spans are missing: too many were open at once"));
	done(&made, report);
}

TEST(test_absent)
{
	struct made_trace made;
	struct report *report;

	for (int on = 0; on < 2; on++) {
		BEGIN(&made, .spans = on);
		read_at(&made, 100, 10, 10, 10, 5);
		report = report_of(&made, 1000);
		assert_int_equal(report_table(report, "spans")->absent, !on);
		assert_int_equal(report_table(report, "spans")->row_count, 0);
		assert_true(report_table(report, "overlap")->absent);
		assert_true(report_table(report, "levels")->absent);
		assert_true(report_table(report, "steps")->absent);
		if (on)
			assert_string_equal(report_table(report, "overlap")->note,
					    "no span of category compute: overlap is unknown");
		done(&made, report);
	}
	BEGIN(&made, .off = "syscall");
	SPAN(&made, .begin = 10, .end = 20, .pid = 10, .id = 1, .name = "a");
	report = report_of(&made, 1000);
	SPANS(report, "a", "time_ns", 10);
	SPANS(report, "a", "faults", 0);
	check_null(report, "spans", 0, "read_bytes");
	check_null(report, "spans", 0, "methods.direct.write_bytes");
	assert_true(report_table(report, "overlap")->absent);
	done(&made, report);
}

/* Methods add up to the bytes read, in any mix of layers. */
TEST(test_methods_add_up)
{
	struct made_trace made;
	struct report *report;
	const struct table *table;
	uint64_t sum = 0;

	BEGIN(&made, .spans = true, .async = true);
	SPAN(&made, .begin = 10, .end = 900, .pid = 10, .id = 1, .name = "a");
	read_at(&made, 100, 10, 10, 10, 5);
	CALL(&made, .time = 200, .dur = 20, .pid = 10, .op = M_READ, .file = 1, .result = 70,
	     .flags = TRACE_OP_DIRECT);
	CALL(&made, .time = 300, .dur = 10, .pid = 10, .op = M_URING_READ, .file = 1, .asked = 900,
	     .result = 900);
	report = report_of(&made, 1000);
	SPANS(report, "a", "methods.io_uring.read_bytes", 900);
	SPANS(report, "a", "methods.libaio.read_bytes", 0);
	SPANS(report, "a", "read_bytes", 975);
	table = report_table(report, "spans");
	for (size_t i = 0; i < table->column_count; i++) {
		const char *name = table->columns[i].name, *end = strrchr(name, '.');

		if (!strncmp(name, "methods.", 8) && !strcmp(end, ".read_bytes"))
			sum += table->cells[i].type == CELL_UINT ? table->cells[i].uint : 0;
	}
	assert_int_equal(sum, 975);
	done(&made, report);
	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 10, .end = 900, .pid = 10, .id = 1, .name = "a");
	report = report_of(&made, 1000);
	check_null(report, "spans", 0, "methods.io_uring.read_bytes");
	check_null(report, "spans", 0, "methods.libaio.write_bytes");
	done(&made, report);
}

/* --- random programs, against a brute-force search of every span for every operation --- */

enum { SPANS_MADE = 300, OPERATIONS_MADE = 600, MOMENTS = 6000, PIDS = 4, NAMES = 12 };

/* Spans use even times, operations odd ones: no two coincide. */
struct made_up {
	uint64_t begin, end, pid, tid, name;
};

static uint64_t random_state = 0x853c49e6748fea9b;

static uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 20) % limit;
}

/* The most recently begun open span of a thread or, for thread 0, of the whole process. */
static int last_open(const struct made_up *spans, uint64_t time, uint64_t pid, uint64_t tid)
{
	int found = -1;

	for (int i = 0; i < SPANS_MADE; i++)
		if (spans[i].pid == pid && (!tid || spans[i].tid == tid) && spans[i].begin < time &&
		    time < spans[i].end && (found < 0 || spans[i].begin > spans[found].begin))
			found = i;
	return found;
}

/* 10 is the parent of 11, 11 of 12, and 12 of 13. */
static int owner_of(const struct made_up *spans, uint64_t time, uint64_t pid, uint64_t tid,
		    bool *inherited)
{
	int found = last_open(spans, time, pid, tid);

	*inherited = false;
	if (found >= 0)
		return found;
	for (uint64_t ancestor = pid; ancestor >= 10; ancestor--) {
		found = last_open(spans, time, ancestor, 0);
		*inherited = found >= 0 && ancestor < pid;
		if (found >= 0)
			break;
	}
	return found;
}

static bool taken(const struct made_up *spans, int count, uint64_t begin)
{
	for (int i = 0; i < count; i++)
		if (spans[i].begin == begin)
			return true;
	return false;
}

static void make_random(struct made_trace *made, struct made_up *spans)
{
	BEGIN(made, .spans = true, .lanes = 3);
	EXEC(made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t pid = 10; pid < 10 + PIDS - 1; pid++)
		made_fork(made, 2, pid, pid + 1);
	for (int i = 0; i < SPANS_MADE; i++) {
		struct made_up *span = &spans[i];
		char name[16];

		do
			span->begin = 10 + 2 * random_below(MOMENTS / 2);
		while (taken(spans, i, span->begin));
		span->end = span->begin + 2 * random_below(i % 5 ? 30 : 300);
		span->pid = 10 + random_below(PIDS);
		span->tid = 1 + random_below(3);
		span->name = random_below(NAMES);
		snprintf(name, sizeof(name), "n%d", (int)span->name);
		SPAN(made, .begin = span->begin, .end = span->end, .pid = span->pid,
		     .tid = span->tid, .id = i + 1, .name = name, .lane = i % 3);
	}
}

TEST(test_random_owners)
{
	for (int round = 0; round < 40; round++) {
		uint64_t bytes[NAMES + 1] = { 0 }, inherited[NAMES + 1] = { 0 };
		static struct made_up spans[SPANS_MADE];
		struct made_trace made;
		struct report *report;
		uint64_t sum = 0;

		make_random(&made, spans);
		for (int i = 0; i < OPERATIONS_MADE; i++) {
			uint64_t time = 11 + 2 * random_below(MOMENTS / 2);
			uint64_t pid = 10 + random_below(PIDS), tid = 1 + random_below(4);
			bool from_ancestor;
			int owner = owner_of(spans, time, pid, tid, &from_ancestor);
			int name = owner < 0 ? NAMES : (int)spans[owner].name;

			read_at(&made, time, 1, pid, tid, 1 + i);
			bytes[name] += 1 + i;
			inherited[name] += from_ancestor;
		}
		report = report_of(&made, 100000);
		for (int i = 0; i < NAMES; i++) {
			char name[16];

			snprintf(name, sizeof(name), "n%d", i);
			SPANS(report, name, "read_bytes", bytes[i]);
			SPANS(report, name, "inherited", inherited[i]);
			sum += bytes[i];
		}
		CHECK(report, "totals", 0, "read.bytes", sum + bytes[NAMES]);
		done(&made, report);
	}
}

/* --- what threads did in spans --- */

#define STATES(report, name, column, expected)                                                     \
	CHECK(report, "span_states", find_row(report, "span_states", "name", name), column,        \
	      expected)

/*
 *         100       200       300       400       500       600
 *   10:10  |--- step ---------------------------------------|
 *   10:10       |- fetch ---------------|
 *   10:10         r===== (a lock in it)    sleep===   pipe=======  (the span ends before)
 *   10:10                pipe====
 *   10:11         r=====                    (no span of its own)
 */
TEST(test_states)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true, .threads = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	SPAN(&made, .begin = 100, .end = 600, .pid = 10, .id = 1, .name = "step");
	SPAN(&made, .begin = 150, .end = 400, .pid = 10, .id = 2, .name = "fetch");
	read_at(&made, 160, 50, 10, 10, 1000);
	read_at(&made, 160, 50, 10, 11, 1000);
	WAIT(&made, .time = 170, .dur = 20, .pid = 10, .state = "lock", .call = "flock");
	WAIT(&made, .time = 250, .dur = 60, .pid = 10, .state = "pipe", .call = "read");
	WAIT(&made, .time = 420, .dur = 30, .pid = 10, .state = "sleep", .call = "nanosleep");
	WAIT(&made, .time = 550, .dur = 90, .pid = 10, .state = "pipe", .call = "read");
	WAIT(&made, .time = 700, .dur = 50, .pid = 10, .state = "pipe", .call = "read");
	THREAD_TIME(&made, .time = 1, .dur = 999, .pid = 10, .states = { [THREAD_CPU] = 999 });
	report = report_of(&made, 1000);
	STATES(report, "fetch", "count", 1);
	STATES(report, "fetch", "time_ns", 250);
	STATES(report, "fetch", "io_ns", 50);
	STATES(report, "fetch", "lock_ns", 0); /* inside the read */
	STATES(report, "fetch", "pipe_ns", 60);
	STATES(report, "fetch", "running_ns", 250 - 50 - 60);
	STATES(report, "step", "time_ns", 500 - 250);
	STATES(report, "step", "io_ns", 0);
	STATES(report, "step", "sleep_ns", 30);
	STATES(report, "step", "pipe_ns", 50);
	STATES(report, "step", "running_ns", 250 - 30 - 50);
	done(&made, report);
}
