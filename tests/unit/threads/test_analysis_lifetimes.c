/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files made and removed during a run: by whom, for how long; renamed and overwritten files; names
 * that refer to another file.
 */
#include "unit_test.h"

#include <errno.h>

#include "ask_report.h"

#define MS 1000000ull
#define CREATES (TRACE_OP_CREATE | TRACE_OP_WRITABLE)

static void begin(struct made_trace *made)
{
	BEGIN(made, .spans = true);
	EXEC(made, .time = 10, .pid = 10, .comm = "maker", .command = "maker");
	EXEC(made, .time = 11, .pid = 20, .comm = "remover", .command = "remover");
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .path = "/data");
}

static void make_file(struct made_trace *made, uint64_t time, uint64_t id, const char *path)
{
	FILE_ROW(made, .time = time, .id = id, .dev = 1, .ino = id, .path = path);
	CALL(made, .time = time, .dur = 10, .pid = 10, .op = M_OPENAT, .file = id, .result = 3,
	     .flags = CREATES);
}

static size_t rows(const struct report *report)
{
	return report_table(report, "lifetimes")->row_count;
}

TEST(test_removed)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	make_file(&made, 10 + 10 * MS, 2, "/data/long");
	CALL(&made, .time = 10 + 11 * MS, .dur = 10, .pid = 10, .op = M_WRITE, .file = 2,
	     .result = 500);
	make_file(&made, 10 + 20 * MS, 3, "/data/short");
	make_file(&made, 10 + 21 * MS, 4, "/data/kept");
	/* A failed removal, and one of a file that existed before. */
	CALL(&made, .time = 10 + 22 * MS, .dur = 10, .pid = 20, .op = M_UNLINK, .dir = 1,
	     .path = "long", .result = -EACCES);
	CALL(&made, .time = 10 + 23 * MS, .dur = 10, .pid = 20, .op = M_UNLINK, .dir = 1,
	     .path = "before", .result = 0);
	CALL(&made, .time = 10 + 25 * MS, .dur = 10, .pid = 10, .op = M_UNLINK,
	     .path = "/data/short", .result = 0);
	CALL(&made, .time = 10 + 40 * MS, .dur = 10, .pid = 20, .op = M_UNLINK, .dir = 1,
	     .path = "long", .result = 0);
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 2);
	assert_int_equal(find_row(report, "lifetimes", "path", "/data/short"), 0);
	assert_int_equal(find_row(report, "lifetimes", "path", "/data/long"), 1);
	CHECK(report, "lifetimes", 0, "lived_ns", 5 * MS + 10);
	CHECK(report, "lifetimes", 0, "remover.pid", 10);
	CHECK(report, "lifetimes", 1, "lived_ns", 30 * MS + 10);
	CHECK(report, "lifetimes", 1, "made_ns", 10 + 10 * MS);
	CHECK(report, "lifetimes", 1, "written_bytes", 500);
	CHECK(report, "lifetimes", 1, "maker.pid", 10);
	CHECK(report, "lifetimes", 1, "remover.pid", 20);
	assert_int_equal(find_row(report, "lifetimes", "maker.comm", "maker"), 0);
	assert_int_equal(find_row(report, "lifetimes", "remover.comm", "remover"), 1);
	done(&made, report);
}

/*
 * As git does: created under a temporary name, then linked to its real one. Removed with its last
 * name.
 */
TEST(test_linked)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	for (int i = 0; i < 2; i++) {
		make_file(&made, 10 + (1 + 10 * i) * MS, 2 + i, i ? "/data/tmp2" : "/data/tmp1");
		CALL(&made, .time = 10 + (2 + 10 * i) * MS, .dur = 10, .pid = 10, .op = M_LINK,
		     .dir = 1, .path = i ? "tmp2" : "tmp1",
		     .path2 = i ? "/data/real2" : "/data/real1", .result = 0);
		CALL(&made, .time = 10 + (3 + 10 * i) * MS, .dur = 10, .pid = 10, .op = M_UNLINK,
		     .dir = 1, .path = i ? "tmp2" : "tmp1", .result = 0);
	}
	CALL(&made, .time = 10 + 50 * MS, .dur = 10, .pid = 20, .op = M_UNLINK, .dir = 1,
	     .path = "real2", .result = 0);
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 1);
	CHECK(report, "lifetimes", 0, "lived_ns", 39 * MS + 10);
	CHECK(report, "lifetimes", 0, "remover.pid", 20);
	done(&made, report);
}

TEST(test_taken_name)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	make_file(&made, 10 + 10 * MS, 2, "/data/a");
	make_file(&made, 10 + 20 * MS, 3, "/data/a");
	CALL(&made, .time = 10 + 30 * MS, .dur = 10, .pid = 10, .op = M_UNLINK, .path = "/data/a",
	     .result = 0);
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 1);
	CHECK(report, "lifetimes", 0, "lived_ns", 20 * MS + 10);
	done(&made, report);
}

/* A new file renamed over another one removes it, and lives on under that name. */
TEST(test_renamed)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	make_file(&made, 10 + 10 * MS, 2, "/data/old");
	make_file(&made, 10 + 20 * MS, 3, "/data/new.tmp");
	CALL(&made, .time = 10 + 30 * MS, .dur = 10, .pid = 10, .op = M_RENAME, .dir = 1,
	     .path = "new.tmp", .path2 = "/data/old", .result = 0);
	/* The name is free again. */
	CALL(&made, .time = 10 + 31 * MS, .dur = 10, .pid = 10, .op = M_UNLINK, .dir = 1,
	     .path = "new.tmp", .result = 0);
	/* Reopened, not created again. */
	CALL(&made, .time = 10 + 40 * MS, .dur = 10, .pid = 10, .op = M_OPENAT, .file = 3,
	     .result = 3, .flags = CREATES);
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 1);
	assert_int_equal(find_row(report, "lifetimes", "path", "/data/old"), 0);
	CHECK(report, "lifetimes", 0, "lived_ns", 20 * MS + 10);
	done(&made, report);

	begin(&made);
	make_file(&made, 10 + 10 * MS, 2, "/data/a");
	CALL(&made, .time = 10 + 20 * MS, .dur = 10, .pid = 10, .op = M_RENAME, .path = "/data/a",
	     .path2 = "/data/b", .result = 0);
	CALL(&made, .time = 10 + 50 * MS, .dur = 10, .pid = 10, .op = M_UNLINK, .path = "/data/b",
	     .result = 0);
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 1);
	CHECK(report, "lifetimes", 0, "lived_ns", 40 * MS + 10);
	done(&made, report);
}

/* Written under a temporary name first: its rows have both names; it counts once it is removed. */
TEST(test_renamed_and_used)
{
	struct made_trace made;
	struct report *report;

	for (int removed = 0; removed < 2; removed++) {
		begin(&made);
		make_file(&made, 10 + 10 * MS, 2, "/data/a.tmp");
		CALL(&made, .time = 10 + 20 * MS, .dur = 10, .pid = 10, .op = M_RENAME, .dir = 1,
		     .path = "a.tmp", .path2 = "/data/a", .result = 0);
		make_file(&made, 10 + 30 * MS, 2, "/data/a");
		if (removed)
			CALL(&made, .time = 10 + 50 * MS, .dur = 10, .pid = 10, .op = M_UNLINK,
			     .path = "/data/a", .result = 0);
		report = report_of(&made, 10 + 100 * MS);
		assert_int_equal(rows(report), removed);
		if (removed) {
			check_text(report, "lifetimes", 0, "path", "/data/a");
			CHECK(report, "lifetimes", 0, "lived_ns", 40 * MS + 10);
		}
		done(&made, report);
	}
}

/* The same name, created and removed repeatedly. */
TEST(test_again)
{
	struct made_trace made;
	struct report *report;

	begin(&made);
	for (uint64_t i = 0; i < 5; i++) {
		make_file(&made, 10 + (10 * i + 1) * MS, 2 + i, "/data/lock");
		CALL(&made, .time = 10 + (10 * i + 2 + i) * MS, .dur = 10, .pid = 10,
		     .op = M_UNLINK, .path = "/data/lock", .result = 0);
	}
	report = report_of(&made, 10 + 100 * MS);
	assert_int_equal(rows(report), 5);
	for (uint64_t i = 0; i < 5; i++)
		CHECK(report, "lifetimes", i, "lived_ns", (1 + i) * MS + 10);
	done(&made, report);
}

#define REMADE 20000

/* One file made and removed again and again: rows are bounded, and the note says so. */
TEST(test_little_memory)
{
	const struct report_options little = { .memory_bytes = 2 << 20 };
	struct made_trace made;
	struct report *report;

	begin(&made);
	make_file(&made, 10 + MS, 2, "/data/again");
	for (uint64_t i = 0; i < REMADE; i++) {
		CALL(&made, .time = 10 + 2 * MS + 100 * i, .dur = 10, .pid = 10, .op = M_UNLINK,
		     .path = "/data/again", .result = 0);
		CALL(&made, .time = 10 + 2 * MS + 100 * i + 50, .dur = 10, .pid = 10,
		     .op = M_OPENAT, .file = 2, .result = 3, .flags = CREATES);
	}
	made_finish(&made, 10, 10 + 100 * MS);
	report = report_with(&made, NULL);
	assert_int_equal(rows(report), REMADE);
	assert_null(report_table(report, "lifetimes")->note);
	report_free(report);
	report = report_with(&made, &little);
	assert_in_range(rows(report), 100, REMADE / 2);
	assert_non_null(strstr(report_table(report, "lifetimes")->note, "--memory"));
	done(&made, report);
}
