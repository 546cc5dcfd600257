/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Parts of the default report: the paths table, caveats, comparison of two runs, and the first
 * screen.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/report/compare.h"
#include "ask_report.h"
#include "output/base/escape.h"
#include "output/text/screen.h"
#include "output/text/text.h"
#include "ranks_sample.h"

/* --- paths and caveats --- */

/* Files of a group share one path row, and so do a program's own files; others have a row each. */
TEST(test_places)
{
	static const struct {
		const char *format;
		unsigned int files;
		const char *place;
		uint64_t bytes; /* per file */
	} kinds[] = {
		{ "/data/img/%u.jpg", 10, "/data/img/*.jpg", 1 },
		{ "/data/few/%u.bin", 3, NULL, 2 },
		{ "/data/words/%u.parquet", 10, "/data/words/*.parquet", 1 },
		{ "/data/words/%u.checkpoint", 11, "/data/words/*", 2 },
		{ "/data/nine/%u.pictures", 10, "/data/nine/*", 4 },
		{ "/data/copies/.shard.tar.a%u", 10, "/data/copies/*", 2 },
		{ "/data/copy/.shard.tar.b%u", 9, NULL, 2 },
		{ "/data/deep/c%u/x.png", 20, "/data/deep/**.png", 4 },
		{ "/usr/lib/python3/m%u.py", 5, "programs, libraries and modules", 8 },
		{ "/data/lib/pythons/t%u.bin", 10, "/data/lib/pythons/*.bin", 8 },
		{ "/usr/share/doc/p%u/copyright", 12, "/usr/share/doc/**", 64 },
		{ "/proc/%u/stat", 4, "/proc and /sys", 16 },
		{ "socket:[%u]", 2, "sockets, pipes and pathless files", 32 },
	};
	struct made_trace made;
	struct report *report;
	uint64_t id = 0, places = 0;
	char path[64];

	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (unsigned int j = 0; j < kinds[i].files; j++) {
			snprintf(path, sizeof(path), kinds[i].format, j);
			id++;
			FILE_ROW(&made, .time = 10, .id = id, .dev = 1, .ino = id, .path = path);
			CALL(&made, .time = 100 + id * 100, .dur = 10, .pid = 10, .op = M_READ,
			     .file = id, .result = kinds[i].bytes);
		}
	report = report_between(&made, 10, 100000);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t row;

		places += kinds[i].place ? 1 : kinds[i].files;
		if (!kinds[i].place)
			continue;
		row = find_row(report, "paths", "path", kinds[i].place);
		CHECK(report, "paths", row, "files", kinds[i].files);
		CHECK(report, "paths", row, "time_ns", kinds[i].files * 10);
		CHECK(report, "paths", row, "read_bytes", kinds[i].files * kinds[i].bytes);
	}
	CHECK(report, "paths", find_row(report, "paths", "path", "/data/few/2.bin"), "files", 1);
	assert_int_equal(report_table(report, "paths")->row_count, places);
	done(&made, report);
}

/* The job's own modules are modules wherever they are; data next to them is data. */
TEST(test_paths_of_own_modules)
{
	static const char *const formats[] = {
		"/home/a/job/pack/m%u.py", "/home/a/job/pack/__pycache__/m%u.cpython-311.pyc",
		"/home/a/job/pack/fast%u.cpython-311-x86_64-linux-gnu.so",
		"/home/a/job/pack/words%u.json"
	};
	const size_t kinds = sizeof(formats) / sizeof(formats[0]);
	struct made_trace made;
	struct report *report;
	char path[64];

	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t id = 1; id <= 10 * kinds; id++) {
		snprintf(path, sizeof(path), formats[id % kinds], (unsigned int)(id / kinds));
		FILE_ROW(&made, .time = 10, .id = id, .dev = 1, .ino = id, .path = path);
		CALL(&made, .time = 100 + id * 100, .dur = 10, .pid = 10, .op = M_READ, .file = id,
		     .result = 1);
	}
	report = report_between(&made, 10, 100000);
	assert_int_equal(report_table(report, "paths")->row_count, 2);
	check_text(report, "paths", 0, "path", "programs, libraries and modules");
	CHECK(report, "paths", 0, "files", 10 * (kinds - 1));
	check_text(report, "paths", 1, "path", "/home/a/job/pack/*.json");
	CHECK(report, "paths", 1, "files", 10);
	done(&made, report);
}

/* Any number of directories, including after lists have grown. */
TEST(test_paths_of_many)
{
	char paths[40 * 3][32];

	for (uint64_t count = 4; count < 40; count++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made);
		EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
		for (uint64_t i = 0; i < count * 3; i++) {
			snprintf(paths[i], sizeof(paths[i]), "/data/%d/%d.bin", (int)(i / 3),
				 (int)i);
			FILE_ROW(&made, .time = 10, .id = i + 1, .dev = 1, .ino = i + 1,
				 .path = paths[i]);
			CALL(&made, .time = 100 + i * 100, .dur = 10, .pid = 10, .op = M_READ,
			     .file = i + 1, .result = 5);
		}
		FILE_ROW(&made, .time = 10, .id = 200, .dev = 1, .ino = 200,
			 .path = "/other/a/1.bin");
		CALL(&made, .time = 50000, .dur = 5, .pid = 10, .op = M_READ, .file = 200,
		     .result = 5);
		report = report_between(&made, 10, 100000);
		assert_int_equal(report_table(report, "paths")->row_count, 2);
		check_text(report, "paths", 0, "path", "/data/**.bin");
		CHECK(report, "paths", 0, "files", count * 3);
		done(&made, report);
	}
}

/* A path lookup that ends without a file belongs to the directory it looked in. */
TEST(test_paths_of_names)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = 1, .ino = 1, .mode = S_IFDIR, .path = "/data");
	CALL(&made, .time = 100, .dur = 7, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3);
	for (uint64_t i = 0; i < 5; i++) {
		CALL(&made, .time = 200 + i * 100, .dur = 10, .pid = 10, .op = M_UNLINK,
		     .path = "/data/old.ckpt");
		CALL(&made, .time = 800 + i * 100, .dur = 3, .pid = 10, .op = M_FSTAT,
		     .path = "/usr/lib/python3/none.so", .result = -2);
	}
	CALL(&made, .time = 2000, .dur = 2, .pid = 10, .op = M_UNLINK, .path = "nowhere");
	CALL(&made, .time = 3000, .dur = 1, .pid = 10, .op = M_FSTAT, .path = "/proc/1/none",
	     .result = -2);
	report = report_between(&made, 10, 100000);
	assert_int_equal(report_table(report, "paths")->row_count, 4);
	row = find_row(report, "paths", "path", "/data");
	CHECK(report, "paths", row, "time_ns", 57);
	CHECK(report, "paths", row, "operations", 6);
	CHECK(report, "paths", row, "files", 1);
	row = find_row(report, "paths", "path", "programs, libraries and modules");
	CHECK(report, "paths", row, "time_ns", 15);
	CHECK(report, "paths", row, "files", 0);
	row = find_row(report, "paths", "path", "sockets, pipes and pathless files");
	CHECK(report, "paths", row, "time_ns", 2);
	row = find_row(report, "paths", "path", "/proc and /sys");
	CHECK(report, "paths", row, "time_ns", 1);
	done(&made, report);
}

/* Files that had the same path share a row, and are not a file group, however many there are. */
TEST(test_paths_of_one_path)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	BEGIN(&made);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t id = 1; id <= 14; id++) {
		FILE_ROW(&made, .time = 10, .id = id, .dev = 1, .ino = id,
			 .path = id > 12 ? "/data/job.db" : "/data/job.db-journal");
		CALL(&made, .time = 100 + id * 100, .dur = 10, .pid = 10, .op = M_READ, .file = id,
		     .result = 5);
	}
	report = report_between(&made, 10, 100000);
	assert_int_equal(report_table(report, "paths")->row_count, 2);
	row = find_row(report, "paths", "path", "/data/job.db-journal");
	CHECK(report, "paths", row, "files", 12);
	CHECK(report, "paths", row, "time_ns", 12 * 10);
	CHECK(report, "paths", row, "read_bytes", 12 * 5);
	CHECK(report, "paths", find_row(report, "paths", "path", "/data/job.db"), "files", 2);
	done(&made, report);
}

/* If lookups take the most time, the screen names the calls and the directories. */
TEST(test_metadata_leads)
{
	struct made_trace made;
	struct report *report;
	const char *note;

	BEGIN(&made, .lanes = 1);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t i = 0; i < 100; i++)
		CALL(&made, .time = 100 + 20000 * i, .dur = 10000, .pid = 10, .op = M_FSTAT,
		     .path = i % 4 ? "/data/images/x.jpg" : "/data/labels/x.txt");
	CALL(&made, .time = 3 * MS, .dur = 1000, .pid = 10, .op = M_OPENAT, .result = -2,
	     .path = "/none/x");
	report = report_between(&made, 10, 10 + 10 * MS);
	note = report_by(report, &analysis_access)->note;
	assert_non_null(note);
	assert_non_null(strstr(note, "newfstatat 1.0 ms in 100 calls"));
	assert_non_null(strstr(note, "in directories /data/images 750 us in 75 calls, "
				     "/data/labels 250 us in 25 calls"));
	assert_null(strstr(note, "/none"));
	done(&made, report);
}

TEST(test_caveats)
{
	const uint64_t survivors[] = { 11, 12 };
	struct made_trace made;
	struct report *report;

	make_run(&made);
	report = report_between(&made, 10, 10 + 10 * MS);
	assert_int_equal(report_table(report, "caveats")->row_count, 0);
	done(&made, report);

	make_run(&made);
	made.kinds[TRACE_SYSCALL].lost = 3;
	made.kinds[TRACE_SYSCALL].events += 3;
	made.totals.survivors = survivors;
	made.totals.survivor_count = 2;
	report = report_between(&made, 10, 10 + 10 * MS);
	check_text(report, "caveats", find_row(report, "caveats", "id", "lost"), "weight",
		   "warning");
	check_text(report, "caveats", find_row(report, "caveats", "id", "survivors"), "text",
		   "2 processes outlived the run; later activity was not traced");
	done(&made, report);

	make_run(&made);
	made_abandon(&made);
	report = made_report(&made.reader, 1);
	check_text(report, "caveats", find_row(report, "caveats", "id", "incomplete"), "weight",
		   "warning");
	done(&made, report);
}

/* --- two runs --- */

/* A row's change in time, found by name. */
static int64_t change(const struct table *table, const char *name)
{
	int key = table_find_column(table, "name"), column = table_find_column(table, "change_ns");

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cells = &table->cells[i * table->column_count];

		if (cell_is(&cells[key], name))
			return cells[column].type == CELL_INT ? cells[column].sint : -1;
	}
	fail_msg("no row %s", name);
	return 0;
}

TEST(test_against)
{
	struct table *tables[COMPARE_TABLES];
	struct made_trace made[2];
	struct report *reports[2];

	for (int i = 0; i < 2; i++) {
		make_run(&made[i]);
		if (i)
			CALL(&made[i], .time = 10 + 8 * MS, .dur = 1000, .pid = 10, .op = M_READ,
			     .file = 2, .result = 1);
		/* Loss in only one run is a new finding. */
		made[i].kinds[TRACE_SYSCALL].events += i * 90;
		made[i].kinds[TRACE_SYSCALL].lost += i * 90;
		made_finish(&made[i], 10, 10 + (10 + 5 * i) * MS);
		reports[i] = made_report(&made[i].reader, 1);
	}
	assert_int_equal(compare_make(tables, reports[0], reports[1]), 0);
	assert_int_equal(change(tables[0], "the run"), 5 * MS);
	assert_int_equal(change(tables[0], "read()"), 1000);
	assert_int_equal(change(tables[0], "page faults"), 0);
	assert_int_equal(change(tables[2], "/data/y.txt"), 1000);
	assert_int_equal(change(tables[2], "/data/x.bin"), 0);
	assert_memory_equal(tables[1]->cells[0].text, "came", 4);
	assert_memory_equal(tables[1]->cells[1].text, "loss", 4);
	for (size_t i = 0; i < COMPARE_TABLES; i++)
		table_free(tables[i]);
	/* The reverse. */
	assert_int_equal(compare_make(tables, reports[1], reports[0]), 0);
	assert_int_equal(change(tables[0], "the run"), -5 * (int64_t)MS);
	assert_memory_equal(tables[1]->cells[0].text, "went", 4);
	for (size_t i = 0; i < COMPARE_TABLES; i++)
		table_free(tables[i]);
	for (int i = 0; i < 2; i++) {
		report_free(reports[i]);
		made_close(&made[i]);
	}
}

/* --- the first screen --- */

/* At any width, no line is wider; colour appears only if enabled, and is always reset. */
TEST(test_screen)
{
	struct made_trace made;
	struct report *report;

	make_run(&made);
	report = report_between(&made, 10, 10 + 10 * MS);
	for (size_t width = 60; width <= 200; width += 20) {
		const struct style plain = { .width = width };
		const struct style colour = { .width = width, .colour = true };
		struct sink out;
		size_t lines = 0;

		sink_open_memory(&out);
		screen_write(&out, report, &plain);
		sink_bytes(&out, "", 1);
		assert_int_equal(out.error, 0);
		for (const char *at = out.buffer; *at; lines++) {
			size_t length = strcspn(at, "\n");

			assert_true(escape_columns(at, length) <= width);
			at += length + 1;
		}
		assert_true(lines <= 40);
		assert_null(strchr(out.buffer, '\033'));
		assert_non_null(strstr(out.buffer, "Ran 10.0 ms, 2 processes, 2 ranks, exit 0."));
		assert_non_null(strstr(out.buffer, "page faults"));
		assert_non_null(strstr(out.buffer, "/data/x.bin"));
		out.used = 0;
		screen_write(&out, report, &colour);
		sink_bytes(&out, "", 1);
		assert_non_null(strstr(out.buffer, "\033[1m"));
		assert_string_equal(strrchr(out.buffer, '\033') + 1,
				    strstr(strrchr(out.buffer, '\033'), "[0m"));
		sink_close(&out);
	}
	done(&made, report);
}

/* How the run ended: signals have names. */
TEST(test_ended)
{
	static const struct {
		int64_t code;
		const char *text;
	} cases[] = { { 139, ", exit 139 (SIGSEGV)." },
		      { 137, ", exit 137 (SIGKILL)." },
		      { 128, ", exit 128." },
		      { 255, ", exit 255." } };
	const struct style plain = { .width = 80 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;
		struct sink out;

		make_run(&made);
		made.totals.exit_code = cases[i].code;
		report = report_between(&made, 10, 10 + 10 * MS);
		sink_open_memory(&out);
		screen_write(&out, report, &plain);
		sink_bytes(&out, "", 1);
		assert_non_null(strstr(out.buffer, cases[i].text));
		sink_close(&out);
		done(&made, report);
	}
}

/* --- tables with next to nothing in them --- */

#define LOOKUPS "Failed path lookups: 2,000 in 25 directories took 2.0 ms, "

/* 2,000 failed lookups of 1 us each, in 25 directories. */
static struct report *report_of_lookups(struct made_trace *made, uint64_t run_ns, uint64_t lost)
{
	char path[32];

	BEGIN(made);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	for (uint64_t i = 0; i < 2000; i++) {
		snprintf(path, sizeof(path), "/data/%d/x%d", (int)(i % 25), (int)i);
		CALL(made, .time = 2000 + i * 1000, .dur = 1000, .pid = 10, .op = M_FSTAT,
		     .path = path, .result = -2);
	}
	made->kinds[TRACE_SYSCALL].events += lost;
	made->kinds[TRACE_SYSCALL].lost += lost;
	made_finish(made, 10, 10 + run_ns);
	return made_report(&made->reader, 1);
}

/* Failed lookups that cost very little are a single line, unless rows are requested or the cost is
 * uncertain.
 */
TEST(test_cheap_lookups)
{
	static const struct {
		uint64_t run_ns, lost;
		bool top_said;
		const char *line; /* NULL: shown as a table */
	} cases[] = {
		{ 1000 * MS, 0, false, LOOKUPS "0.2% of the run (--table failed_lookups)\n" },
		{ 1000 * MS, 0, true, NULL },
		{ 1000 * MS, 1, false, NULL },
		{ 300 * MS, 0, false, NULL },
	};
	const struct style style = { .width = 100 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct grid_options options = { .style = &style,
						      .top = 20,
						      .top_said = cases[i].top_said };
		struct made_trace made;
		struct report *report = report_of_lookups(&made, cases[i].run_ns, cases[i].lost);
		struct sink out;

		sink_open_memory(&out);
		assert_int_equal(text_report(&out, report, &options), 0);
		sink_bytes(&out, "", 1);
		if (cases[i].line)
			assert_non_null(strstr(out.buffer, cases[i].line));
		assert_int_equal(!cases[i].line, !!strstr(out.buffer, "\nFailed path lookups\n"));
		assert_int_equal(report_table(report, "failed_lookups")->row_count, 25);
		sink_close(&out);
		done(&made, report);
	}
}

/* The head of a report has a command in one line: of each argument, the first that is not empty. */
TEST(test_command_of_lines)
{
	static const char *const command[] = { "python3", "-c",	    "\nimport os\nos.sync()\n",
					       "a\n",	  "b\r\nc", "",
					       NULL };
	const struct style style = { .width = 100 };
	const struct grid_options options = { .style = &style };
	struct made_trace made;
	struct report *report;
	struct sink out;

	BEGIN(&made, .command = command);
	report = report_of(&made, 1000);
	sink_open_memory(&out);
	assert_int_equal(text_report(&out, report, &options), 0);
	sink_bytes(&out, "", 1);
	if (strncmp(out.buffer, "python3 -c import os… a b… ",
		    strlen("python3 -c import os… a b… ")))
		fail_msg("%s", out.buffer);
	sink_close(&out);
	done(&made, report);
}
