/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports that cannot be made, and headers with too little or too much: damaged blocks, every
 * single allocation failing, operations without a number, layers with impossible names.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/report/summary.h"
#include "analysis/shared/rollup.h"
#include "ask_report.h"

/* --- out of memory --- */

#ifndef __SANITIZE_ADDRESS__
/* glibc's own names of the functions replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

static _Atomic size_t allocations, failing; /* number of the allocation to fail; 0: none */
static _Atomic long live;		    /* blocks not yet freed */

static bool fails(void)
{
	if (!failing || ++allocations != failing)
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *block)
{
	live += block != NULL;
	return block;
}

void *malloc(size_t size)
{
	return fails() ? NULL : counted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __libc_realloc(old, size) : counted(__libc_malloc(size));
}

void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(count, size, &bytes) ? NULL : realloc(old, bytes);
}

void free(void *block)
{
	live -= block != NULL;
	__libc_free(block);
}

static void make_some_of_all(struct made_trace *made)
{
	BEGIN(made, .lanes = 2, .spans = true);
	EXEC(made, .time = 0, .pid = 10, .comm = "a", .command = "a b", .rank = 0);
	made_fork(made, 10, 10, 11);
	for (uint64_t i = 0; i < 100; i++) {
		SPAN(made, .begin = 800 + i, .end = i % 2 ? 1500 + i : 0, .pid = 10,
		     .id = 2 * i + 1, .name = "step");
		SPAN(made, .begin = 800 + i, .end = 1500, .pid = 10 + i % 2, .tid = 12,
		     .id = 2 * i + 2, .name = i % 3 ? "f" : "optimizer.step",
		     .category = "compute");
	}
	FILE_ROW(made, .time = 0, .id = 1, .ino = 1, .path = "/data/a");
	for (uint64_t i = 0; i < 200; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/d%d/x", (int)i);
		CALL(made, .time = 1000 - i, .dur = 5, .pid = 10 + i, .op = M_READ, .file = 1,
		     .result = 5, .lane = i % 2);
		CALL(made, .time = 1000 + i, .dur = 5, .pid = 10, .op = M_FSTAT, .path = path,
		     .result = -ENOENT);
		FAULT(made, .time = 1000 + i, .dur = 5, .pid = 11, .file = 1);
	}
	made_cache(made, 500, 1, 4096);
	EXIT(made, .time = 2000, .pid = 11, .comm = "b");
	made->kinds[TRACE_FAULT].lost = 1;
	made_finish(made, 0, 2000);
}

/* Every `step`-th allocation fails once: each time an error, no leak, no crash. */
static void fail_each(struct trace_reader **readers, size_t count,
		      const struct report_options *options, size_t step)
{
	static const char *const names[] = { "a.flt", "b.flt", "c.flt" };
	struct trace_error error;
	struct report *report;
	int status, errors = 0;
	long kept;

	/* Fills the readers' caches first. */
	assert_int_equal(report_make(&report, readers, names, count, options, &error), 0);
	report_free(report);
	kept = live;
	for (size_t i = 1;; i += step) {
		allocations = 0;
		failing = i;
		status = report_make(&report, readers, names, count, options, &error);
		failing = 0;
		if (allocations < i)
			break;
		if (status) {
			assert_int_equal(status, -ENOMEM);
			assert_null(report);
			assert_string_equal(error.text, "out of memory");
			errors++;
		}
		report_free(report); /* qsort works without memory if it must */
		assert_int_equal(live, kept);
	}
	assert_int_equal(status, 0);
	assert_true(errors > 50);
	report_free(report);
	assert_int_equal(live, kept);
}

#define STEP 7 /* these take longer */

TEST(test_no_memory)
{
	const struct report_options all = { .key = rollup_find_key("directory"), .pictures = true };
	struct made_trace made;

	make_some_of_all(&made);
	fail_each(&made.reader, 1, NULL, 1);
	fail_each(&made.reader, 1, &all, STEP);
	made_close(&made);
}

TEST(test_no_memory_for_summaries)
{
	struct trace_reader *readers[3];
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	char path[64];
	int fds[3];

	make_some_of_all(&made);
	readers[0] = made.reader;
	for (int i = 1; i < 3; i++) {
		fds[i] = memfd_create("summary", 0);
		report = made_report(&made.reader, 1);
		assert_int_equal(summary_write(fds[i], report, 10), 0);
		report_free(report);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[i]);
		assert_int_equal(trace_reader_open(&readers[i], path, &error), 0);
	}
	fail_each(readers, 3, NULL, STEP);
	for (int i = 1; i < 3; i++) {
		trace_reader_close(readers[i]);
		close(fds[i]);
	}
	made_close(&made);
}
#else
TEST(test_no_memory)
{
	skip(); /* the sanitizer has its own allocator */
}

TEST(test_no_memory_for_summaries)
{
	skip();
}
#endif

/* --- damage --- */

static void flip_row_block(struct made_trace *made, enum trace_kind kind)
{
	for (size_t i = 0; i < trace_reader_block_count(made->reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(made->reader, i);

		if (info->kind == kind) {
			/* In the middle of a large enough frame, after its header. */
			((unsigned char *)made->bytes)[info->offset + 30] ^= 0x55;
			return;
		}
	}
	fail_msg("no such block");
}

/* The block is lost, the report is not: it reports the loss and counts the rows. */
TEST(test_damaged_block)
{
	static const enum trace_kind kinds[] = { TRACE_SYSCALL, TRACE_SYSCALL_PATH, TRACE_FILE,
						 TRACE_EXEC, TRACE_FAULT };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct made_trace made;
		struct report *report;

		BEGIN(&made);
		EXEC(&made, .time = 0, .pid = 10, .comm = "a", .command = "a b", .rank = 0);
		FILE_ROW(&made, .time = 0, .id = 1, .ino = 1, .path = "/data/a");
		CALL(&made, .time = 10, .pid = 10, .op = M_READ, .file = 1, .result = 5);
		CALL(&made, .time = 20, .pid = 10, .op = M_FSTAT, .path = "/x", .result = -ENOENT);
		FAULT(&made, .time = 30, .pid = 10, .file = 1);
		made_finish(&made, 0, 100);
		assert_int_equal(mprotect(made.bytes, made.length, PROT_READ | PROT_WRITE), 0);
		flip_row_block(&made, kinds[i]);
		report = report_with(&made, NULL);
		CHECK(report, "trace", 0, "lost.total", 1);
		assert_non_null(strstr(trace_reader_damage(made.reader), "damaged at byte"));
		assert_non_null(strstr(trace_reader_damage(made.reader), "1 row is skipped"));
		done(&made, report);
	}
}

/* Offset of the first block of a kind. */
static uint64_t offset_of(const struct made_trace *made, uint64_t kinds)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < trace_reader_block_count(made->reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(made->reader, i);

		if (kinds >> info->kind & 1 && info->offset < first)
			first = info->offset;
	}
	return first;
}

/* Two well-described files that are read, and a failed lookup in the directory that one of them is.
 * Then one byte of the trace flips, at an offset from the first block of the kinds.
 */
static struct report *report_flipped(struct made_trace *made, uint64_t kinds, int at)
{
	const struct report_options options = { .key = rollup_find_key("directory") };
	struct trace_error error = { "" };

	BEGIN(made);
	FILE_ROW(made, .time = 0, .id = 1, .dev = 8 << 20 | 1, .ino = 123, .path = "/data/a.bin");
	FILE_ROW(made, .time = 0, .id = 2, .dev = 8 << 20 | 1, .ino = 9, .path = "/data/b.bin");
	FILE_ROW(made, .time = 0, .id = 3, .dev = 8 << 20 | 1, .ino = 77); /* never had a name */
	for (uint64_t file = 1; file <= 3; file++)
		CALL(made, .time = 10 * file, .dur = 10 - file, .pid = 10, .op = M_READ,
		     .file = file, .result = 5);
	made_finish(made, 0, 100);
	assert_int_equal(mprotect(made->bytes, made->length, PROT_READ | PROT_WRITE), 0);
	if (at)
		((unsigned char *)made->bytes)[offset_of(made, kinds) + at] ^= 0x55;
	trace_reader_close(made->reader); /* names are read on open */
	assert_int_equal(trace_reader_open_memory(&made->reader, made->bytes, made->length, &error),
			 0);
	return report_with(made, &options);
}

/* A lost name differs from a file that has none. */
TEST(test_lost_names)
{
	struct made_trace made;
	struct report *report = report_flipped(&made, 0, 0);

	check_text(report, "files", 0, "path", "/data/a.bin");
	check_null(report, "files", 2, "path");
	assert_int_equal(report_table(report, "caveats")->row_count, 0);
	done(&made, report);

	/*
	 * Names come before the rows that use them: the preceding byte is part of their checksum.
	 */
	report = report_flipped(&made, ~0ull, -1);
	assert_non_null(strstr(trace_reader_damage(made.reader), "2 names are skipped"));
	check_text(report, "files", 0, "path", "(name lost, dev 8:1 inode 123)");
	check_text(report, "files", 1, "path", "(name lost, dev 8:1 inode 9)");
	check_null(report, "files", 2, "path");
	CHECK(report, "paths", find_row(report, "paths", "path", FILES_LOST), "files", 2);
	check_text(report, "caveats", find_row(report, "caveats", "id", "names"), "text",
		   "the names of 2 files were lost: tables identify them by device and inode");
	assert_memory_equal(report->groups->cells[0].text, "(name lost)", 11);
	done(&made, report);

	/* Now even that is lost. */
	report = report_flipped(&made, 1ull << TRACE_FILE, 30);
	assert_int_equal(report_table(report, "files")->row_count, 1);
	check_text(report, "files", 0, "path", FILES_LOST);
	check_text(report, "caveats", find_row(report, "caveats", "id", "names"), "text",
		   "3 rows that named files are lost: these files share one row");
	done(&made, report);
}

/* --- headers --- */

/* A trace with these operations and layers, and one row of each of two kinds. */
static struct trace_reader *open_with(struct made_trace *made, const struct trace_operation *ops,
				      size_t op_count, const struct trace_layer *layers,
				      size_t layer_count)
{
	const uint64_t fault[FAULT_COLUMNS] = {
		[FAULT_TIME] = 5, [FAULT_DUR] = 7, [FAULT_PID] = 1
	};
	const uint64_t cache[PAGECACHE_COLUMNS] = {
		[PAGECACHE_TIME] = 6, [PAGECACHE_BYTES] = 4096
	};
	const struct trace_header header = {
		.version = TRACE_VERSION,
		.tool = "test",
		.host = "node1",
		.boot_id = "",
		.kernel = "6.1.0",
		.machine = "x86_64",
		.page_bytes = 4096,
		.cpus = 1,
		.mode = "trace",
		.layers = layers,
		.layer_count = layer_count,
		.operations = ops,
		.operation_count = op_count,
	};
	const struct trace_writer_options options = { .lanes = 1 };

	memset(made, 0, sizeof(*made));
	made->fd = memfd_create("made trace", 0);
	assert_int_equal(trace_writer_open(&made->writer, made->fd, &header, &options), 0);
	made_row(made, TRACE_FAULT, 0, fault);
	made_row(made, TRACE_PAGECACHE, 0, cache);
	return made_abandon(made);
}

TEST(test_implied_operations)
{
	static const struct trace_operation ops[] = { { "syscall", "read", TRACE_READ } };
	static const struct trace_layer layers[] = { { "fault", true, "perf", NULL },
						     { "pagecache", true, "tp_btf", NULL } };
	struct made_trace made;
	struct report *report;
	size_t row;

	open_with(&made, ops, 1, layers, 2);
	report = made_report(&made.reader, 1);
	assert_int_equal(report_table(report, "operations")->row_count, 2);
	row = find_row(report, "operations", "op", "fault");
	CHECK(report, "operations", row, "count", 1);
	CHECK(report, "operations", row, "max_ns", 7);
	row = find_row(report, "operations", "op", "pagecache");
	CHECK(report, "operations", row, "fetched_bytes", 4096);
	CHECK(report, "totals", 0, "mmap_read.faults", 1);
	done(&made, report);
}

TEST(test_too_many_operations)
{
	enum { OPS = 1100 };
	static struct trace_operation ops[OPS];
	static char text[OPS][16];
	static const char *const names[] = { "a.flt" };
	struct trace_error error = { "" };
	struct made_trace made;
	struct report *report;

	for (size_t i = 0; i < OPS; i++) {
		snprintf(text[i], sizeof(text[i]), "call%zu", i);
		ops[i] = (struct trace_operation) { "syscall", text[i], TRACE_READ };
	}
	open_with(&made, ops, OPS, NULL, 0);
	assert_int_equal(report_make(&report, &made.reader, names, 1, NULL, &error), -EINVAL);
	assert_string_equal(error.text, "a.flt: more than 1024 kinds of operations");
	made_close(&made);
}

TEST(test_odd_layers)
{
	static const struct trace_operation ops[] = { { "syscall", "read", TRACE_READ } };
	static const struct trace_layer odd[] = {
		{ "with.dot", true, "a", NULL },
		{ "", true, "a", NULL },
		{ "fault\n", true, "a", NULL },
		{ "a-name-of-more-than-thirty-two-letters", true, "a", NULL },
		{ "fine_1", false, NULL, "because" },
		{ "fine_1", true, "late", NULL },
	};
	struct made_trace made;
	struct report *report;
	const struct table *table;
	size_t layers = 0;

	open_with(&made, ops, 1, odd, sizeof(odd) / sizeof(odd[0]));
	report = made_report(&made.reader, 1);
	table = report_table(report, "trace");
	for (size_t i = 0; i < table->column_count; i++)
		layers += !strncmp(table->columns[i].name, "layers.", 7);
	assert_int_equal(layers, 3); /* state, attach, and one reason */
	check_text(report, "trace", 0, "layers.fine_1.state", "on");
	check_text(report, "trace", 0, "layers.fine_1.attach", "late");
	check_text(report, "trace", 0, "layers.fine_1.reason", "because");
	done(&made, report);
}
