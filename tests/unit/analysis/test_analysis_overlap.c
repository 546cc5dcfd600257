/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * I/O hidden by compute: hand-computed intervals, and random jobs checked against a brute-force
 * painter that fills two million nanoseconds one by one.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdlib.h>

#include "ask_report.h"
#include "tests/random.h"

static uint64_t rank_number(const struct report *report, size_t row, const char *column)
{
	const struct table *ranks = ask(report, "overlap", 0, "by_rank")->table;
	int number = table_find_column(ranks, column);
	const struct cell *cell;

	assert_true(number >= 0 && row < ranks->row_count);
	cell = &ranks->cells[row * ranks->column_count + number];
	assert_true(cell->type == CELL_UINT || cell->type == CELL_INT);
	return cell->uint;
}

static size_t level(const struct report *report, const char *name)
{
	return find_row(report, "levels", "name", name);
}

/* Two concurrent processes, the second one a worker of the first:
 *
 *          100  200  300  400  500  600  700  800
 *   compute      |=========|         |====|
 *   data    |==|                |========|           [50,150) and [550,650)
 *   read      |======|                                [120, 280) of 10
 *   write                  |====|                     [390, 480) of 11
 *   fault                              |=|            [620, 650) of 10
 */
TEST(test_by_hand)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_fork(&made, 2, 10, 11);
	SPAN(&made, .begin = 200, .end = 400, .pid = 10, .id = 1, .name = "forward",
	     .category = "compute");
	SPAN(&made, .begin = 600, .end = 700, .pid = 10, .id = 2, .name = "forward",
	     .category = "compute");
	SPAN(&made, .begin = 50, .end = 150, .pid = 10, .id = 3, .name = "fetch",
	     .category = "data");
	SPAN(&made, .begin = 550, .end = 650, .pid = 11, .id = 4, .name = "getitem",
	     .category = "data");
	CALL(&made, .time = 120, .dur = 160, .pid = 10, .op = M_READ, .file = 1, .result = 8192);
	CALL(&made, .time = 390, .dur = 90, .pid = 11, .op = M_WRITE, .file = 1, .result = 4096);
	FAULT(&made, .time = 620, .dur = 30, .pid = 10, .file = 1, .fetched = 65536);
	report = report_of(&made, 1000);
	CHECK(report, "overlap", 0, "compute_ns", 300);
	CHECK(report, "overlap", 0, "io_ns", 160 + 90 + 30);
	CHECK(report, "overlap", 0, "unoverlapped_io_ns", 80 + 80);
	CHECK(report, "overlap", 0, "unoverlapped_compute_ns", 300 - 80 - 10 - 30);
	CHECK(report, "overlap", 0, "app_io_ns", 200);
	CHECK(report, "overlap", 0, "unoverlapped_app_io_ns", 150);
	CHECK(report, "overlap", 0, "unoverlapped_app_compute_ns", 250);
	CHECK(report, "overlap", 0, "read.count", 1);
	CHECK(report, "overlap", 0, "read.bytes", 8192);
	CHECK(report, "overlap", 0, "read.time_ns", 160);
	CHECK(report, "overlap", 0, "read.unoverlapped_ns", 80);
	CHECK(report, "overlap", 0, "write.unoverlapped_ns", 80);
	CHECK(report, "overlap", 0, "metadata.time_ns", 0);
	check_null(report, "overlap", 0, "metadata.bytes");
	CHECK(report, "overlap", 0, "mmap_read.count", 1);
	CHECK(report, "overlap", 0, "mmap_read.bytes", 65536);
	CHECK(report, "overlap", 0, "mmap_read.unoverlapped_ns", 0);
	assert_int_equal(ask(report, "overlap", 0, "by_rank")->table->row_count, 0);
	check_null(report, "overlap", 0, "slowest_rank");
	check_null(report, "overlap", 0, "spread.io_ns.max");
	CHECK(report, "levels", level(report, "compute"), "time_ns", 300);
	CHECK(report, "levels", level(report, "data loading"), "count", 1);
	CHECK(report, "levels", level(report, "data loading"), "time_ns", 100);
	CHECK(report, "levels", level(report, "data loading"), "unoverlapped_ns", 100);
	CHECK(report, "levels", level(report, "workers"), "time_ns", 100);
	CHECK(report, "levels", level(report, "workers"), "unoverlapped_ns", 50);
	CHECK(report, "levels", level(report, "item"), "count", 1);
	CHECK(report, "levels", level(report, "preprocess"), "count", 0);
	CHECK(report, "levels", level(report, "> 4 KiB"), "bytes", 8192);
	CHECK(report, "levels", level(report, "<= 4 KiB"), "bytes", 4096);
	CHECK(report, "levels", level(report, "others"), "count", 0);
	CHECK(report, "levels", level(report, "file mappings"), "time_ns", 30);
	CHECK(report, "levels", level(report, "file mappings"), "bytes", 65536);
	done(&made, report);
}

/* An asynchronous checkpoint is hidden, a synchronous one is not; nested compute counts once. */
TEST(test_checkpoints)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 100, .end = 500, .pid = 10, .id = 1, .name = "f",
	     .category = "compute");
	SPAN(&made, .begin = 200, .end = 300, .pid = 10, .id = 2, .name = "g",
	     .category = "compute");
	CALL(&made, .time = 250, .dur = 200, .pid = 10, .tid = 11, .op = M_WRITE, .file = 1,
	     .result = 9);
	SPAN(&made, .begin = 600, .end = 700, .pid = 10, .id = 3, .name = "save",
	     .category = "checkpoint");
	CALL(&made, .time = 610, .dur = 80, .pid = 10, .op = M_WRITE, .file = 1, .result = 9);
	report = report_of(&made, 1000);
	CHECK(report, "overlap", 0, "compute_ns", 400);
	CHECK(report, "overlap", 0, "io_ns", 280);
	CHECK(report, "overlap", 0, "unoverlapped_io_ns", 80);
	CHECK(report, "overlap", 0, "app_io_ns", 100);
	CHECK(report, "levels", level(report, "checkpoint"), "unoverlapped_ns", 100);
	CHECK(report, "levels", level(report, "checkpoint"), "io_ns", 80);
	check_null(report, "levels", level(report, "workers"), "io_ns");
	done(&made, report);
}

TEST(test_ranks)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 1);
	EXEC(&made, .time = 1, .pid = 20, .comm = "a", .command = "a", .rank = 0);
	made_fork(&made, 2, 20, 21);
	SPAN(&made, .begin = 100, .end = 300, .pid = 10, .id = 1, .category = "compute");
	SPAN(&made, .begin = 200, .end = 500, .pid = 20, .id = 1, .category = "compute");
	CALL(&made, .time = 250, .dur = 150, .pid = 10, .op = M_READ, .file = 1, .result = 9);
	CALL(&made, .time = 450, .dur = 100, .pid = 21, .op = M_READ, .file = 1, .result = 9);
	CALL(&made, .time = 700, .dur = 10, .pid = 30, .op = M_READ, .file = 1, .result = 9);
	report = report_of(&made, 1000);
	CHECK(report, "overlap", 0, "compute_ns", 400);
	CHECK(report, "overlap", 0, "io_ns", 260);
	CHECK(report, "overlap", 0, "unoverlapped_io_ns", 60); /* rank 0 hides some of rank 1's */
	assert_int_equal(ask(report, "overlap", 0, "by_rank")->table->row_count, 2);
	assert_int_equal(rank_number(report, 0, "rank"), 0);
	assert_int_equal(rank_number(report, 0, "compute_ns"), 300);
	assert_int_equal(rank_number(report, 0, "io_ns"), 100);
	assert_int_equal(rank_number(report, 0, "unoverlapped_io_ns"), 50);
	assert_int_equal(rank_number(report, 0, "unoverlapped_compute_ns"), 250);
	assert_int_equal(rank_number(report, 1, "rank"), 1);
	assert_int_equal(rank_number(report, 1, "unoverlapped_io_ns"), 100);
	CHECK(report, "overlap", 0, "slowest_rank", 1);
	CHECK(report, "overlap", 0, "spread.unoverlapped_io_ns.min", 50);
	CHECK(report, "overlap", 0, "spread.unoverlapped_io_ns.median", 50);
	CHECK(report, "overlap", 0, "spread.unoverlapped_io_ns.max", 100);
	CHECK(report, "overlap", 0, "spread.compute_ns.min", 200);
	CHECK(report, "overlap", 0, "spread.io_ns.max", 150);
	done(&made, report);
}

/* --- steps --- */

TEST(test_steps)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 3);
	SPAN(&made, .begin = 500, .end = 60000, .pid = 10, .id = 1, .name = "epoch");
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t at = 1000 * (i + 1), long_one = i == 7 ? 400 : 0;

		SPAN(&made, .begin = at, .end = at + 500 + long_one, .pid = 10, .id = 100 + i,
		     .name = "batch");
		SPAN(&made, .begin = at + 100, .end = at + 200, .pid = 10, .id = 200 + i,
		     .name = "f", .category = "compute");
		CALL(&made, .time = at + 150, .dur = 100 + long_one, .pid = 10, .op = M_READ,
		     .file = 1, .result = 10 + i);
		/* Began before the step, ended within it. */
		FAULT(&made, .time = at - 10, .dur = 30, .pid = 10, .tid = 11, .file = 1,
		      .fetched = 4096);
	}
	report = report_of(&made, 100000);
	assert_int_equal(report_table(report, "steps")->row_count, 20);
	for (uint64_t i = 0; i < 20; i++) {
		uint64_t long_one = i == 7 ? 400 : 0;

		check_text(report, "steps", i, "name", "batch");
		CHECK(report, "steps", i, "rank", 3);
		CHECK(report, "steps", i, "index", i);
		CHECK(report, "steps", i, "start_ns", 1000 * (i + 1));
		CHECK(report, "steps", i, "time_ns", 500 + long_one);
		CHECK(report, "steps", i, "compute_ns", 100);
		CHECK(report, "steps", i, "io_ns", 20 + 100 + long_one);
		CHECK(report, "steps", i, "stall_ns", 20 + 50 + long_one);
		CHECK(report, "steps", i, "read_bytes", 10 + i);
		CHECK(report, "steps", i, "mmap_fetched_bytes", 0);
		assert_int_equal(ask(report, "steps", i, "outlier")->flag, i == 7);
	}
	assert_non_null(strstr(report_table(report, "steps")->note, "1 is an outlier"));
	done(&made, report);
}

/*
 * Which spans are steps: name matches before category, category before spans that contain compute.
 */
TEST(test_which_steps)
{
	for (int round = 0; round < 3; round++) {
		static const char *const expected[] = { "inner", "second", "step" };
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .spans = true);
		for (uint64_t i = 0; i < 3; i++) {
			uint64_t at = 1000 * (i + 1);

			SPAN(&made, .begin = at, .end = at + 900, .pid = 10, .id = 1,
			     .name = "outer");
			SPAN(&made, .begin = at + 1, .end = at + 800, .pid = 10, .id = 2,
			     .name = "inner");
			SPAN(&made, .begin = at + 2, .end = at + 100, .pid = 10, .id = 3,
			     .name = "f", .category = "compute");
			SPAN(&made, .begin = at + 300, .end = at + 600, .pid = 10, .id = 4,
			     .name = "inner");
			SPAN(&made, .begin = at + 400, .end = at + 500, .pid = 10, .id = 5,
			     .name = "f", .category = "compute");
		}
		if (round >= 1)
			SPAN(&made, .begin = 6000, .end = 6001, .pid = 10, .id = 6,
			     .name = "second", .category = "step");
		if (round == 2)
			SPAN(&made, .begin = 7000, .end = 7001, .pid = 10, .id = 7, .name = "step",
			     .category = "compute");
		report = report_of(&made, 10000);
		check_text(report, "steps", 0, "name", expected[round]);
		done(&made, report);
	}
}

/* As PyTorch's hooks mark a job: a step lasts from one optimizer call's end to the next one's. */
TEST(test_steps_between)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	EXEC(&made, .time = 1, .pid = 20, .comm = "a", .command = "a", .rank = 1);
	SPAN(&made, .begin = 500, .end = 9000, .pid = 10, .id = 99, .name = "epoch");
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t at = 1000 * (i + 1);

		for (uint64_t pid = 10; pid <= 20; pid += 10) {
			SPAN(&made, .begin = at, .end = at + 100 + i * pid, .pid = pid, .id = i + 1,
			     .name = "optimizer.step", .category = "compute");
			CALL(&made, .time = at + 500, .dur = pid, .pid = pid, .op = M_READ,
			     .file = 1, .result = pid);
		}
	}
	report = report_of(&made, 10000);
	assert_int_equal(report_table(report, "steps")->row_count, 2 * 4);
	for (uint64_t i = 0; i < 8; i++) {
		uint64_t rank = i % 2, pid = 10 + 10 * rank;

		CHECK(report, "steps", i, "rank", rank);
		CHECK(report, "steps", i, "index", i / 2);
		CHECK(report, "steps", i, "start_ns", 1100 + i / 2 * (1000 + pid));
		CHECK(report, "steps", i, "time_ns", 1000 + pid);
		CHECK(report, "steps", i, "stall_ns", pid);
		CHECK(report, "steps", i, "read_bytes", pid);
	}
	done(&made, report);
}

/* More steps than the table lists: it keeps the longest. */
TEST(test_many_steps)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	for (uint64_t i = 0; i < 10000; i++)
		SPAN(&made, .begin = 1000 * (i + 1),
		     .end = 1000 * (i + 1) + 100 + (i % 1000 == 5 ? 50 : i % 3), .pid = 10,
		     .id = i + 1, .name = "step");
	report = report_of(&made, 100000000);
	assert_int_equal(report_table(report, "steps")->row_count, 4096);
	for (size_t i = 0, found = 0; i < 4096; i++) {
		bool outlier = ask(report, "steps", i, "outlier")->flag;

		assert_int_equal(outlier, ask(report, "steps", i, "time_ns")->uint == 150);
		found += outlier;
		assert_true(i < 4095 || found == 10);
		check_null(report, "steps", i, "stall_ns"); /* compute times are unknown */
	}
	assert_non_null(strstr(report_table(report, "steps")->note, "10,000 spans \"step\""));
	assert_non_null(strstr(report_table(report, "steps")->note, "4,096 longest"));
	done(&made, report);
}

/* --- the painter --- */

#define WIDTH 2000000
#define SPANS 400
#define OPERATIONS 1500
#define PIDS 4

enum { P_IO, P_READ, P_WRITE, P_META, P_MAPPED, P_COMPUTE, P_APP, P_SAVE, P_BITS };
enum { JOB, RANK0, RANK1, GROUPS };

static unsigned char *painting[GROUPS];
static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 20) % limit;
}

/* 10 and its child 11 are rank 0, 12 is rank 1, 13 has no rank. */
static const int group_of[PIDS] = { RANK0, RANK0, RANK1, JOB };

static void paint(int process, int bit, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++) {
		painting[JOB][i] |= 1u << bit;
		painting[group_of[process]][i] |= 1u << bit;
	}
}

/* Time during which all of `with` and none of `without` was active. */
static uint64_t painted(int group, unsigned int with, unsigned int without, uint64_t from,
			uint64_t to)
{
	uint64_t sum = 0;

	for (uint64_t i = from; i < to; i++)
		sum += (painting[group][i] & with) == with && !(painting[group][i] & without);
	return sum;
}

static void paint_spans(struct made_trace *made, const uint64_t *ends)
{
	static const char *const categories[] = { "compute", "io", "data", "checkpoint", "other" };

	for (uint64_t i = 0; i < SPANS; i++) {
		uint64_t begin = 10 + random_below(WIDTH / 2), kind = random_below(5);
		uint64_t end = begin + random_below(i % 7 ? 3000 : 300000);
		int process = random_below(PIDS);
		bool ends_itself = random_below(20);

		if (begin >= ends[process])
			continue;
		/* A span cannot end after its process has exited. */
		ends_itself &= end < ends[process];
		SPAN(made, .begin = begin, .end = ends_itself ? end : 0, .pid = 10 + process,
		     .tid = 100 + random_below(3), .id = i + 1, .name = "n", .lane = i % 3,
		     .category = categories[kind]);
		end = ends_itself ? end : ends[process];
		if (kind == 0)
			paint(process, P_COMPUTE, begin, end);
		else if (kind < 4)
			paint(process, P_APP, begin, end);
		if (kind == 3)
			paint(process, P_SAVE, begin, end);
	}
}

static void paint_operations(struct made_trace *made)
{
	static const int bits[] = { P_READ, P_WRITE, P_META, P_MAPPED };
	static const int ops[] = { M_READ, M_WRITE, M_FSTAT };

	for (uint64_t i = 0; i < OPERATIONS; i++) {
		uint64_t start = 10 + random_below(WIDTH / 2), kind = random_below(4);
		uint64_t dur = random_below(i % 9 ? 1000 : 100000);
		int process = random_below(PIDS), thread = 100 + random_below(3);

		if (kind == 3)
			FAULT(made, .time = start, .dur = dur, .pid = 10 + process, .tid = thread,
			      .file = 1, .lane = i % 3);
		else
			CALL(made, .time = start, .dur = dur, .pid = 10 + process, .tid = thread,
			     .op = ops[kind], .file = 1, .result = 0, .lane = i % 3);
		paint(process, P_IO, start, start + dur);
		paint(process, bits[kind], start, start + dur);
	}
}

static void check_rank(const struct report *report, size_t row, int group)
{
	const unsigned int io = 1u << P_IO, compute = 1u << P_COMPUTE, app = 1u << P_APP;
	const struct {
		const char *column;
		unsigned int with, without;
	} measures[] = {
		{ "compute_ns", compute, 0 },
		{ "io_ns", io, 0 },
		{ "unoverlapped_io_ns", io, compute },
		{ "unoverlapped_compute_ns", compute, io },
		{ "app_io_ns", app, 0 },
		{ "unoverlapped_app_io_ns", app, compute },
		{ "unoverlapped_app_compute_ns", compute, app },
	};

	for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
		uint64_t expected = painted(group, measures[i].with, measures[i].without, 0, WIDTH);

		if (group == JOB)
			CHECK(report, "overlap", 0, measures[i].column, expected);
		else
			assert_int_equal(rank_number(report, row, measures[i].column), expected);
	}
}

static void check_classes(const struct report *report)
{
	static const struct {
		int bit;
		const char *time, *unoverlapped;
	} classes[] = {
		{ P_READ, "read.time_ns", "read.unoverlapped_ns" },
		{ P_WRITE, "write.time_ns", "write.unoverlapped_ns" },
		{ P_META, "metadata.time_ns", "metadata.unoverlapped_ns" },
		{ P_MAPPED, "mmap_read.time_ns", "mmap_read.unoverlapped_ns" },
	};

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		unsigned int bit = 1u << classes[i].bit;

		CHECK(report, "overlap", 0, classes[i].time, painted(JOB, bit, 0, 0, WIDTH));
		CHECK(report, "overlap", 0, classes[i].unoverlapped,
		      painted(JOB, bit, 1u << P_COMPUTE, 0, WIDTH));
	}
}

/* Waits of the job by kind: how long, and how much of each is I/O. */
static void check_waits(const struct report *report)
{
	const unsigned int save = 1u << P_SAVE, compute = 1u << P_COMPUTE;
	size_t row = level(report, "checkpoint");

	CHECK(report, "levels", row, "time_ns", painted(JOB, save, 0, 0, WIDTH));
	CHECK(report, "levels", row, "unoverlapped_ns", painted(JOB, save, compute, 0, WIDTH));
	CHECK(report, "levels", row, "io_ns", painted(JOB, save | 1u << P_IO, compute, 0, WIDTH));
}

/* Consecutive steps in the process of rank 1. */
static void make_steps(struct made_trace *made, uint64_t times[][2], size_t count)
{
	uint64_t at = 20;

	for (size_t i = 0; i < count; i++) {
		times[i][0] = at + random_below(1000);
		times[i][1] = times[i][0] + random_below(30000);
		at = times[i][1] + 1;
		SPAN(made, .begin = times[i][0], .end = times[i][1], .pid = 12, .tid = 999,
		     .id = 100000 + i, .name = "step");
	}
}

static void check_steps(const struct report *report, uint64_t times[][2], size_t count)
{
	assert_int_equal(report_table(report, "steps")->row_count, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t from = times[i][0], to = times[i][1];

		CHECK(report, "steps", i, "time_ns", to - from);
		CHECK(report, "steps", i, "io_ns", painted(RANK1, 1u << P_IO, 0, from, to));
		CHECK(report, "steps", i, "compute_ns",
		      painted(RANK1, 1u << P_COMPUTE, 0, from, to));
		CHECK(report, "steps", i, "stall_ns",
		      painted(RANK1, 1u << P_IO, 1u << P_COMPUTE, from, to));
	}
}

TEST(test_painter)
{
	enum { STEPS = 20 };

	for (int i = 0; i < GROUPS; i++)
		painting[i] = malloc(WIDTH);
	for (int round = 0; round < 25; round++) {
		uint64_t ends[PIDS], times[STEPS][2];
		struct made_trace made;
		struct report *report;

		for (int i = 0; i < GROUPS; i++)
			memset(painting[i], 0, WIDTH);
		for (int i = 0; i < PIDS; i++)
			ends[i] = round % 2 ? WIDTH : WIDTH / 2 + random_below(WIDTH / 2);
		BEGIN(&made, .spans = true, .lanes = 3);
		EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 0);
		made_fork(&made, 2, 10, 11);
		EXEC(&made, .time = 1, .pid = 12, .comm = "a", .command = "a", .rank = 1);
		EXEC(&made, .time = 1, .pid = 13, .comm = "a", .command = "a", .rank = -1);
		paint_spans(&made, ends);
		paint_operations(&made);
		make_steps(&made, times, STEPS);
		for (int i = 0; i < PIDS; i++)
			if (ends[i] < WIDTH)
				EXIT(&made, .time = ends[i], .pid = 10 + i, .comm = "a");
		report = report_of(&made, WIDTH);
		check_rank(report, 0, JOB);
		check_rank(report, 0, RANK0);
		check_rank(report, 1, RANK1);
		check_classes(report);
		check_waits(report);
		check_steps(report, times, STEPS);
		done(&made, report);
	}
	for (int i = 0; i < GROUPS; i++)
		free(painting[i]);
}

/* The missing spans are reported only where that is certain. */
static void check_no_spans(void (*make)(struct made_trace *made), const char *expected)
{
	struct made_trace made;
	struct report *report;

	make(&made);
	report = made_report(&made.reader, 1);
	assert_true(report_table(report, "levels")->absent);
	assert_string_equal(report_table(report, "levels")->note, expected);
	done(&made, report);
}

static void no_spans(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_finish(made, 0, 1000);
}

static void lost_spans(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made->kinds[TRACE_SPAN_BEGIN].events += 1;
	made->kinds[TRACE_SPAN_BEGIN].lost += 1;
	made_finish(made, 0, 1000);
}

static void cut_off(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_abandon(made);
}

static void not_recorded(struct made_trace *made)
{
	BEGIN(made, .off = "span", .spans = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_finish(made, 0, 1000);
}

TEST(test_no_spans)
{
	check_no_spans(no_spans, "no spans were marked");
	check_no_spans(lost_spans,
		       "no spans were recorded, but some were lost or may have been missed");
	check_no_spans(cut_off, "no spans were recorded, but the trace is incomplete");
	check_no_spans(not_recorded, "application spans were not recorded");
}
