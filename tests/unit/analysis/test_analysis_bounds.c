/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Memory and time stay bounded, whatever a hostile trace claims: a million forks, one PID reused
 * endlessly, more files than fit.
 */
#include "unit_test.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ask_report.h"

#define FILE_BYTES 640 /* measured: 464, of them 128 in struct file_use; allocators round up */

/* --- memory, measured in processes that have not used any before: so this comes first --- */

static uint64_t most_resident(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss * 1024ull;
}

/* Whether a function succeeds, in a process of its own. */
static bool succeeds(bool (*run)(int fd, size_t count), int fd, size_t count)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid)
		_exit(!run(fd, count));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return !status;
}

/* Files that were read from storage once. */
static bool write_files(int fd, size_t count)
{
	struct made_trace made;

	BEGIN(&made, .lanes = 1, .block = true, .fd = fd);
	for (uint64_t i = 0; i < count; i++) {
		char path[64];

		snprintf(path, sizeof(path), "/data/%d/image-%d.jpg", (int)(i / 1000), (int)i);
		FILE_ROW(&made, .id = 1 + i, .ino = 1 + i, .path = path);
		CALL(&made, .time = 1000 * i, .dur = 900, .pid = 100, .op = M_PREAD, .file = 1 + i,
		     .asked = 4096, .result = 4096, .fetched = 4096);
	}
	made_finish(&made, 0, 1000 * count);
	return true;
}

/* Whether a report has a row for each file and takes at most that much memory per file besides the
 * cells of their rows. */
static bool report_fits(int fd, size_t count)
{
	const uint64_t before = most_resident();
	struct trace_error error = { "" };
	struct trace_reader *reader;
	const struct table *files;
	uint64_t cells, each;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (trace_reader_open(&reader, path, &error))
		return false;
	files = report_table(made_report(&reader, 1), "files");
	cells = files->column_count * sizeof(struct cell);
	each = (most_resident() - before) / count;
	if (files->row_count == count && each <= cells + FILE_BYTES)
		return true;
	fprintf(stderr, "%zu rows; %llu bytes a file, %llu of them cells\n", files->row_count,
		(unsigned long long)each, (unsigned long long)cells);
	return false;
}

TEST(test_many_files)
{
	enum { FILES = 50000 };
	int fd = memfd_create("trace", MFD_CLOEXEC);

#ifdef __SANITIZE_ADDRESS__
	skip(); /* it retains freed memory */
#endif
	assert_true(fd >= 0);
	assert_true(succeeds(write_files, fd, FILES));
	assert_true(succeeds(report_fits, fd, FILES));
	close(fd);
}

static struct report *report_as(struct made_trace *made, const struct report_options *options)
{

	return report_with(made, options);
}

static struct report *report_within(struct made_trace *made, uint64_t memory_bytes)
{
	return report_as(made, &(struct report_options) { .memory_bytes = memory_bytes });
}

static uint64_t sum_of(const struct report *report, const char *name, const char *column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < report_table(report, name)->row_count; i++)
		sum += ask(report, name, i, column)->uint;
	return sum;
}

#define REUSES 50000

/* Each use of a PID has its own events, however often it is reused. */
TEST(test_reused_pid)
{
	struct made_trace made;
	struct report *report;
	struct job job;
	static const char *const names[] = { "a.flt" };
	struct trace_error error = { "" };

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < REUSES; i++) {
		made_fork(&made, 1000 * i, 1, 77);
		CALL(&made, .time = 1000 * i + 500, .dur = 1, .pid = 77, .op = M_READ,
		     .result = i + 1);
		EXIT(&made, .time = 1000 * i + 900, .pid = 77, .comm = "p");
	}
	made_finish(&made, 0, 1000 * REUSES);
	report = report_within(&made, 0);
	assert_int_equal(report_table(report, "processes")->row_count, REUSES);
	for (size_t i = 0; i < REUSES; i += 997)
		CHECK(report, "processes", i, "read.bytes", i + 1);
	report_free(report);
	/* In any order. */
	assert_int_equal(job_load(&job, &made.reader, names, 1, &error), 0);
	for (uint64_t i = 0; i < REUSES; i++) {
		uint64_t life = i * 7919 % REUSES;
		uint32_t process;

		assert_int_equal(
			process_table_search(&job.processes, 0, 77, 1000 * life + 500, &process),
			0);
		assert_int_equal(job.processes.processes[process].start_ns, 1000 * life);
	}
	job_free(&job);
	made_close(&made);
}

/* Beyond the memory limit, processes and files are grouped, and the report says so. */
TEST(test_little_memory)
{
	struct made_trace made;
	struct report *report;
	size_t last;

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < 3000; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%d", (int)i);
		FILE_ROW(&made, .time = i, .id = 1 + i, .ino = 1 + i, .path = path);
		made_fork(&made, i, 1, 100 + i);
		CALL(&made, .time = 10000 + i, .dur = 1 + i, .pid = 100 + i, .op = M_READ,
		     .file = 1 + i, .result = 10);
		CALL(&made, .time = 10000 + i, .dur = 1, .pid = 100 + i, .op = M_AIO, .result = 2);
		made_indirect(&made, 10000 + i, 1 + i, 4096, 0, M_READ);
	}
	made_finish(&made, 0, 100000);
	report = report_within(&made, 2 << 20); /* room for two thousand files, and fewer rows */
	CHECK(report, "totals", 0, "read.bytes", 30000);
	assert_int_equal(sum_of(report, "files", "read.bytes"), 30000);
	assert_int_equal(sum_of(report, "files", "indirect.fetched_bytes"), 3000 * 4096);
	assert_int_equal(sum_of(report, "processes", "read.bytes"), 30000);
	assert_int_equal(sum_of(report, "processes", "async_submissions"), 2 * 3000);
	assert_true(report_table(report, "files")->row_count < 1000);
	last = report_table(report, "files")->row_count - 1;
	assert_int_equal(ask(report, "files", last, "host")->type, CELL_NULL);
	assert_true(report_table(report, "processes")->row_count < 1000);
	assert_non_null(strstr(report_table(report, "files")->note, "--memory"));
	assert_non_null(strstr(report_table(report, "processes")->note, "--memory"));
	report_free(report);
	report = report_within(&made, 0);
	assert_int_equal(report_table(report, "files")->row_count, 3000);
	assert_int_equal(sum_of(report, "files", "read.bytes"), 30000);
	assert_null(report_table(report, "files")->note);
	done(&made, report);
}

/* Tables of files without a row for the rest keep the files with most, and say so. */
TEST(test_largest_files)
{
	static const char *const tables[] = { "readahead", "latency_breakdown", "writeback" };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1, .block = true);
	for (uint64_t i = 0; i < 1500; i++) {
		const uint64_t at = 10000 * i, bytes = 4096 * (1 + i);
		char path[32];

		snprintf(path, sizeof(path), "/data/%d", (int)i);
		FILE_ROW(&made, .time = at, .id = 1 + i, .ino = 1 + i, .path = path);
		CALL(&made, .time = at + 1, .dur = 1000 + i, .pid = 10, .op = M_READ, .file = 1 + i,
		     .asked = bytes, .result = bytes, .fetched = bytes);
		BIO(&made, .time = at + 2, .dur = 900, .pid = 10, .op = M_REQUEST_READ,
		    .file = 1 + i, .request = 2 * i + 1, .bytes = bytes, .dev = 8 << 20);
		CALL(&made, .time = at + 5000, .dur = 10, .pid = 10, .op = M_WRITE, .file = 1 + i,
		     .asked = bytes, .result = bytes);
	}
	made.kinds[TRACE_SYSCALL].lost += 2;
	made.kinds[TRACE_SYSCALL].events += 2;
	made_finish(&made, 0, 10000 * 1500);
	report = report_within(&made, 2 << 20);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct table *table = report_table(report, tables[i]);

		assert_in_range(table->row_count, 100, 1400);
		assert_non_null(strstr(table->note, "further files"));
		if (strcmp(tables[i], "latency_breakdown") != 0)
			assert_non_null(strstr(table->note, "excludes lost events"));
		find_row(report, tables[i], "path", "/data/1499");
		assert_int_equal(row_with(report, tables[i], "path", "/data/1"), -1);
	}
	done(&made, report);
}

/* The same sums, except those that are unknown for a group. */
static void check_sums(const struct report *report, const struct report *all)
{
	const struct table *table = report_table(report, "files");

	for (size_t i = 0; i < table->column_count; i++) {
		const char *column = table->columns[i].name;

		if (ask(all, "files", 0, column)->type == CELL_UINT &&
		    ask(report, "files", table->row_count - 1, column)->type == CELL_UINT)
			assert_int_equal(sum_of(report, "files", column),
					 sum_of(all, "files", column));
	}
}

/* As many rows as requested, for the files with the most time. */
TEST(test_few_rows)
{
	enum { FILES = 9, LONGEST = 2 };
	struct made_trace made;
	struct report *all, *report;

	BEGIN(&made, .lanes = 1, .block = true);
	for (uint64_t i = 0; i < FILES; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%d", (int)i);
		FILE_ROW(&made, .time = i, .id = 1 + i, .ino = 1 + i, .path = path, .size = i);
		CALL(&made, .time = 1000 * i, .dur = 10, .pid = 100, .op = M_OPENAT, .file = 1 + i,
		     .offset = -1, .result = 3);
		CALL(&made, .time = 1000 * i + 100, .dur = 10, .pid = 100,
		     .op = i % 2 ? M_WRITE : M_READ, .file = 1 + i, .asked = 10, .result = 10,
		     .fetched = 4096);
		FAULT(&made, .time = 1000 * i + 200, .dur = 10, .pid = 101, .file = 1 + i,
		      .offset = 8192, .fetched = 4096);
		/* Two files take longest through a call that neither reads nor writes. */
		CALL(&made, .time = 1000 * i + 300, .dur = i % 5 == 3 ? 100 : 10, .pid = 100,
		     .op = M_FSYNC, .file = 1 + i, .offset = -1);
	}
	made_finish(&made, 0, 1000 * FILES);
	all = report_within(&made, 0);
	for (size_t rows = 1; rows <= FILES; rows++) {
		const struct table *table;

		report = report_as(&made, &(struct report_options) { .file_rows = rows });
		table = report_table(report, "files");
		/* A single row is not replaced by a group. */
		assert_int_equal(table->row_count, rows + 1 < FILES ? rows + 1 : FILES);
		assert_int_equal(table->folded, rows + 1 < FILES ? FILES - rows : 0);
		for (size_t i = 0; i + !!table->folded < table->row_count; i++)
			assert_true(cell_is(ask(report, "files", i, "path"),
					    ask(all, "files", i, "path")->text));
		check_sums(report, all);
		if (table->folded)
			check_null(report, "files", rows, "processes");
		report_free(report);
	}
	check_text(all, "files", 0, "path", "/data/3");
	check_text(all, "files", 1, "path", "/data/8");
	check_text(all, "files", LONGEST, "path", "/data/0");
	done(&made, all);
}

/* The least memory for a report with this many rows of a table. */
static uint64_t memory_for(const struct table *table, size_t rows)
{
	struct job job = { .memory_bytes = 0 };

	while (job_rows_max(&job, table->column_count) < rows)
		job.memory_bytes += 4096;
	return job.memory_bytes;
}

#define EVERYBODY 200 /* processes, each of which reads as many files, twice in a row */

/*
 * Pairs of a process and a file, too: those beyond the limit have no pattern, and the report says
 * so.
 */
TEST(test_pairs)
{
	const uint64_t reads = 2ull * EVERYBODY * EVERYBODY;
	struct made_trace made;
	struct report *report;
	uint64_t memory_bytes;

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < EVERYBODY; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/data/%d", (int)i);
		FILE_ROW(&made, .time = i, .id = 1 + i, .ino = 1 + i, .path = path);
	}
	for (uint64_t i = 0; i < reads; i++)
		CALL(&made, .time = 10000 + i, .dur = 1, .pid = 100 + i / 2 % EVERYBODY,
		     .op = M_READ, .file = 1 + i / 2 / EVERYBODY, .offset = i % 2 * 10, .asked = 10,
		     .result = 10);
	made_finish(&made, 0, 100000);
	report = report_within(&made, 0);
	assert_int_equal(sum_of(report, "files", "pattern.consecutive"), reads / 2);
	assert_int_equal(sum_of(report, "files", "processes"), EVERYBODY * EVERYBODY);
	assert_null(report_table(report, "files")->note);
	memory_bytes = memory_for(report_table(report, "files"), EVERYBODY);
	report_free(report);
	report = report_within(&made, memory_bytes);
	assert_int_equal(report_table(report, "files")->row_count, EVERYBODY);
	assert_int_equal(sum_of(report, "files", "read.bytes"), 10 * reads);
	assert_true(sum_of(report, "files", "pattern.consecutive") > 0);
	assert_true(sum_of(report, "files", "pattern.consecutive") < reads / 4);
	assert_true(sum_of(report, "files", "processes") < EVERYBODY * EVERYBODY / 2);
	assert_non_null(strstr(report_table(report, "files")->note, "--memory"));
	done(&made, report);
}

/* Failed lookups, each in a long directory of its own. */
TEST(test_failed_lookups)
{
	enum { LOOKUPS = 2000, LENGTH = 2000 };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .lanes = 1);
	for (uint64_t i = 0; i < LOOKUPS; i++) {
		char path[LENGTH + 32];
		int length = snprintf(path, sizeof(path), "/%d/", (int)i);

		memset(path + length, 'x', LENGTH - length);
		strcpy(path + LENGTH, "/a");
		CALL(&made, .time = i, .dur = 1, .pid = 100, .op = M_OPENAT, .offset = -1,
		     .result = -2, .path = path);
	}
	made_finish(&made, 0, 100000);
	report = report_within(&made, 0);
	assert_int_equal(report_table(report, "failed_lookups")->row_count, LOOKUPS);
	assert_null(report_table(report, "failed_lookups")->note);
	report_free(report);
	report = report_within(&made, 16 << 20); /* 1 MiB for 8 MiB of paths */
	assert_in_range(report_table(report, "failed_lookups")->row_count, 200, 400);
	assert_int_equal(sum_of(report, "failed_lookups", "count"), LOOKUPS);
	assert_non_null(strstr(report_table(report, "failed_lookups")->note, "--memory"));
	done(&made, report);
}
