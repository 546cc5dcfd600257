/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Totals, methods and operations of hand-made traces, checked against numbers computed by hand. */
#include "unit_test.h"

#include <errno.h>

#include "ask_report.h"

#define SHARED_WRITE (TRACE_FAULT_WRITE | TRACE_FAULT_SHARED)

/* Two processes; the first has two threads:
 *
 *        100       200       300       400       500
 *   10   |=========|  read by thread 10
 *   10        |=========|  read by thread 11
 *   20                       |====|  read
 *   20   |=========|  write
 */
static void make_overlap(struct made_trace *made)
{
	BEGIN(made);
	EXEC(made, .time = 50, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(made, .time = 50, .id = 1, .dev = 1, .ino = 1, .size = 8192, .path = "/data/a");
	FILE_ROW(made, .time = 50, .id = 2, .dev = 1, .ino = 2, .path = "/data/b");
	CALL(made, .time = 100, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .offset = 0,
	     .asked = 4096, .result = 4096, .fetched = 4096);
	CALL(made, .time = 150, .dur = 100, .pid = 10, .tid = 11, .op = M_READ, .file = 1,
	     .offset = 4096, .asked = 4097, .result = 4000, .flags = TRACE_OP_DIRECT);
	CALL(made, .time = 300, .dur = 50, .pid = 20, .op = M_PREAD, .file = 1, .offset = 0,
	     .asked = 100, .result = -EIO);
	CALL(made, .time = 100, .dur = 100, .pid = 20, .op = M_WRITE, .file = 2, .offset = 0,
	     .asked = 1 << 20, .result = 1 << 20, .fetched = 4096);
}

/* Operations that the recording or the end of their thread cut off are no errors. */
TEST(test_cut_off)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_overlap(&made);
	for (int i = 0; i < 40; i++)
		CALL(&made, .time = 400 + i, .dur = 10, .pid = 10, .op = M_READ, .file = 1,
		     .asked = 100, .result = -EINPROGRESS, .flags = TRACE_OP_UNFINISHED);
	CALL(&made, .time = 450, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .asked = 100,
	     .result = -EINTR, .flags = TRACE_OP_UNFINISHED);
	CALL(&made, .time = 450, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .asked = 100,
	     .result = -EINTR);
	report = report_between(&made, 50, 1050);
	CHECK(report, "totals", 0, "read.count", 3 + 42);
	CHECK(report, "totals", 0, "read.errors", 1 + 1);
	row = find_row(report, "operations", "op", "read");
	CHECK(report, "operations", row, "errors", 1);
	report_free(report);
}

TEST(test_merged_time)
{
	struct made_trace made;
	struct report *report;

	make_overlap(&made);
	report = report_between(&made, 50, 1050);
	CHECK(report, "totals", 0, "read.count", 3);
	CHECK(report, "totals", 0, "read.errors", 1);
	CHECK(report, "totals", 0, "read.bytes", 8096);
	CHECK(report, "totals", 0, "read.time_ns", 200); /* [100, 250) and [300, 350) */
	CHECK(report, "totals", 0, "read.thread_time_ns", 250);
	CHECK(report, "totals", 0, "read.fetched_bytes", 4096);
	CHECK(report, "totals", 0, "write.count", 1);
	CHECK(report, "totals", 0, "write.errors", 0);
	CHECK(report, "totals", 0, "write.bytes", 1 << 20);
	CHECK(report, "totals", 0, "write.time_ns", 100);
	CHECK(report, "totals", 0, "write.fetched_bytes", 4096);
	CHECK(report, "totals", 0, "io.time_ns", 200);
	CHECK(report, "totals", 0, "io.thread_time_ns", 350);
	CHECK(report, "totals", 0, "metadata.count", 0);
	CHECK(report, "totals", 0, "sync.time_ns", 0);
	check_null(report, "totals", 0, "metadata.bytes");
	check_null(report, "totals", 0, "storage_read");
	check_null(report, "totals", 0, "storage_write");
	CHECK(report, "trace", 0, "duration_ns", 1000);
	done(&made, report);
}

/* Each operation family once, at separate times. */
static void make_families(struct made_trace *made)
{
	BEGIN(made);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(made, .time = 0, .id = 1, .dev = 1, .ino = 1, .path = "/data/a");
	FILE_ROW(made, .time = 0, .id = 2, .dev = 1, .ino = 2, .path = "/data/b");
	CALL(made, .time = 100, .dur = 10, .pid = 10, .op = M_OPENAT, .file = 1, .result = 3);
	CALL(made, .time = 200, .dur = 20, .pid = 10, .op = M_FSTAT, .result = -ENOENT,
	     .path = "/none");
	CALL(made, .time = 300, .dur = 30, .pid = 10, .op = M_FSYNC, .file = 1, .result = -EIO);
	/* One map call that fetched data, and one that only mapped. */
	CALL(made, .time = 400, .dur = 40, .pid = 10, .op = M_MMAP, .file = 1, .offset = 0,
	     .asked = 65536, .result = 0x7f0000000000, .flags = TRACE_OP_POPULATE, .fetched = 65536,
	     .major = 3);
	CALL(made, .time = 500, .dur = 50, .pid = 10, .op = M_MMAP, .file = 1, .offset = 0,
	     .asked = 65536, .result = 0x7f0000000000);
	/* File to file, file to socket, pipe to file. */
	CALL(made, .time = 600, .dur = 60, .pid = 10, .op = M_SENDFILE, .file = 1, .file2 = 2,
	     .offset = 0, .asked = 1000, .result = 900, .fetched = 8192, .created = 12288);
	CALL(made, .time = 700, .dur = 70, .pid = 10, .op = M_SENDFILE, .file = 1, .dir = 1,
	     .offset = 900, .asked = 100, .result = 100);
	CALL(made, .time = 800, .dur = 80, .pid = 10, .op = M_SENDFILE, .file2 = 2, .offset = -1,
	     .asked = 100, .result = 50);
	CALL(made, .time = 900, .dur = 90, .pid = 10, .op = M_READAHEAD, .file = 1, .offset = 0,
	     .asked = 1 << 20, .result = 0, .fetched = 1 << 20);
	/* A read whose buffer is a cold mapping: its faults have rows of their own. */
	CALL(made, .time = 1000, .dur = 100, .pid = 10, .op = M_READ, .file = 1, .offset = 0,
	     .asked = 10, .result = 10, .fault_fetched = 4096);
	FAULT(made, .time = 1010, .dur = 5, .pid = 10, .file = 2, .offset = 0,
	      .flags = TRACE_FAULT_IN_CALL, .fetched = 4096);
	/* Faults: private write, major read, shared write, shared read. */
	FAULT(made, .time = 2000, .dur = 10, .pid = 10, .file = 1, .offset = 4096,
	      .flags = TRACE_FAULT_WRITE, .fetched = 4096);
	FAULT(made, .time = 2100, .dur = 20, .pid = 10, .file = 1, .offset = 8192,
	      .flags = TRACE_FAULT_MAJOR, .fetched = 16384);
	FAULT(made, .time = 2200, .dur = 40, .pid = 10, .file = 1, .offset = 0,
	      .flags = SHARED_WRITE | TRACE_FAULT_MAJOR, .fetched = 4096);
	FAULT(made, .time = 2210, .dur = 10, .pid = 10, .tid = 11, .file = 1, .offset = 4096,
	      .flags = TRACE_FAULT_SHARED);
	made_cache(made, 2300, 1, 12288);
	made->operations[M_ANONYMOUS] =
		(struct trace_operation_total) { .count = 1000, .thread_time_ns = 5000 };
	made->operations[M_SHMEM] =
		(struct trace_operation_total) { .count = 7, .thread_time_ns = 70 };
	made->operations[M_COMPAT].count = 4;
}

TEST(test_families)
{
	struct made_trace made;
	struct report *report;

	make_families(&made);
	report = report_of(&made, 3000);
	CHECK(report, "totals", 0, "metadata.count", 2);
	CHECK(report, "totals", 0, "metadata.errors", 1);
	CHECK(report, "totals", 0, "metadata.time_ns", 30);
	CHECK(report, "totals", 0, "sync.count", 1);
	CHECK(report, "totals", 0, "sync.errors", 1);
	CHECK(report, "totals", 0, "sync.time_ns", 30);
	/* The read and two transfers. Data fetched by readahead counts, its time does not. */
	CHECK(report, "totals", 0, "read.count", 3);
	CHECK(report, "totals", 0, "read.bytes", 1010);
	CHECK(report, "totals", 0, "read.fetched_bytes", 8192 + (1 << 20));
	CHECK(report, "totals", 0, "read.created_bytes", 0);
	CHECK(report, "totals", 0, "write.created_bytes", 12288);
	CHECK(report, "totals", 0, "read.time_ns", 230);
	CHECK(report, "totals", 0, "write.count", 2);
	CHECK(report, "totals", 0, "write.bytes", 950);
	/* One call has a file on both sides: its time counts as read time. */
	CHECK(report, "totals", 0, "write.time_ns", 80);
	CHECK(report, "totals", 0, "write.thread_time_ns", 80);
	CHECK(report, "totals", 0, "write.fetched_bytes", 0);
	/* Four faults, and a populating call, which is not a fault. */
	CHECK(report, "totals", 0, "mmap_read.faults", 4);
	CHECK(report, "totals", 0, "mmap_read.major", 1 + 3);
	CHECK(report, "totals", 0, "mmap_read.fetched_bytes", 4096 + 4096 + 16384 + 65536);
	CHECK(report, "totals", 0, "mmap_read.time_ns", 40 + 5 + 10 + 20 + 10);
	CHECK(report, "totals", 0, "mmap_read.thread_time_ns", 85);
	CHECK(report, "totals", 0, "mmap_write.faults", 1);
	CHECK(report, "totals", 0, "mmap_write.major", 1);
	CHECK(report, "totals", 0, "mmap_write.fetched_bytes", 4096);
	CHECK(report, "totals", 0, "mmap_write.time_ns", 40);
	/* Excludes the mmap that only mapped and the readahead; nested faults count once. */
	CHECK(report, "totals", 0, "io.time_ns",
	      10 + 20 + 30 + 40 + 60 + 70 + 80 + 100 + 10 + 20 + 40);
	/* Nested faults count here: thread time of every call and fault. */
	CHECK(report, "totals", 0, "io.thread_time_ns",
	      10 + 20 + 30 + 40 + 60 + 70 + 80 + 100 + 5 + 10 + 20 + 40 + 10);
	CHECK(report, "totals", 0, "anonymous_faults.count", 1000);
	CHECK(report, "totals", 0, "anonymous_faults.time_ns", 5000);
	CHECK(report, "totals", 0, "shmem_faults.count", 7);
	done(&made, report);
}

/* A number of a method, for one operation or all. */
static uint64_t method(const struct report *report, const char *name, const char *op,
		       const char *column)
{
	const struct table *methods = report_table(report, "methods");

	for (size_t i = 0; i < methods->row_count; i++)
		if (!strcmp(ask(report, "methods", i, "method")->text, name) &&
		    !strcmp(ask(report, "methods", i, "op")->text, op)) {
			assert_int_equal(ask(report, "methods", i, column)->type, CELL_UINT);
			return ask(report, "methods", i, column)->uint;
		}
	fail_msg("no method %s for %s", name, op);
	return 0;
}

static uint64_t all_methods(const struct report *report, const char *op, const char *column)
{
	const struct table *methods = report_table(report, "methods");
	uint64_t sum = 0;

	for (size_t i = 0; i < methods->row_count; i++)
		if (!strcmp(ask(report, "methods", i, "op")->text, op) &&
		    ask(report, "methods", i, column)->type == CELL_UINT)
			sum += ask(report, "methods", i, column)->uint;
	return sum;
}

static uint64_t total(const struct report *report, const char *column)
{
	return ask(report, "totals", 0, column)->uint;
}

/* Must hold for every trace. */
static void check_methods_add_up(const struct report *report)
{
	assert_int_equal(all_methods(report, "read", "count"),
			 total(report, "read.count") + total(report, "mmap_read.faults"));
	assert_int_equal(all_methods(report, "read", "bytes"),
			 total(report, "read.bytes") + total(report, "mmap_read.fetched_bytes"));
	assert_int_equal(all_methods(report, "read", "fetched_bytes"),
			 total(report, "read.fetched_bytes") +
				 total(report, "mmap_read.fetched_bytes"));
	assert_int_equal(all_methods(report, "read", "thread_time_ns"),
			 total(report, "read.thread_time_ns") +
				 total(report, "mmap_read.thread_time_ns"));
	assert_int_equal(all_methods(report, "write", "count"),
			 total(report, "write.count") + total(report, "mmap_write.faults"));
	assert_int_equal(all_methods(report, "write", "bytes"), total(report, "write.bytes"));
	assert_int_equal(all_methods(report, "write", "created_bytes"),
			 total(report, "write.created_bytes"));
	assert_int_equal(all_methods(report, "write", "fetched_bytes"),
			 total(report, "write.fetched_bytes") +
				 total(report, "mmap_write.fetched_bytes"));
	assert_int_equal(all_methods(report, "write", "thread_time_ns"),
			 total(report, "write.thread_time_ns") +
				 total(report, "mmap_write.thread_time_ns"));
}

/* The same call repeated: attributes that all of them share count each time. */
TEST(test_over_and_over)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	FILE_ROW(&made, .id = 1, .ino = 1, .size = 1 << 30, .path = "/data/a");
	for (unsigned int i = 0; i < 300; i++)
		CALL(&made, .time = 1000 + 100 * i, .dur = 10 + i % 3, .pid = 10, .op = M_PREAD,
		     .file = 1, .offset = i * 4096 * (i % 2), .asked = 8192, .result = 4096,
		     .fetched = 512, .flags = TRACE_OP_DIRECT);
	report = report_of(&made, 100000);
	CHECK(report, "totals", 0, "read.count", 300);
	CHECK(report, "totals", 0, "read.errors", 0);
	CHECK(report, "totals", 0, "read.bytes", 300 * 4096);
	CHECK(report, "totals", 0, "read.fetched_bytes", 300 * 512);
	CHECK(report, "totals", 0, "read.time_ns", 300 * 11);
	CHECK(report, "totals", 0, "read.thread_time_ns", 300 * 11);
	CHECK(report, "operations", 0, "count", 300);
	CHECK(report, "operations", 0, "bytes", 300 * 4096);
	CHECK(report, "operations", 0, "fetched_bytes", 300 * 512);
	CHECK(report, "operations", 0, "thread_time_ns", 300 * 11);
	CHECK(report, "operations", 0, "max_ns", 12);
	CHECK(report, "files", 0, "direct_bytes", 300 * 4096);
	CHECK(report, "files", 0, "size_bytes", 1 << 30);
	CHECK(report, "files", 0, "pattern.random", 149);
	CHECK(report, "files", 0, "pattern.sequential", 150);
	done(&made, report);

	BEGIN(&made);
	for (unsigned int i = 0; i < 300; i++)
		CALL(&made, .time = 1000 + 100 * i, .dur = 5, .pid = 10, .op = M_PREAD,
		     .result = -EIO);
	report = report_of(&made, 100000);
	CHECK(report, "totals", 0, "read.errors", 300);
	CHECK(report, "totals", 0, "read.bytes", 0);
	CHECK(report, "operations", 0, "errors", 300);
	done(&made, report);
}

TEST(test_methods)
{
	struct made_trace made;
	struct report *report;

	make_families(&made);
	CALL(&made, .time = 2500, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .offset = 0,
	     .asked = 512, .result = 512, .flags = TRACE_OP_DIRECT);
	CALL(&made, .time = 2505, .dur = 10, .pid = 10, .tid = 11, .op = M_WRITE, .file = 1,
	     .offset = 0, .asked = 512, .result = 512, .flags = TRACE_OP_DIRECT);
	report = report_of(&made, 3000);
	assert_int_equal(report_table(report, "methods")->row_count, 8);
	assert_int_equal(method(report, "syscall", "read", "count"), 1);
	assert_int_equal(method(report, "syscall", "read", "bytes"), 10);
	assert_int_equal(method(report, "syscall", "read", "fetched_bytes"), 1 << 20);
	assert_int_equal(method(report, "syscall", "read", "time_ns"), 100);
	assert_int_equal(method(report, "syscall", "write", "count"), 0);
	assert_int_equal(method(report, "direct", "read", "bytes"), 512);
	assert_int_equal(method(report, "direct", "write", "bytes"), 512);
	assert_int_equal(method(report, "splice", "read", "count"), 2);
	assert_int_equal(method(report, "splice", "read", "bytes"), 1000);
	assert_int_equal(method(report, "splice", "read", "fetched_bytes"), 8192);
	assert_int_equal(method(report, "splice", "write", "count"), 2);
	assert_int_equal(method(report, "splice", "write", "bytes"), 950);
	assert_int_equal(method(report, "mmap", "read", "count"), 4);
	assert_int_equal(method(report, "mmap", "read", "bytes"), 4096 + 4096 + 16384 + 65536);
	assert_int_equal(method(report, "mmap", "write", "count"), 1);
	assert_int_equal(method(report, "mmap", "write", "fetched_bytes"), 4096);
	assert_int_equal(method(report, "mmap", "write", "bytes"), 0); /* nothing was dirtied */
	check_methods_add_up(report);
	done(&made, report);
}

TEST(test_operations)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_families(&made);
	report = report_of(&made, 3000);
	assert_int_equal(report_table(report, "operations")->row_count, 12);
	row = find_row(report, "operations", "op", "sendfile");
	check_text(report, "operations", row, "layer", "syscall");
	check_text(report, "operations", row, "family", "transfer");
	CHECK(report, "operations", row, "count", 3); /* calls, however many files they have */
	CHECK(report, "operations", row, "bytes", 1050);
	CHECK(report, "operations", row, "thread_time_ns", 210);
	CHECK(report, "operations", row, "sizes.<=4KiB", 3);
	row = find_row(report, "operations", "op", "mmap");
	CHECK(report, "operations", row, "count", 2);
	CHECK(report, "operations", row, "fetched_bytes", 65536);
	check_null(report, "operations", row, "bytes");
	check_null(report, "operations", row, "sizes.<=64KiB");
	row = find_row(report, "operations", "op", "fault");
	CHECK(report, "operations", row, "count", 5);
	CHECK(report, "operations", row, "max_ns", 40);
	check_null(report, "operations", row, "errors");
	/* Known only from totals. Longest first. */
	check_text(report, "operations", 0, "op", "anonymous_fault");
	CHECK(report, "operations", 0, "thread_time_ns", 5000);
	check_null(report, "operations", 0, "p50_ns");
	row = find_row(report, "operations", "op", "compat");
	CHECK(report, "operations", row, "count", 4);
	check_null(report, "operations", row, "thread_time_ns");
	row = find_row(report, "operations", "op", "pagecache");
	CHECK(report, "operations", row, "fetched_bytes", 12288);
	assert_null(report_table(report, "operations")->note);
	done(&made, report);
}

TEST(test_percentiles_and_sizes)
{
	static const struct {
		uint64_t asked;
		const char *column;
	} borders[] = {
		{ 0, "sizes.<=4KiB" },
		{ 4096, "sizes.<=4KiB" },
		{ 4097, "sizes.<=16KiB" },
		{ 16384, "sizes.<=16KiB" },
		{ 16385, "sizes.<=64KiB" },
		{ 65536, "sizes.<=64KiB" },
		{ 65537, "sizes.<=256KiB" },
		{ 1 << 18, "sizes.<=256KiB" },
		{ (1 << 18) + 1, "sizes.<=1MiB" },
		{ 1 << 20, "sizes.<=1MiB" },
		{ (1 << 20) + 1, "sizes.<=4MiB" },
		{ 1 << 22, "sizes.<=4MiB" },
		{ (1 << 22) + 1, "sizes.<=16MiB" },
		{ 1 << 24, "sizes.<=16MiB" },
		{ (1 << 24) + 1, "sizes.<=64MiB" },
		{ 1 << 26, "sizes.<=64MiB" },
		{ (1 << 26) + 1, "sizes.<=256MiB" },
		{ 1 << 28, "sizes.<=256MiB" },
		{ (1 << 28) + 1, "sizes.<=1GiB" },
		{ 1 << 30, "sizes.<=1GiB" },
		{ (1 << 30) + 1, "sizes.<=4GiB" },
		{ 1ull << 32, "sizes.<=4GiB" },
		{ (1ull << 32) + 1, "sizes.>4GiB" },
		{ UINT64_MAX, "sizes.>4GiB" },
	};
	const size_t count = sizeof(borders) / sizeof(borders[0]);
	struct made_trace made;
	struct report *report;

	for (size_t i = 0; i < count; i++) {
		size_t expected = 0;

		BEGIN(&made);
		for (size_t j = 0; j <= i; j++) {
			CALL(&made, .time = 100 * j, .dur = j + 1, .pid = 10, .op = M_READ,
			     .asked = borders[j].asked);
			expected += !strcmp(borders[j].column, borders[i].column);
		}
		report = report_of(&made, 10000);
		CHECK(report, "operations", 0, borders[i].column, expected);
		CHECK(report, "operations", 0, "p50_ns", (i + 1 + 1) / 2);
		CHECK(report, "operations", 0, "p99_ns", i + 1);
		CHECK(report, "operations", 0, "max_ns", i + 1);
		done(&made, report);
	}
}

/* The kernel counted more operations than there are rows. */
TEST(test_lost)
{
	struct made_trace made;
	struct report *report;
	size_t row;

	make_overlap(&made);
	made.operations[M_READ].count += 100;
	made.operations[M_READ].errors += 1;
	made.operations[M_READ].bytes += 409600;
	made.operations[M_READ].thread_time_ns += 10000;
	made.operations[M_READ].fetched_bytes += 8192;
	made.operations[M_FAULT].count += 10;
	made.operations[M_FAULT].thread_time_ns += 500;
	made.operations[M_FAULT].fetched_bytes += 40960;
	made.operations[M_SENDFILE].count += 2;
	made.operations[M_SENDFILE].bytes += 2000;
	made.operations[M_SENDFILE].fetched_bytes += 20480;
	made.operations[M_SENDFILE].created_bytes += 24576;
	made.operations[M_READAHEAD].count += 1;
	made.operations[M_READAHEAD].fetched_bytes += 4096;
	made.kinds[TRACE_SYSCALL].events += 103;
	made.kinds[TRACE_SYSCALL].lost += 103;
	made.kinds[TRACE_FAULT].events += 10;
	made.kinds[TRACE_FAULT].lost += 10;
	report = report_between(&made, 50, 1050);
	CHECK(report, "trace", 0, "lost.total", 113);
	CHECK(report, "trace", 0, "unaccounted", 0);
	assert_true(ask(report, "trace", 0, "times_are_lower_bounds")->flag);
	assert_true(ask(report, "totals", 0, "io.time_ns")->at_least);
	assert_true(ask(report, "totals", 0, "read.time_ns")->at_least);
	assert_false(ask(report, "totals", 0, "read.thread_time_ns")->at_least);
	assert_false(ask(report, "totals", 0, "read.bytes")->at_least);
	assert_false(ask(report, "trace", 0, "duration_ns")->at_least);
	assert_true(ask(report, "files", 0, "read.time_ns")->at_least);
	CHECK(report, "trace", 0, "lost.by_layer.syscall", 103);
	CHECK(report, "trace", 0, "lost.by_layer.fault", 10);
	CHECK(report, "trace", 0, "lost.by_layer.task", 0);
	CHECK(report, "trace", 0, "events", 4 + 1 + 2 + 113);
	CHECK(report, "totals", 0, "read.count", 3 + 100 + 2);
	CHECK(report, "totals", 0, "read.errors", 1 + 1);
	CHECK(report, "totals", 0, "read.bytes", 8096 + 409600 + 2000);
	CHECK(report, "totals", 0, "read.thread_time_ns", 250 + 10000);
	CHECK(report, "totals", 0, "read.time_ns", 200); /* from the rows, the best available */
	CHECK(report, "totals", 0, "read.fetched_bytes", 4096 + 8192 + 4096 + 20480);
	CHECK(report, "totals", 0, "write.fetched_bytes", 4096);
	CHECK(report, "totals", 0, "write.created_bytes", 24576);
	CHECK(report, "totals", 0, "write.count", 1 + 2);
	CHECK(report, "totals", 0, "mmap_read.faults", 10);
	CHECK(report, "totals", 0, "mmap_read.fetched_bytes", 40960);
	CHECK(report, "totals", 0, "mmap_read.thread_time_ns", 500);
	row = find_row(report, "operations", "op", "read");
	CHECK(report, "operations", row, "count", 102);
	CHECK(report, "operations", row, "bytes", 8096 + 409600);
	CHECK(report, "operations", row, "max_ns", 100);
	assert_non_null(report_table(report, "operations")->note);
	assert_int_equal(method(report, "unknown", "read", "count"), 100);
	assert_int_equal(method(report, "unknown", "read", "bytes"), 409600);
	assert_int_equal(method(report, "splice", "read", "bytes"), 2000);
	assert_int_equal(method(report, "mmap", "read", "bytes"), 40960);
	assert_int_equal(method(report, "syscall", "read", "fetched_bytes"), 4096 + 4096);
	check_methods_add_up(report);
	row = find_row(report, "methods", "method", "unknown");
	check_null(report, "methods", row, "time_ns");
	done(&made, report);
}

/* The kernel counted 3 calls that have no row, and a fork has a row but no count. */
TEST(test_unaccounted)
{
	struct made_trace made;
	struct report *report;

	make_families(&made);
	made.kinds[TRACE_SYSCALL].events += 5;
	made.kinds[TRACE_SYSCALL].lost += 2;
	made.kinds[TRACE_EXEC].events--;
	report = report_of(&made, 3000);
	CHECK(report, "trace", 0, "unaccounted", 3 + 1);
	CHECK(report, "trace", 0, "lost.total", 2);
	done(&made, report);
}

/* Submissions by calls with rows, by a call that failed, and by lost calls. */
TEST(test_submissions)
{
	struct made_trace made;
	struct report *report;

	BEGIN(&made);
	EXEC(&made, .time = 0, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	CALL(&made, .time = 10, .dur = 5, .pid = 10, .op = M_URING, .result = 7);
	CALL(&made, .time = 20, .dur = 5, .pid = 10, .op = M_URING, .result = -EBADF);
	CALL(&made, .time = 30, .dur = 5, .pid = 11, .op = M_AIO, .result = 3);
	made.operations[M_URING].submissions = 7 + 100;
	made.operations[M_AIO].submissions = 3;
	made.operations[M_SQPOLL].count = 2;
	made.operations[M_SQPOLL].errors = 1;
	report = report_of(&made, 3000);
	CHECK(report, "totals", 0, "async.submissions_not_traced", 110);
	CHECK(report, "totals", 0, "async.io_uring", 107);
	CHECK(report, "totals", 0, "async.libaio", 3);
	CHECK(report, "totals", 0, "async.polled_rings", 1);
	CHECK(report, "totals", 0, "io.time_ns", 0);
	CHECK(report, "processes", find_row(report, "processes", "comm", "a"), "async_submissions",
	      7);
	done(&made, report);
}

TEST(test_incomplete)
{
	struct made_trace made;
	struct report *report;

	make_families(&made);
	made_abandon(&made);
	report = made_report(&made.reader, 1);
	assert_false(ask(report, "trace", 0, "complete")->flag);
	assert_int_equal(ask(report, "trace", 0, "incomplete_reason")->type, CELL_TEXT);
	check_null(report, "trace", 0, "notes.faults_untimed");
	check_null(report, "totals", 0, "async.io_uring");
	check_null(report, "trace", 0, "lost.total");
	check_null(report, "trace", 0, "lost.by_layer.syscall");
	check_null(report, "trace", 0, "exit_code");
	check_null(report, "trace", 0, "survivors");
	CHECK(report, "trace", 0, "events", 19);
	CHECK(report, "trace", 0, "duration_ns", 2300);
	CHECK(report, "totals", 0, "read.count", 3);
	check_null(report, "totals", 0, "anonymous_faults");
	check_null(report, "totals", 0, "shmem_faults");
	check_methods_add_up(report);
	done(&made, report);
}
