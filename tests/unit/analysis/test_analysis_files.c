/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files: identity, names, sizes, patterns, merged times; paths and failed lookups. */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "analysis/events/path.h"
#include "ask_report.h"

#define DEV(major, minor) ((uint64_t)(major) << 20 | (minor))

static void make_start(struct made_trace *made)
{
	BEGIN(made);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	made_fork(made, 11, 10, 20);
}

TEST(test_identity)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .dev = DEV(8, 1), .ino = 7, .generation = 1,
		 .size = 100, .path = "/data/old");
	/* Renamed: a new path for the same file, under another ID. */
	FILE_ROW(&made, .time = 500, .id = 2, .dev = DEV(8, 1), .ino = 7, .generation = 1,
		 .size = 300, .path = "/data/new");
	/* Another file took the old name, and one reused the inode number. */
	FILE_ROW(&made, .time = 600, .id = 3, .dev = DEV(8, 1), .ino = 8, .generation = 1,
		 .path = "/data/old");
	FILE_ROW(&made, .time = 700, .id = 4, .dev = DEV(8, 1), .ino = 7, .generation = 2,
		 .path = "/data/third");
	/* An older row, out of order: changes nothing. */
	FILE_ROW(&made, .time = 400, .id = 2, .dev = DEV(8, 1), .ino = 7, .generation = 1,
		 .size = 200, .path = "/data/middle");
	FILE_ROW(&made, .time = 800, .id = 5, .dev = DEV(253, 1000), .ino = 7, .generation = 1,
		 .path = "/other/file");
	/* Another device has got the number. */
	FILE_ROW(&made, .time = 800, .id = 7, .dev = DEV(253, 1000), .instance = 2, .ino = 7,
		 .generation = 1, .path = "/again/file");
	FILE_ROW(&made, .time = 900, .id = 6, .dev = DEV(8, 1), .ino = 99, .path = "/not/used");
	CALL(&made, .time = 1000, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 1);
	CALL(&made, .time = 1100, .dur = 10, .pid = 20, .op = M_READ, .file = 2, .result = 2);
	CALL(&made, .time = 1200, .dur = 9, .pid = 10, .op = M_READ, .file = 3, .result = 4);
	CALL(&made, .time = 1300, .dur = 8, .pid = 10, .op = M_READ, .file = 4, .result = 8);
	CALL(&made, .time = 1400, .dur = 7, .pid = 10, .op = M_READ, .file = 5, .result = 16);
	CALL(&made, .time = 1500, .dur = 6, .pid = 10, .op = M_READ, .file = 77, .result = 32);
	CALL(&made, .time = 1600, .dur = 1, .pid = 10, .op = M_READ, .file = 7, .result = 64);
	report = report_between(&made, 10, 2000);
	assert_int_equal(report_table(report, "files")->row_count, 6);
	row = find_row(report, "files", "path", "/again/file");
	CHECK(report, "files", row, "read.bytes", 64);
	row = find_row(report, "files", "path", "/data/new");
	assert_int_equal(row, 0); /* most time first */
	CHECK(report, "files", row, "read.bytes", 3);
	CHECK(report, "files", row, "read.count", 2);
	CHECK(report, "files", row, "read.time_ns", 20);
	CHECK(report, "files", row, "processes", 2);
	CHECK(report, "files", row, "ino", 7);
	CHECK(report, "files", row, "size_bytes", 300);
	check_text(report, "files", row, "dev", "8:1");
	check_text(report, "files", row, "host", "node1");
	row = find_row(report, "files", "path", "/data/old");
	CHECK(report, "files", row, "read.bytes", 4);
	CHECK(report, "files", row, "ino", 8);
	row = find_row(report, "files", "path", "/data/third");
	CHECK(report, "files", row, "read.bytes", 8);
	row = find_row(report, "files", "path", "/other/file");
	CHECK(report, "files", row, "read.bytes", 16);
	check_text(report, "files", row, "dev", "253:1000");
	/* An ID that no row explains. */
	check_null(report, "files", 4, "path");
	check_null(report, "files", 4, "ino");
	check_null(report, "files", 4, "size_bytes");
	CHECK(report, "files", 4, "read.bytes", 32);
	done(&made, report);
}

TEST(test_deleted)
{
	static const char *const paths[] = { "/by/row", "/by/call", "/by/fault" };
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .flags = TRACE_FILE_DELETED,
		 .path = "/by/row");
	FILE_ROW(&made, .time = 20, .id = 1, .ino = 1, .path = "/by/row");
	FILE_ROW(&made, .time = 10, .id = 2, .ino = 2, .path = "/by/call");
	FILE_ROW(&made, .time = 10, .id = 3, .ino = 3, .path = "/by/fault");
	FILE_ROW(&made, .time = 10, .id = 4, .ino = 4, .path = "/not");
	CALL(&made, .time = 100, .pid = 10, .op = M_FSTAT, .file = 1);
	CALL(&made, .time = 200, .pid = 10, .op = M_FSTAT, .file = 2, .flags = TRACE_OP_UNLINKED);
	CALL(&made, .time = 300, .pid = 10, .op = M_FSTAT, .file = 2);
	FAULT(&made, .time = 400, .pid = 10, .file = 3, .flags = TRACE_FAULT_UNLINKED);
	CALL(&made, .time = 500, .pid = 10, .op = M_FSTAT, .file = 4);
	report = report_between(&made, 10, 1000);
	for (size_t i = 0; i < 3; i++) {
		const struct cell *cell = ask(
			report, "files", find_row(report, "files", "path", paths[i]), "deleted");

		assert_true(cell->type == CELL_BOOL && cell->flag);
	}
	assert_false(
		ask(report, "files", find_row(report, "files", "path", "/not"), "deleted")->flag);
	done(&made, report);
}

/* Two processes read the same file concurrently; each kind of use has its own column. */
TEST(test_uses)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .size = 100, .path = "/f");
	CALL(&made, .time = 90, .dur = 5, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3);
	CALL(&made, .time = 95, .dur = 5, .pid = 10, .op = M_OPENAT, .result = -ENOENT,
	     .path = "x");
	CALL(&made, .time = 100, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .offset = 0,
	     .result = 50, .fetched = 8192);
	CALL(&made, .time = 150, .dur = 100, .pid = 20, .op = M_READ, .file = 1, .offset = 0,
	     .result = 50);
	CALL(&made, .time = 300, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .offset = 90,
	     .result = 60);
	CALL(&made, .time = 400, .dur = 20, .pid = 10, .op = M_FSYNC, .file = 1);
	CALL(&made, .time = 450, .dur = 20, .pid = 10, .op = M_READAHEAD, .file = 1,
	     .fetched = 4096);
	CALL(&made, .time = 500, .dur = 30, .pid = 10, .op = M_MMAP, .file = 1, .result = 4096,
	     .fetched = 16384, .major = 2);
	FAULT(&made, .time = 600, .dur = 7, .pid = 10, .file = 1, .flags = TRACE_FAULT_MAJOR,
	      .fetched = 4096);
	FAULT(&made, .time = 605, .dur = 7, .pid = 20, .file = 1,
	      .flags = TRACE_FAULT_WRITE | TRACE_FAULT_SHARED, .dirtied = 16384);
	made_cache(&made, 650, 1, 20480);
	made_indirect(&made, 660, 1, 8192, 4096, M_WRITE);
	CALL(&made, .time = 700, .dur = 3, .pid = 10, .op = M_CLOSE, .file = 1);
	report = report_between(&made, 10, 1000);
	assert_int_equal(report_table(report, "files")->row_count, 1);
	CHECK(report, "files", 0, "processes", 2);
	CHECK(report, "files", 0, "opens", 1);
	CHECK(report, "files", 0, "size_bytes", 150); /* the file grew */
	CHECK(report, "files", 0, "read.count", 2);
	CHECK(report, "files", 0, "read.bytes", 100);
	CHECK(report, "files", 0, "read.time_ns", 150); /* merged */
	CHECK(report, "files", 0, "read.fetched_bytes", 8192 + 4096);
	CHECK(report, "files", 0, "write.count", 1);
	CHECK(report, "files", 0, "write.bytes", 60);
	CHECK(report, "files", 0, "write.time_ns", 10);
	CHECK(report, "files", 0, "sync.count", 1);
	CHECK(report, "files", 0, "sync.time_ns", 20);
	CHECK(report, "files", 0, "metadata.count", 2);
	CHECK(report, "files", 0, "metadata.time_ns", 8);
	CHECK(report, "files", 0, "mmap.faults", 2);
	CHECK(report, "files", 0, "mmap.major", 3);
	CHECK(report, "files", 0, "mmap.fetched_bytes", 20480);
	CHECK(report, "files", 0, "mmap.time_ns", 30 + 12);
	CHECK(report, "files", 0, "mmap.dirtied_bytes", 16384); /* a folio of four pages */
	CHECK(report, "files", 0, "mmap.written_pages", 4);
	CHECK(report, "totals", 0, "mmap_write.dirtied_bytes", 16384);
	CHECK(report, "files", 0, "unattributed.fetched_bytes", 20480);
	CHECK(report, "files", 0, "indirect.fetched_bytes", 8192);
	CHECK(report, "files", 0, "indirect.created_bytes", 4096);
	CHECK(report, "totals", 0, "unattributed.events", 1);
	CHECK(report, "totals", 0, "unattributed.fetched_bytes", 20480);
	CHECK(report, "totals", 0, "indirect.events", 1);
	CHECK(report, "totals", 0, "indirect.fetched_bytes", 8192);
	CHECK(report, "totals", 0, "indirect.created_bytes", 4096);
	done(&made, report);
}

/* A file whose first operation is a write. */
TEST(test_written_first)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/f");
	CALL(&made, .time = 100, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1, .result = 60);
	CALL(&made, .time = 200, .dur = 20, .pid = 10, .op = M_READ, .file = 1, .result = 5);
	CALL(&made, .time = 300, .dur = 30, .pid = 10, .op = M_READ, .file = 1, .result = -EIO);
	CALL(&made, .time = 400, .dur = 40, .pid = 10, .op = M_WRITE, .file = 1, .result = 7);
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "write.count", 2);
	CHECK(report, "files", 0, "write.bytes", 67);
	CHECK(report, "files", 0, "write.time_ns", 50);
	CHECK(report, "files", 0, "read.count", 2);
	CHECK(report, "files", 0, "read.bytes", 5);
	CHECK(report, "files", 0, "read.time_ns", 50);
	done(&made, report);
}

TEST(test_both_ends_of_a_transfer)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/from");
	FILE_ROW(&made, .time = 10, .id = 2, .ino = 2, .path = "/to");
	CALL(&made, .time = 100, .dur = 10, .pid = 10, .op = M_SENDFILE, .file = 1, .file2 = 2,
	     .offset = 0, .asked = 1000, .result = 900, .flags = TRACE_OP_UNLINKED, .fetched = 8192,
	     .created = 4096);
	report = report_between(&made, 10, 1000);
	row = find_row(report, "files", "path", "/from");
	CHECK(report, "files", row, "read.bytes", 900);
	CHECK(report, "files", row, "read.fetched_bytes", 8192);
	CHECK(report, "files", row, "read.created_bytes", 0);
	CHECK(report, "files", row, "write.count", 0);
	CHECK(report, "files", row, "write.created_bytes", 0);
	assert_true(ask(report, "files", row, "deleted")->flag);
	row = find_row(report, "files", "path", "/to");
	CHECK(report, "files", row, "write.bytes", 900);
	CHECK(report, "files", row, "write.fetched_bytes", 0);
	CHECK(report, "files", row, "write.created_bytes", 4096);
	CHECK(report, "files", row, "read.count", 0);
	assert_false(ask(report, "files", row, "deleted")->flag);
	done(&made, report);
}

/* Rotates CPU buffers, as if the process moved between CPUs. */
static void move_at(struct made_trace *made, unsigned int op, uint64_t time, uint64_t pid,
		    int64_t offset, int64_t result)
{
	CALL(made, .time = time, .dur = 1, .pid = pid, .op = op, .file = 1, .offset = offset,
	     .asked = 100, .result = result, .lane = time % 3);
}

static void read_at(struct made_trace *made, uint64_t time, uint64_t pid, int64_t offset,
		    int64_t result)
{
	move_at(made, M_PREAD, time, pid, offset, result);
}

static void write_at(struct made_trace *made, uint64_t time, uint64_t pid, int64_t offset)
{
	move_at(made, M_WRITE, time, pid, offset, 100);
}

TEST(test_patterns)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 3);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/f");
	read_at(&made, 100, 10, 1000, 100);
	read_at(&made, 101, 10, 1100, 100); /* consecutive */
	read_at(&made, 102, 10, 1300, 100); /* sequential */
	read_at(&made, 103, 10, 1399, 100); /* one before the end: random */
	read_at(&made, 104, 10, 0, 100);    /* random */
	read_at(&made, 105, 20, 100, 100);  /* another process: first access */
	read_at(&made, 106, 10, 100, 50);   /* consecutive */
	read_at(&made, 107, 10, 150, -EIO); /* failed: not counted */
	read_at(&made, 108, 10, -1, 100);   /* no offset: not counted */
	read_at(&made, 109, 10, 150, 0);    /* end of file: consecutive */
	read_at(&made, 110, 20, 200, 100);  /* consecutive */
	CALL(&made, .time = 111, .pid = 20, .op = M_FSTAT, .file = 1, .offset = 0);
	CALL(&made, .time = 112, .pid = 20, .op = M_WRITE, .file = 1, .offset = 300, .result = 10);
	FAULT(&made, .time = 200, .pid = 10, .file = 1, .offset = 0);
	FAULT(&made, .time = 201, .pid = 10, .file = 1, .offset = 4096);  /* consecutive */
	FAULT(&made, .time = 202, .pid = 10, .file = 1, .offset = 65536); /* sequential */
	FAULT(&made, .time = 203, .pid = 10, .file = 1, .offset = 65536); /* same page again: random
									   */
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "pattern.consecutive", 5);
	CHECK(report, "files", 0, "pattern.sequential", 6);
	CHECK(report, "files", 0, "pattern.random", 2);
	CHECK(report, "files", 0, "pattern.followed", 8);
	CHECK(report, "files", 0, "pattern.backward", 2);
	CHECK(report, "files", 0, "read.pattern.consecutive", 4);
	CHECK(report, "files", 0, "read.pattern.sequential", 5);
	CHECK(report, "files", 0, "read.pattern.random", 2);
	CHECK(report, "files", 0, "read.pattern.followed", 7);
	CHECK(report, "files", 0, "read.pattern.backward", 2);
	CHECK(report, "files", 0, "mmap.pattern.consecutive", 1);
	CHECK(report, "files", 0, "mmap.pattern.sequential", 2);
	CHECK(report, "files", 0, "mmap.pattern.random", 1);
	CHECK(report, "files", 0, "size_bytes", 65536 + 4096); /* highest offset accessed */
	done(&made, report);
}

/* Read patterns depend only on reads, per process and thread, starting with the first. */
TEST(test_reads_among_writes)
{
	struct made_trace made;
	struct report *report;

	for (int first = 0; first < 3; first++) {
		BEGIN(&made, .lanes = 3);
		FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/f");
		if (first == 1) /* written before it was read */
			write_at(&made, 90, 10, 0);
		if (first == 2) /* or a write was attempted */
			move_at(&made, M_WRITE, 90, 10, 0, -EIO);
		read_at(&made, 100, 10, 0, 100);
		read_at(&made, 101, 20, 500, 100);
		read_at(&made, 102, 10, 100, 100); /* consecutive */
		write_at(&made, 103, 20, 9000);
		write_at(&made, 104, 10, 9100);
		read_at(&made, 105, 10, 200, 100); /* consecutive; backward if writes counted */
		read_at(&made, 106, 20, 600, 100); /* consecutive; backward if writes counted */
		write_at(&made, 107, 10, 9200);
		read_at(&made, 108, 10, 250, 100); /* backward among reads, too */
		write_at(&made, 109, 30, 9300);
		read_at(&made, 110, 30, 0, 100);   /* first read */
		read_at(&made, 111, 20, 900, 100); /* sequential */
		report = report_between(&made, 10, 1000);
		CHECK(report, "files", 0, "read.pattern.consecutive", 3);
		CHECK(report, "files", 0, "read.pattern.sequential", 4);
		CHECK(report, "files", 0, "read.pattern.random", 1);
		CHECK(report, "files", 0, "read.pattern.followed", 5);
		CHECK(report, "files", 0, "read.pattern.backward", 1);
		CHECK(report, "files", 0, "pattern.sequential", 5);
		done(&made, report);
	}
}

/* Writes do not count towards read patterns. */
TEST(test_only_writes)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 3);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/f");
	read_at(&made, 99, 10, 0, -EIO);
	for (uint64_t i = 0; i < 5; i++)
		write_at(&made, 100 + i, 10, 100 * i);
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "pattern.consecutive", 4);
	CHECK(report, "files", 0, "pattern.followed", 4);
	CHECK(report, "files", 0, "read.pattern.sequential", 0);
	CHECK(report, "files", 0, "read.pattern.random", 0);
	CHECK(report, "files", 0, "read.pattern.followed", 0);
	done(&made, report);
}

/* Patterns are per thread: accesses by other threads, before or in between, do not matter. */
TEST(test_threads_in_turn)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 3);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/f");
	CALL(&made, .time = 90, .pid = 30, .op = M_FSTAT, .file = 1);
	read_at(&made, 100, 10, 0, 100);
	read_at(&made, 101, 20, 0, 100);
	read_at(&made, 102, 10, 100, 100);
	read_at(&made, 103, 20, 50, 100); /* backward */
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "pattern.followed", 2);
	CHECK(report, "files", 0, "pattern.backward", 1);
	CHECK(report, "files", 0, "pattern.sequential", 1);
	CHECK(report, "files", 0, "pattern.random", 1);
	done(&made, report);
}

/* A fault on the last page does not raise the file's size beyond the reported one. */
TEST(test_size_of_a_mapped_file)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .size = 5000, .path = "/f");
	FAULT(&made, .time = 200, .pid = 10, .file = 1, .offset = 4096);
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "size_bytes", 5000);
	done(&made, report);
}

/* Accesses of a few pages at 10 MiB steps. A fault maps 64 KiB around it if they are cached. */
TEST(test_touched_pages)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .size = 200 << 20, .path = "/f");
	for (uint64_t i = 0; i < 16; i++) {
		const uint64_t at = i * (10 << 20);

		FAULT(&made, .time = 100 + 10 * i, .pid = 10, .file = 1, .offset = at);
		if (i < 3) /* it crosses an edge: of 16 accesses of 4 pages, 3 do */
			FAULT(&made, .time = 105 + 10 * i, .pid = 10, .file = 1,
			      .offset = at + 8192 + 4096 * i);
		else if (i < 5) /* nothing was mapped around it */
			FAULT(&made, .time = 105 + 10 * i, .pid = 10, .file = 1,
			      .offset = at + 4096);
		else if (i == 5) /* another thread */
			FAULT(&made, .time = 105 + 10 * i, .pid = 10, .tid = 11, .file = 1,
			      .offset = at + 16384);
	}
	report = report_between(&made, 10, 1000);
	CHECK(report, "files", 0, "mmap.faults", 22);
	CHECK(report, "files", 0, "mmap.touched_pages", 19 + 3 * 16);
	done(&made, report);
}

/* The kernel's count for the process is in the row of its last thread. */
TEST(test_peak_memory)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	EXEC(&made, .time = 11, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	EXIT(&made, .time = 100, .pid = 10, .tid = 11, .thread_only = true);
	EXIT(&made, .time = 200, .pid = 10, .peak_rss = 12288);
	report = report_between(&made, 10, 1000);
	CHECK(report, "processes", 0, "peak_rss_bytes", 12288);
	done(&made, report);
}

TEST(test_paths)
{
	static const struct {
		uint64_t dir;
		const char *path, *joined;
	} cases[] = {
		{ 1, "b/c", "/usr/lib/b/c" },
		{ 1, "/abs", "/abs" },
		{ 1, "../x", "/usr/lib/../x" },
		{ 2, "etc", "/etc" },
		{ 3, "rel", "rel" },
		{ 77, "rel", "rel" },
		{ 0, "rel", "rel" },
		{ 1, NULL, "/usr/lib" },
		{ 0, NULL, "" },
	};
	const size_t count = sizeof(cases) / sizeof(cases[0]);
	struct trace_error error;
	struct file_table files;
	struct made_trace made;
	char path[PATH_JOIN_BYTES];

	BEGIN(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/usr/lib");
	FILE_ROW(&made, .time = 10, .id = 2, .ino = 2, .path = "/");
	FILE_ROW(&made, .time = 10, .id = 3, .ino = 3, .flags = TRACE_FILE_NAMELESS);
	for (size_t i = 0; i < count; i++)
		CALL(&made, .time = 100 + i, .op = M_FSTAT, .pid = 1, .dir = cases[i].dir,
		     .path = cases[i].path, .file2 = 9);
	made_finish(&made, 0, 1000);
	assert_int_equal(file_table_init(&files, &made.reader, 1), 0);
	assert_int_equal(file_table_load(&files, 0, 0, &error), 0);
	for (size_t i = 0; i < trace_reader_block_count(made.reader); i++) {
		if (trace_reader_block_info(made.reader, i)->kind != TRACE_SYSCALL_PATH)
			continue;
		assert_int_equal(trace_reader_read(made.reader, i, ~0ull, &error), 0);
		for (size_t j = 0; j < count; j++) {
			uint64_t id = trace_reader_column(made.reader, SYSCALL_PATH_PATH)[j];

			assert_int_equal(path_join(&files, 0, cases[j].dir, id, path),
					 strlen(cases[j].joined));
			assert_string_equal(path, cases[j].joined);
		}
	}
	file_table_free(&files);
	assert_int_equal(path_directory("/a/b", 4), 2);
	assert_int_equal(path_directory("/a", 2), 1);
	assert_int_equal(path_directory("a", 1), 0);
	assert_int_equal(path_directory("", 0), 0);
	assert_int_equal(path_directory("/a/", 3), 2);
	made_close(&made);
}

/* Paths longer than the limit are cut, with the terminating NUL. */
TEST(test_long_paths)
{
	static char longest[TRACE_STRING_BYTES_MAX + 2], path[PATH_JOIN_BYTES];
	struct trace_error error;
	struct file_table files;
	struct made_trace made;

	memset(longest, 'x', sizeof(longest) - 1);
	longest[0] = '/';
	BEGIN(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = longest);
	CALL(&made, .time = 100, .op = M_FSTAT, .pid = 1, .dir = 1, .path = longest + 1,
	     .result = -ENOENT);
	made_finish(&made, 0, 1000);
	assert_int_equal(file_table_init(&files, &made.reader, 1), 0);
	assert_int_equal(file_table_load(&files, 0, 0, &error), 0);
	assert_int_equal(path_join(&files, 0, 1, 2, path), PATH_JOIN_BYTES - 1);
	assert_int_equal(path[PATH_JOIN_BYTES - 1], 0);
	file_table_free(&files);
	report_free(made_report(&made.reader, 1));
	made_close(&made);
}

static void fail_at(struct made_trace *made, uint64_t time, uint64_t dir, const char *path,
		    int64_t result)
{
	CALL(made, .time = time, .dur = 10, .pid = 10, .op = M_FSTAT, .dir = dir, .path = path,
	     .result = result);
}

TEST(test_failed_lookups)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .path = "/usr/lib");
	/* ENOTDIR for a regular file is an answer, not a failed lookup. */
	CALL(&made, .time = 90, .dur = 10, .pid = 10, .op = M_OPENAT, .path = "/srv/a.txt",
	     .result = -ENOTDIR);
	fail_at(&made, 100, 0, "/usr/lib/a.so", -ENOENT);
	fail_at(&made, 110, 1, "b.so", -ENOENT);
	fail_at(&made, 120, 1, "b.so", -EACCES);
	fail_at(&made, 130, 0, "/etc/x", -ENOENT);
	fail_at(&made, 140, 0, "/etc/x", 0);	 /* found */
	fail_at(&made, 150, 0, "here", -ENOENT); /* unknown directory */
	fail_at(&made, 160, 1, NULL, -EBADF);	 /* no path: not a lookup */
	fail_at(&made, 170, 0, "/top", -ENOTDIR);
	fail_at(&made, 180, 0, "/etc/y", -ENOENT);
	report = report_between(&made, 10, 1000);
	assert_int_equal(report_table(report, "failed_lookups")->row_count, 4);
	check_text(report, "failed_lookups", 0, "directory", "/usr/lib");
	CHECK(report, "failed_lookups", 0, "count", 3);
	CHECK(report, "failed_lookups", 0, "enoent", 2);
	CHECK(report, "failed_lookups", 0, "other", 1);
	CHECK(report, "failed_lookups", 0, "thread_time_ns", 30);
	check_text(report, "failed_lookups", 0, "example", "/usr/lib/a.so");
	check_text(report, "failed_lookups", 1, "directory", "/etc");
	CHECK(report, "failed_lookups", 1, "count", 2);
	check_null(report, "failed_lookups", 2, "directory");
	check_text(report, "failed_lookups", 2, "example", "here");
	check_text(report, "failed_lookups", 3, "directory", "/");
	CHECK(report, "failed_lookups", 3, "enoent", 0);
	CHECK(report, "failed_lookups", 3, "other", 1);
	done(&made, report);
}

/* Names beyond the limit are counted together. */
TEST(test_many_directories)
{
	enum { DIRECTORIES = 70000, LIMIT = 65536 };
	struct made_trace made;
	struct report *report;
	uint64_t sum = 0;
	size_t rows;

	make_start(&made);
	for (int i = 0; i < DIRECTORIES; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/d%d/f", i);
		fail_at(&made, 100 + i, 0, path, -ENOENT);
	}
	report = report_between(&made, 10, 1000000);
	rows = report_table(report, "failed_lookups")->row_count;
	assert_int_equal(rows, LIMIT + 1);
	for (size_t i = 0; i < rows; i++)
		sum += ask(report, "failed_lookups", i, "count")->uint;
	assert_int_equal(sum, DIRECTORIES);
	CHECK(report, "failed_lookups", 0, "count", DIRECTORIES - LIMIT);
	check_null(report, "failed_lookups", 0, "directory");
	assert_non_null(report_table(report, "failed_lookups")->note);
	done(&made, report);
}
