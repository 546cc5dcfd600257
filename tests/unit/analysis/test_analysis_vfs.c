/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The VFS layer in hand-made traces: no byte counts twice in a total. */
#define OWN_MAIN
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>

#include "ask_report.h"

/* The row whose columns hold these words; the row count if there is none. */
static size_t row_of(const struct report *report, const char *table, const char *column,
		     const char *word, const char *other_column, const char *other)
{
	size_t count = report_table(report, table)->row_count;

	for (size_t i = 0; i < count; i++)
		if (cell_is(ask(report, table, i, column), word) &&
		    cell_is(ask(report, table, i, other_column), other))
			return i;
	return count;
}

static void check_method(const struct report *report, const char *method, const char *side,
			 uint64_t count, uint64_t bytes, uint64_t thread_time_ns)
{
	size_t row = row_of(report, "methods", "method", method, "op", side);

	if (row == report_table(report, "methods")->row_count)
		fail_msg("no method %s, %s", method, side);
	CHECK(report, "methods", row, "count", count);
	CHECK(report, "methods", row, "bytes", bytes);
	CHECK(report, "methods", row, "thread_time_ns", thread_time_ns);
}

/* A read of an overlay file and of the file below it; a program execed, and the kernel's reads of
 * it; a kernel thread.
 */
static void make_with_calls(struct made_trace *made)
{
	BEGIN(made, .vfs = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(made, .time = 0, .id = 1, .dev = 1, .ino = 1, .path = "/merged/a");
	FILE_ROW(made, .time = 0, .id = 2, .dev = 2, .ino = 1, .path = "/lower/a");
	FILE_ROW(made, .time = 0, .id = 3, .dev = 1, .ino = 3, .path = "/bin/b");
	FILE_ROW(made, .time = 0, .id = 4, .dev = 1, .ino = 4, .path = "/image");
	CALL(made, .time = 100, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .asked = 4096,
	     .result = 4096);
	VFS(made, .time = 110, .dur = 80, .pid = 10, .op = M_APART, .file = 2, .asked = 4096,
	    .result = 4096, .flags = TRACE_VFS_IN_CALL);
	VFS(made, .time = 310, .dur = 20, .pid = 10, .op = M_KERNEL_READ, .file = 3, .asked = 256,
	    .result = 256, .flags = TRACE_VFS_IN_CALL);
	VFS(made, .time = 500, .dur = 30, .pid = 10, .op = M_KERNEL_READ, .file = 3, .asked = 64,
	    .result = 50);
	VFS(made, .time = 600, .dur = 70, .pid = 0, .tid = 77, .op = M_APART, .file = 4,
	    .asked = 8192, .result = 8192, .flags = TRACE_VFS_THREAD);
}

TEST(test_with_calls)
{
	struct made_trace made;
	struct report *report;
	size_t files;

	make_with_calls(&made);
	report = report_of(&made, 1000);
	CHECK(report, "totals", 0, "read.count", 3);
	CHECK(report, "totals", 0, "read.bytes", 4096 + 256 + 50);
	/* Operations inside a call add no time beyond the call's. */
	CHECK(report, "totals", 0, "read.time_ns", 100 + 30);
	CHECK(report, "totals", 0, "io.thread_time_ns", 100 + 30);
	check_method(report, "syscall", "read", 1, 4096, 100);
	check_method(report, "kernel", "read", 2, 306, 30);
	check_method(report, "kernel", "write", 0, 0, 0);
	files = report_table(report, "files")->row_count;
	assert_int_equal(files, 2);
	for (size_t i = 0; i < files; i++)
		assert_null(memmem(ask(report, "files", i, "path")->text,
				   ask(report, "files", i, "path")->length, "lower", 5));
	files = row_of(report, "operations", "layer", "vfs", "op", "vfs_iter_read_apart");
	CHECK(report, "operations", files, "count", 2);
	CHECK(report, "operations", files, "bytes", 4096 + 8192);
	done(&made, report);
}

/* Lost events: values outside the totals gain nothing, the rest gain what the kernel counted. */
TEST(test_lost)
{
	struct made_trace made;
	struct report *report;

	make_with_calls(&made);
	made.operations[M_APART].count += 5;
	made.operations[M_APART].bytes += 5000;
	made.operations[M_KERNEL_READ].count += 2;
	made.operations[M_KERNEL_READ].bytes += 100;
	report = report_of(&made, 1000);
	CHECK(report, "totals", 0, "read.count", 5);
	CHECK(report, "totals", 0, "read.bytes", 4096 + 256 + 50 + 100);
	check_method(report, "kernel", "read", 4, 406, 30);
	done(&made, report);
}

TEST(test_without_calls)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .vfs = true, .off = "syscall");
	EXEC(&made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 0, .id = 1, .dev = 1, .ino = 1, .path = "/a");
	FILE_ROW(&made, .time = 0, .id = 2, .dev = 1, .ino = 2, .path = "/b");
	VFS(&made, .time = 100, .dur = 10, .pid = 10, .op = M_VFS_READ, .file = 1, .asked = 4096,
	    .result = 4096);
	VFS(&made, .time = 200, .dur = 20, .pid = 10, .op = M_VFS_READ, .file = 1, .asked = 512,
	    .offset = 4096, .result = 512, .flags = TRACE_VFS_DIRECT);
	VFS(&made, .time = 300, .dur = 30, .pid = 10, .op = M_SPLICE_READ, .file = 1, .asked = 700,
	    .result = 700);
	VFS(&made, .time = 400, .dur = 40, .pid = 10, .op = M_SPLICE_WRITE, .file = 2, .asked = 700,
	    .result = 700);
	VFS(&made, .time = 500, .dur = 50, .pid = 10, .op = M_VFS_READ, .file = 1, .asked = 10,
	    .result = -EIO);
	report = report_of(&made, 1000);
	CHECK(report, "totals", 0, "read.count", 4);
	CHECK(report, "totals", 0, "read.errors", 1);
	CHECK(report, "totals", 0, "read.bytes", 4096 + 512 + 700);
	CHECK(report, "totals", 0, "read.time_ns", 110);
	CHECK(report, "totals", 0, "write.bytes", 700);
	CHECK(report, "totals", 0, "sync.count", 0);
	check_null(report, "totals", 0, "metadata");
	check_method(report, "syscall", "read", 2, 4096, 60);
	check_method(report, "direct", "read", 1, 512, 20);
	check_method(report, "splice", "read", 1, 700, 30);
	check_method(report, "splice", "write", 1, 700, 40);
	done(&made, report);
}

/* For tests of the Python reader. */
static int leave(const char *path)
{
	struct made_trace made;
	FILE *file = fopen(path, "w");
	size_t written;

	if (!file)
		return 1;
	make_with_calls(&made);
	made_finish(&made, 0, 1000);
	written = fwrite(made.bytes, 1, made.length, file);
	if (fclose(file) || written != made.length)
		return 1;
	made_close(&made);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--make"))
		return leave(argv[2]);
	return cmocka_run_group_tests(unit_tests, NULL, NULL);
}
