/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Epochs, and steps that are loop bodies, found by name, category and arguments; expected reads
 * computed by hand.
 */
#include "unit_test.h"

#include "ask_report.h"

#define EPOCH(digit)                                                                               \
	"\x81\xa5"                                                                                 \
	"epoch" digit /* {"epoch": digit} */

static double real(const struct report *report, size_t row, const char *column)
{
	const struct cell *cell = ask(report, "epochs", row, column);

	assert_int_equal(cell->type, CELL_REAL);
	return cell->real;
}

/*
 * Two ranks with two epochs of 4000 each, rank 1 starting 10 later. Each epoch waits 1000 for data,
 * 600 of it reading, and in the first epoch 400 of those come from storage; then it computes for
 * 2000, which hides 100 of a read of 300. A worker of rank 0 makes three items per epoch.
 */
static void append_epochs(struct made_trace *made)
{
	EXEC(made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	EXEC(made, .time = 1, .pid = 20, .comm = "a", .command = "a", .rank = 1);
	for (uint64_t epoch = 0; epoch < 2; epoch++) {
		for (uint64_t rank = 0; rank < 2; rank++) {
			uint64_t at = 1000 + 5000 * epoch + 10 * rank, pid = 10 + 10 * rank;

			SPAN(made, .begin = at, .end = at + 4000, .pid = pid, .id = 1,
			     .name = "epoch", .args = epoch ? EPOCH("\x05") : EPOCH("\x04"));
			SPAN(made, .begin = at + 100, .end = at + 1100, .pid = pid, .id = 2,
			     .name = "fetch", .category = "data");
			CALL(made, .time = at + 200, .dur = 500, .pid = pid, .op = M_READ,
			     .file = 1, .result = 600, .fetched = epoch ? 0 : 400);
			SPAN(made, .begin = at + 1500, .end = at + 3500, .pid = pid, .id = 3,
			     .name = "f", .category = "compute");
			CALL(made, .time = at + 3400, .dur = 300, .pid = pid, .op = M_READ,
			     .file = 1, .result = 1);
			FAULT(made, .time = at + 1600, .dur = 10, .pid = pid, .file = 1,
			      .fetched = epoch ? 0 : 4096);
		}
	}
}

TEST(test_named)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	append_epochs(&made);
	made_fork(&made, 500, 10, 11);
	for (uint64_t i = 0; i < 6; i++)
		SPAN(&made, .begin = 1500 + 1000 * i + (i > 2 ? 2000 : 0),
		     .end = 1600 + 1000 * i + (i > 2 ? 2000 : 0), .pid = 11, .id = 1,
		     .name = "item", .category = "data");
	report = report_of(&made, 12000);
	assert_int_equal(report_table(report, "epochs")->row_count, 4);
	for (size_t row = 0; row < 4; row++) {
		uint64_t rank = row % 2, epoch = row / 2;

		CHECK(report, "epochs", row, "epoch", 4 + epoch);
		CHECK(report, "epochs", row, "rank", rank);
		CHECK(report, "epochs", row, "start_ns", 1000 + 5000 * epoch + 10 * rank);
		CHECK(report, "epochs", row, "time_ns", 4000);
		CHECK(report, "epochs", row, "compute_ns", 2000);
		CHECK(report, "epochs", row, "wait_ns", 1000);
		CHECK(report, "epochs", row, "io_ns", 500 + 10 + 300);
		CHECK(report, "epochs", row, "unoverlapped_io_ns", 500 + 200);
		CHECK(report, "epochs", row, "read_bytes", 601);
		CHECK(report, "epochs", row, "fetched_bytes", epoch ? 0 : 400 + 4096);
		CHECK(report, "epochs", row, "samples", rank ? 0 : 3);
		assert_float_equal(real(report, row, "from_memory"), epoch ? 1 : 201.0 / 601, 1e-9);
		assert_float_equal(real(report, row, "utilization"), 0.5, 1e-9);
		assert_float_equal(real(report, row, "compute_share"), 2.0 / 3, 1e-9);
		assert_float_equal(real(report, row, "samples_per_second"), rank ? 0 : 750000,
				   1e-3);
	}
	done(&made, report);
}

/*
 * DLIO's marks in an epoch: steps, checkpoints between them and concurrent with them, an
 * evaluation.
 */
static void append_steps(struct made_trace *made)
{
	static const struct {
		uint64_t begin, end, tid;
		const char *name, *category;
	} spans[] = {
		{ 1000, 11000, 10, "epoch.block", "pipeline" },
		{ 1000, 7750, 10, "train", "pipeline" },
		{ 1000, 2000, 10, "fetch.iter", "dataloader" }, /* workers start */
		{ 2100, 3000, 10, "compute", "compute" },
		{ 3100, 3300, 10, "fetch.iter", "dataloader" },
		{ 3400, 4000, 10, "compute", "compute" }, /* 600 of 1000 */
		{ 4100, 4900, 10, "save", "checkpoint" },
		{ 5200, 5900, 10, "compute", "compute" },
		{ 6000, 6800, 10, "compute", "compute" }, /* 800 of 900 */
		{ 6100, 7500, 11, "save", "checkpoint" }, /* concurrent */
		{ 7000, 7700, 10, "compute", "compute" }, /* 700 of 900 */
		{ 7800, 9500, 10, "evaluate", "pipeline" },
		{ 8000, 8400, 10, "compute", "compute" },
		{ 8500, 9000, 10, "compute", "compute" },
		{ 9600, 9700, 10, "compute", "compute" },
		{ 11000, 13000, 10, "epoch.block", "pipeline" },
		{ 11500, 12000, 10, "compute", "compute" },
		{ 12100, 12500, 10, "compute", "compute" }, /* 400 of 500 */
	};

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		SPAN(made, .begin = spans[i].begin, .end = spans[i].end, .pid = 10,
		     .tid = spans[i].tid, .id = i + 1, .name = spans[i].name,
		     .category = spans[i].category);
}

/* The first step of an epoch, and the first after an interruption, are left out. */
TEST(test_utilization)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	append_steps(&made);
	report = report_of(&made, 14000);
	assert_int_equal(report_table(report, "epochs")->row_count, 2);
	CHECK(report, "epochs", 0, "compute_ns", 4700);
	assert_float_equal(real(report, 0, "utilization"), 2100.0 / 2800, 1e-9);
	assert_float_equal(real(report, 0, "compute_time_share"), 0.47, 1e-9);
	assert_float_equal(real(report, 1, "utilization"), 400.0 / 500, 1e-9);
	assert_float_equal(real(report, 1, "compute_time_share"), 0.45, 1e-9);
	done(&made, report);
}

/*
 * An innermost span is an item: marked by the program and by a hook around it, by only one of them,
 * and three in one enclosing span; another process's is a separate item.
 */
TEST(test_samples)
{
	static const struct {
		uint64_t begin, end, pid;
		const char *name;
	} spans[] = {
		{ 1000, 5000, 10, "item" },  { 1100, 4900, 10, "reader" },
		{ 1200, 4800, 10, "item" },  { 1300, 1400, 10, "get_item" }, /* 1 */
		{ 5100, 5200, 10, "item" },				     /* 2 */
		{ 6000, 9000, 10, "items" }, { 6100, 6200, 10, "item" },     /* 3 */
		{ 6300, 6400, 10, "item" },  { 6500, 6600, 10, "item" },     /* 5 */
		{ 6100, 6200, 11, "item" },				     /* 6 */
	};
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	SPAN(&made, .begin = 900, .end = 9500, .pid = 10, .id = 99, .name = "epoch");
	made_fork(&made, 6050, 10, 11);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++)
		SPAN(&made, .begin = spans[i].begin, .end = spans[i].end, .pid = spans[i].pid,
		     .id = i + 1, .name = spans[i].name, .category = "data");
	report = report_of(&made, 10000);
	CHECK(report, "epochs", 0, "samples", 6);
	CHECK(report, "levels", find_row(report, "levels", "name", "item"), "count", 6);
	CHECK(report, "levels", find_row(report, "levels", "name", "item"), "time_ns",
	      4000 + 100 + 3000);
	done(&made, report);
}

/* Names take precedence over categories, categories over arguments. */
TEST(test_which)
{
	for (int round = 0; round < 4; round++) {
		static const uint64_t rows[] = { 0, 2, 3, 1 };
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .spans = true);
		SPAN(&made, .begin = 5, .end = 6, .pid = 10, .id = 9, .name = "other",
		     .args = "\x81\xa5"
			     "epoch\xa1"
			     "x");
		for (uint64_t i = 0; i < 3; i++) {
			uint64_t at = 1000 * (i + 1);

			if (round >= 1) /* 0, 0, 1: one epoch in two parts, and another */
				SPAN(&made, .begin = at, .end = at + 100, .pid = 10, .id = 1,
				     .name = "batch",
				     .args = i == 2 ? EPOCH("\x02") : EPOCH("\x01"));
			if (round >= 2)
				SPAN(&made, .begin = at + 200, .end = at + 300, .pid = 10, .id = 2,
				     .name = "pass", .category = "epoch");
		}
		if (round == 3)
			SPAN(&made, .begin = 6000, .end = 6001, .pid = 10, .id = 3,
			     .name = "epoch.block", .category = "pipeline",
			     .args = "\x82\xa5"
				     "epoch\x07\xa5"
				     "count\x03");
		report = report_of(&made, 10000);
		if (!round) {
			assert_true(report_table(report, "epochs")->absent);
			done(&made, report);
			continue;
		}
		assert_int_equal(report_table(report, "epochs")->row_count, rows[round]);
		if (round == 1) {
			CHECK(report, "epochs", 0, "epoch", 1);
			CHECK(report, "epochs", 0, "start_ns", 1000);
			CHECK(report, "epochs", 0, "time_ns", 1100);
			CHECK(report, "epochs", 1, "epoch", 2);
			CHECK(report, "epochs", 1, "time_ns", 100);
		} else if (round == 2) { /* counted */
			for (size_t row = 0; row < 3; row++)
				CHECK(report, "epochs", row, "epoch", row);
		} else {
			CHECK(report, "epochs", 0, "epoch", 3);
		}
		check_null(report, "epochs", 0, "rank");
		check_null(report, "epochs", 0, "compute_ns");
		check_null(report, "epochs", 0, "wait_ns");
		check_null(report, "epochs", 0, "utilization");
		check_null(report, "epochs", 0, "samples");
		check_null(report, "epochs", 0, "from_memory");
		done(&made, report);
	}
}

/* Up to the limit and beyond; later parts of recorded epochs still count. */
TEST(test_many)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	for (uint64_t i = 0; i < 5000; i++) {
		char args[] = "\x81\xa5"
			      "epoch\xcd\x01\x01";

		args[8] = 1 + i / 250;
		args[9] = 1 + i % 250;
		SPAN(&made, .begin = 100 * (i + 1), .end = 100 * (i + 1) + 50, .pid = 10, .id = 1,
		     .name = "s", .args = args);
	}
	SPAN(&made, .begin = 600000, .end = 600001, .pid = 10, .id = 2, .name = "s",
	     .args = "\x81\xa5"
		     "epoch\xcd\x01\x01");
	report = report_of(&made, 1000000);
	assert_int_equal(report_table(report, "epochs")->row_count, 4096);
	CHECK(report, "epochs", 0, "time_ns", 600001 - 100);
	assert_non_null(strstr(report_table(report, "epochs")->note, "904 more"));
	done(&made, report);
}

/* An epoch that contains compute is not itself a step. */
TEST(test_no_steps)
{
	static const struct {
		const char *name, *category;
		size_t steps;
	} around[] = { { "epoch", "train", 0 },
		       { "epoch.block", "train", 0 },
		       { "pass", "epoch", 0 },
		       { "batch", "train", 2 } };
	struct made_trace made;
	struct report *report;

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++) {
		BEGIN(&made, .spans = true);
		for (uint64_t at = 1000; at < 3000; at += 1000) {
			SPAN(&made, .begin = at, .end = at + 500, .pid = 10, .id = 1,
			     .name = around[i].name, .category = around[i].category);
			SPAN(&made, .begin = at + 100, .end = at + 200, .pid = 10, .id = 2,
			     .name = "forward", .category = "compute");
		}
		report = report_of(&made, 10000);
		assert_int_equal(report_table(report, "steps")->row_count, around[i].steps);
		done(&made, report);
	}
}

/* A loop's step begins with the wait for its data; its body is not application I/O. */
TEST(test_loops)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true);
	for (uint64_t i = 0; i < 3; i++) {
		uint64_t at = 1000 * (i + 1);

		SPAN(&made, .begin = at, .end = at + 100 + i, .pid = 10, .id = 1,
		     .name = "fetch.iter", .category = "dataloader");
		SPAN(&made, .begin = at + 200, .end = at + 700, .pid = 10, .id = 2,
		     .name = "fetch.block", .category = "dataloader");
		SPAN(&made, .begin = at + 300, .end = at + 600, .pid = 10, .id = 3, .name = "step",
		     .category = "compute");
		SPAN(&made, .begin = at + 20, .end = at + 30, .pid = 10, .id = 4, .name = "read",
		     .category = "reader");
		/* belongs to another loop */
		SPAN(&made, .begin = at + 150, .end = at + 160, .pid = 10, .id = 5,
		     .name = "other.iter", .category = "dataloader");
	}
	report = report_of(&made, 10000);
	assert_int_equal(report_table(report, "steps")->row_count, 3);
	for (uint64_t i = 0; i < 3; i++) {
		check_text(report, "steps", i, "name", "fetch.block");
		CHECK(report, "steps", i, "start_ns", 1000 * (i + 1));
		CHECK(report, "steps", i, "time_ns", 700);
		CHECK(report, "steps", i, "compute_ns", 300);
		CHECK(report, "steps", i, "wait_ns", 110 + i);
	}
	CHECK(report, "overlap", 0, "app_io_ns", 3 * 110 + 0 + 1 + 2);
	done(&made, report);
}
