/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How a report shows missing data: layers not recorded, notes and caveats. Unmeasured values are
 * never 0.
 */

#include "unit_test.h"

#include "ask_report.h"

/* Values not recorded are null, and so is everything derived from them. */
static void make_without(struct made_trace *made, const char *layer)
{
	BEGIN(made, .off = layer);
	FILE_ROW(made, .time = 0, .id = 1, .dev = 1, .ino = 1, .path = "/data/a");
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	if (strcmp(layer, "syscall"))
		CALL(made, .time = 100, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 5);
	if (strcmp(layer, "fault"))
		FAULT(made, .time = 200, .dur = 10, .pid = 10, .file = 1);
	made_finish(made, 0, 1000);
}

TEST(test_without_faults)
{
	struct made_trace made;
	struct report *report;

	make_without(&made, "fault");
	report = made_report(&made.reader, 1);
	check_text(report, "trace", 0, "layers.fault.state", "off");
	check_text(report, "trace", 0, "layers.fault.reason", "not asked for");
	check_null(report, "trace", 0, "layers.fault.attach");
	check_null(report, "trace", 0, "lost.by_layer.fault");
	check_text(report, "trace", 0, "layers.syscall.state", "on");
	check_text(report, "trace", 0, "layers.syscall.attach", "tp_btf");
	check_null(report, "totals", 0, "mmap_read");
	check_null(report, "totals", 0, "mmap_write");
	check_null(report, "totals", 0, "anonymous_faults");
	check_null(report, "files", 0, "mmap");
	check_null(report, "files", 0, "mmap.pattern.random");
	check_null(report, "processes", 0, "mmap_read");
	CHECK(report, "files", 0, "read.bytes", 5);
	assert_int_equal(report_table(report, "methods")->row_count, 6);
	done(&made, report);
}

TEST(test_without_calls)
{
	struct made_trace made;
	struct report *report;

	make_without(&made, "syscall");
	report = made_report(&made.reader, 1);
	check_null(report, "totals", 0, "read");
	check_null(report, "totals", 0, "metadata");
	CHECK(report, "totals", 0, "mmap_read.faults", 1);
	CHECK(report, "files", 0, "mmap.faults", 1);
	check_null(report, "files", 0, "read");
	check_null(report, "files", 0, "pattern.random");
	assert_int_equal(report_table(report, "methods")->row_count, 2);
	assert_true(report_table(report, "failed_lookups")->absent);
	done(&made, report);
}

TEST(test_without_pagecache)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_without(&made, "pagecache");
	report = made_report(&made.reader, 1);
	check_null(report, "totals", 0, "read.fetched_bytes");
	check_null(report, "totals", 0, "mmap_read.fetched_bytes");
	CHECK(report, "totals", 0, "read.bytes", 5);
	row = find_row(report, "methods", "method", "mmap");
	check_null(report, "methods", row, "bytes");
	check_null(report, "methods", row, "fetched_bytes");
	CHECK(report, "methods", row, "count", 1);
	check_null(report, "files", 0, "unattributed.fetched_bytes");
	check_null(report, "files", 0, "mmap.fetched_bytes");
	row = find_row(report, "operations", "op", "read");
	check_null(report, "operations", row, "fetched_bytes");
	done(&made, report);
}

static const char *caveat(struct report *report, const char *id)
{
	return ask(report, "caveats", find_row(report, "caveats", "id", id), "text")->text;
}

/* A command was started and a layer saw nothing of it: calls, faults, neither, both; no command was
 * started; the layer is off.
 */
TEST(test_unseen)
{
	static const struct {
		bool begun, calls, faults;
		const char *off, *says;
	} cases[] = {
		{ true, false, true, NULL, "no system call on a file was recorded: " },
		{ true, true, false, NULL, "no page fault on a file was recorded: " },
		{ true, false, false, NULL,
		  "no system call on a file was recorded; no page fault on a file was recorded: " },
		{ true, true, true, NULL, NULL },
		{ false, false, false, NULL, NULL },
		{ true, false, true, "syscall", NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .lanes = 1, .off = cases[i].off);
		made.kinds[TRACE_EXEC].events = cases[i].begun;
		made.kinds[TRACE_SYSCALL].events = cases[i].calls;
		made.kinds[TRACE_FAULT].events = cases[i].faults;
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			made.kinds[kind].lost = made.kinds[kind].events;
		report = report_between(&made, 50, 1050);
		if (cases[i].says)
			assert_non_null(strstr(caveat(report, "unseen"), cases[i].says));
		else
			assert_int_equal(row_with(report, "caveats", "id", "unseen"), -1);
		done(&made, report);
	}
}

/* Data that the kernel side could not see is noted in the trace, up to the first screen. */
TEST(test_notes)
{
	static const struct trace_note notes[] = {
		{ "children_not_followed", 2 },	 { "faults_untimed", 7 },
		{ "bios_ended_unseen", 5 },	 { "bios_under_way", 6 },
		{ "span_begins_uncounted", 1 },	 { "nfs_unseen_ns", 300000000 },
		{ "fuse_unseen_ns", 200000000 }, { "9p_unseen_ns", 100000000 },
		{ "of_a_later_version", 4 },	 { "no name", 5 }
	};
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1);
	made.operations[M_UNKNOWN] =
		(struct trace_operation_total) { .count = 3, .thread_time_ns = 30 };
	made.totals.notes = notes;
	made.totals.note_count = sizeof(notes) / sizeof(notes[0]);
	report = report_between(&made, 50, 1050);
	assert_non_null(strstr(caveat(report, "unfollowed"), "2 child processes"));
	assert_non_null(strstr(caveat(report, "faults"), "7 faults have no duration"));
	assert_non_null(strstr(caveat(report, "faults"), "3 faults are on unknown mappings"));
	assert_non_null(strstr(caveat(report, "spans"), "their begins were lost is unknown"));
	assert_non_null(strstr(caveat(report, "bios"), "5 block I/Os have no completion event"));
	assert_non_null(strstr(caveat(report, "bios-under-way"),
			       "6 block I/Os were known to be in flight"));
	assert_non_null(strstr(caveat(report, "nfs-unseen"), "are missing for up to 300 ms:"));
	assert_non_null(strstr(caveat(report, "9p-unseen"), "are missing for up to 100 ms:"));
	CHECK(report, "trace", 0, "notes.nfs_unseen_ns", 300000000);
	CHECK(report, "trace", 0, "notes.9p_unseen_ns", 100000000);
	assert_non_null(strstr(caveat(report, "fuse-unseen"),
			       "FUSE daemons are missing for up to 200 ms: the module fuse was"));
	CHECK(report, "trace", 0, "notes.fuse_unseen_ns", 200000000);
	CHECK(report, "trace", 0, "notes.children_not_followed", 2);
	CHECK(report, "trace", 0, "notes.faults_untimed", 7);
	CHECK(report, "trace", 0, "notes.programs_ended_unseen", 0);
	CHECK(report, "trace", 0, "notes.of_a_later_version", 4);
	assert_true(table_find_column(report_table(report, "trace"), "notes.no name") < 0);
	CHECK(report, "totals", 0, "unknown_faults.count", 3);
	CHECK(report, "totals", 0, "unknown_faults.time_ns", 30);
	CHECK(report, "totals", 0, "anonymous_faults.count", 0);
	done(&made, report);
}

TEST(test_one_bio)
{
	static const struct trace_note note = { "bios_ended_unseen", 1 };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1);
	made.totals.notes = &note;
	made.totals.note_count = 1;
	report = report_between(&made, 50, 1050);
	assert_non_null(strstr(caveat(report, "bios"), "1 block I/O has no completion event"));
	done(&made, report);
}

/* A caveat lists which parts of the I/O on remote file systems are recorded. */
TEST(test_unrecorded_servers)
{
	static const struct {
		const char *types[6], *of, *bypass;
	} rows[] = {
		{ { "ext4", "tmpfs", "fuse", "nfs4" }, NULL, NULL },
		{ { "ext4", "lustre", "lustre" }, "files on lustre were used: calls,", NULL },
		{ { "lustre", "gpfs", "lustre", "9p" },
		  "files on lustre, gpfs were used: calls,",
		  "; reads on gpfs may bypass the page cache" },
		{ { "ceph", "afs", "smb3", "wekafs", "lustre" },
		  "files on wekafs, lustre were used: calls,",
		  "; reads on wekafs may bypass the page cache" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .lanes = 1);
		for (size_t n = 0; n < 6 && rows[i].types[n]; n++)
			FILE_ROW(&made, .id = 1 + n, .ino = 1 + n, .dev = 44, .path = "/mnt/a",
				 .filesystem = rows[i].types[n]);
		report = report_of(&made, 60);
		if (rows[i].of) {
			const char *said = caveat(report, "servers");

			assert_memory_equal(said, rows[i].of, strlen(rows[i].of));
			assert_int_equal(strstr(said, "bypass") != NULL, rows[i].bypass != NULL);
			assert_true(!rows[i].bypass || strstr(said, rows[i].bypass));
		} else {
			assert_int_equal(row_with(report, "caveats", "id", "servers"), -1);
		}
		done(&made, report);
	}
}

/* Stripes are those of any row of a file: the last ones have no path and no time of their own. */
TEST(test_stripes)
{
	static const struct {
		uint64_t stripes, bytes;
		const char *says;
	} rows[] = { { 0, 0, "; stripes of files on lustre: 8, of 1.0 MiB" },
		     { 8, 1 << 20, "; stripes of files on lustre: 8, of 1.0 MiB" },
		     { 1, 4 << 20,
		       "; stripes of files on lustre: 1 to 8, of 1.0 MiB to 4.0 MiB" } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made, .lanes = 1);
		FILE_ROW(&made, .time = 1, .id = 1, .ino = 1, .dev = 44, .path = "/l/a",
			 .filesystem = "lustre", .stripes = 8, .stripe_bytes = 1 << 20);
		FILE_ROW(&made, .time = 2, .id = 1, .ino = 1, .dev = 44, .path = "/l/b",
			 .filesystem = "lustre");
		FILE_ROW(&made, .time = 1, .id = 2, .ino = 2, .dev = 44, .path = "/l/c",
			 .filesystem = "lustre", .stripes = rows[i].stripes,
			 .stripe_bytes = rows[i].bytes);
		for (int file = 1; file <= 2; file++)
			CALL(&made, .time = 10 * file, .dur = 5, .pid = 10, .op = M_READ,
			     .file = file, .result = 5);
		report = report_of(&made, 60);
		assert_non_null(strstr(caveat(report, "servers"), rows[i].says));
		CHECK(report, "files", row_with(report, "files", "path", "/l/b"), "stripe_count",
		      8);
		CHECK(report, "files", row_with(report, "files", "path", "/l/b"), "stripe_bytes",
		      1 << 20);
		if (rows[i].stripes)
			CHECK(report, "files", row_with(report, "files", "path", "/l/c"),
			      "stripe_count", rows[i].stripes);
		else
			assert_int_equal(ask(report, "files",
					     row_with(report, "files", "path", "/l/c"),
					     "stripe_count")
						 ->type,
					 CELL_NULL);
		done(&made, report);
	}
}
