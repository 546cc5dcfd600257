/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * PyTorch profiler files: read whole, gzipped and in pieces, rejected if truncated or in another
 * format; and the overlap computed from them.
 */
#define OWN_MAIN
#include "unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <zlib.h>

#include "analysis/job/gpu.h"
#include "ask_report.h"
#include "tests/random.h"

static char path[] = "/tmp/faultline-gpu-XXXXXX";

#define EVENT(cat, ts, dur)                                                                        \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"k\\\"}],[{\", \"pid\": 0, \"tid\": 7,"  \
	" \"ts\": " ts ", \"dur\": " dur ", \"args\": {\"grid\": [1, 2, {\"x\": []}]}}"

/* In Kineto's layout, with the base last. Kernels at 1.5-2.5, 2.0-4.0, 4.0-5.0 and 7.25-8.0 us. */
static const char kineto[] =
	"{\n \"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0, \"name\": \"]}\"}],\n"
	"  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 1, \"world_size\": 2},\n"
	"  \"traceEvents\": [\n"
	"  {\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 0, \"args\": {\"name\": "
	"\"GPU\"}},\n"
	"  " EVENT("kernel", "2.0", "2") ",\n" EVENT("kernel", "1.5", "1.000") ",\n" EVENT(
		"cpu_op", "0",
		"100") "," EVENT("gpu_memcpy", "4",
				 "1") ",\n" EVENT("gpu_memset", "7.25",
						  "0.75") "," EVENT("kernel", "9",
								    "0") ",\n"
									 "  {\"ph\": \"X\", "
									 "\"cat\": \"kernel\", "
									 "\"ts\": \"x\"}\n"
									 "], \"traceName\": "
									 "\"t.json\", "
									 "\"displayTimeUnit\": "
									 "\"ms\",\n"
									 " \"baseTimeNanoseconds\":"
									 " 1700000000000000000\n}"
									 "\n";

static void write_file(const char *text, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, length, file), length);
	fclose(file);
}

static void write_gzip(const char *text, size_t length)
{
	gzFile file = gzopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, length), length);
	gzclose(file);
}

#define BASE 1700000000000000000ull

static void check_kineto(void)
{
	struct trace_error error;
	struct gpu gpu;

	if (gpu_read(&gpu, path, &error))
		fail_msg("%s", error.text);
	assert_int_equal(gpu.rank, 1);
	assert_int_equal(gpu.kernels, 5);
	assert_int_equal(gpu.count, 2);
	assert_true(gpu.intervals[0].start_ns == BASE + 1500);
	assert_true(gpu.intervals[0].end_ns == BASE + 5000);
	assert_true(gpu.intervals[1].start_ns == BASE + 7250);
	assert_true(gpu.intervals[1].end_ns == BASE + 8000);
	gpu_free(&gpu);
}

TEST(test_read)
{
	write_file(kineto, sizeof(kineto) - 1);
	check_kineto();
	write_gzip(kineto, sizeof(kineto) - 1);
	check_kineto();
}

/* A bare list, as older versions write; times since 1970. */
TEST(test_list)
{
	static const char text[] = "[" EVENT("Kernel", "1700000000000000", "5") "]";
	struct trace_error error;
	struct gpu gpu;

	write_file(text, sizeof(text) - 1);
	assert_int_equal(gpu_read(&gpu, path, &error), 0);
	assert_int_equal(gpu.count, 1);
	assert_int_equal(gpu.rank, -1);
	assert_true(gpu.intervals[0].start_ns == BASE);
	assert_true(gpu.intervals[0].end_ns == BASE + 5000);
	gpu_free(&gpu);
}

static void refuse(const char *what)
{
	struct trace_error error = { "" };
	struct gpu gpu;

	assert_true(gpu_read(&gpu, path, &error) < 0);
	assert_null(gpu.intervals);
	assert_memory_equal(error.text, path, strlen(path));
	if (!strstr(error.text, what))
		fail_msg("'%s' does not say '%s'", error.text, what);
}

/* Truncation is reported wherever it happens, gzipped or not. */
TEST(test_cut)
{
	char *bytes = malloc(sizeof(kineto));
	struct stat stat;
	size_t length;
	FILE *file;

	for (size_t i = 1; i < sizeof(kineto) - 2; i++) {
		write_file(kineto, i);
		refuse("is cut short");
	}
	write_gzip(kineto, sizeof(kineto) - 1);
	file = fopen(path, "r");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &stat), 0);
	length = fread(bytes, 1, stat.st_size, file);
	fclose(file);
	assert_int_equal(length, stat.st_size);
	for (size_t i = 20; i < length; i++) {
		write_file(bytes, i);
		refuse("is cut short");
	}
	bytes[length / 2] ^= 0x5a;
	write_file(bytes, length);
	refuse("is ");
	free(bytes);
}

TEST(test_refused)
{
	static const struct {
		const char *text, *what;
	} files[] = {
		{ "", "is empty" },
		{ "  \n", "is empty" },
		{ "hello", "is not a trace" },
		{ "{}", "has no GPU activity" },
		{ "{\"traceEvents\": []}", "has no GPU activity" },
		{ "[" EVENT("cpu_op", "1", "2") "]", "has no GPU activity" },
		{ "[" EVENT("kernel", "-1", "2") "]", "has no GPU activity" },
		{ "[" EVENT("kernel", "1e300", "2") "]", "has no GPU activity" },
		{ "[" EVENT("kernel", "1", "2") "]}", "not valid JSON" },
		{ "[" EVENT("kernel", "1", "2") "] [", "not valid JSON" },
		{ "[{\"cat\": \"kernel\", \"ts\" 5}]", "not valid JSON" },
		{ "{\"baseTimeNanoseconds\": 18446744073709551615, \"traceEvents\": [" EVENT(
			  "kernel", "1", "2") "]}",
		  "impossible times" },
	};
	struct trace_error error;
	struct gpu gpu;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		write_file(files[i].text, strlen(files[i].text));
		refuse(files[i].what);
	}
	assert_int_equal(gpu_read(&gpu, "/nowhere/x.json", &error), -ENOENT);
	assert_string_equal(error.text, "/nowhere/x.json: No such file or directory");
}

/* Random bytes: a result each time, whichever it is. */
TEST(test_mangled)
{
	char text[sizeof(kineto)];
	uint64_t random = 0x2545f4914f6cdd1d;

	for (int round = 0; round < 3000; round++) {
		struct trace_error error = { "" };
		struct gpu gpu;
		int status;

		memcpy(text, kineto, sizeof(text));
		for (int i = 0; i <= round % 8; i++) {
			static const char odd[] = "{}[]\",:\\ 0-e\xff";

			next_random(&random);
			text[(random >> 8) % (sizeof(text) - 1)] = odd[random % (sizeof(odd) - 1)];
		}
		write_file(text, sizeof(text) - 1);
		status = gpu_read(&gpu, path, &error);
		if (status)
			assert_true(status < 0 && error.text[0] && !gpu.intervals);
		for (size_t i = 0; !status && i < gpu.count; i++) {
			assert_true(gpu.intervals[i].start_ns < gpu.intervals[i].end_ns);
			assert_true(!i || gpu.intervals[i - 1].end_ns < gpu.intervals[i].start_ns);
		}
		gpu_free(&gpu);
	}
}

/* More kernels than the initial capacity, and an event too long to keep. */
TEST(test_many)
{
	const unsigned int count = 50000;
	struct trace_error error;
	struct gpu gpu;
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fprintf(file, "{\"traceEvents\": [{\"name\": \"%0*d\"}", 1 << 20, 0);
	for (unsigned int i = 0; i < count; i++)
		fprintf(file,
			",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"ts\": %u.5, \"dur\": 0.25}",
			(i * 7919) % count);
	fprintf(file, "]}");
	fclose(file);
	assert_int_equal(gpu_read(&gpu, path, &error), 0);
	assert_int_equal(gpu.count, count);
	assert_int_equal(gpu.kernels, count);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(gpu.intervals[i].start_ns, i * 1000 + 500);
		assert_int_equal(gpu.intervals[i].end_ns, i * 1000 + 750);
	}
	gpu_free(&gpu);
}

static void make_job(struct made_trace *made)
{
	BEGIN(made, .monotonic_ns = 1000, .realtime_ns = BASE);
	EXEC(made, .time = 1000, .pid = 10, .comm = "a", .command = "a", .rank = 0);
	EXEC(made, .time = 1000, .pid = 20, .comm = "a", .command = "a", .rank = 1);
	/* 1.0-2.0 us and 7.0-9.0 us after the base; the other rank's 3.0-6.0 us. */
	CALL(made, .time = 2000, .dur = 1000, .pid = 20, .op = M_READ, .file = 1, .result = 9);
	CALL(made, .time = 8000, .dur = 2000, .pid = 20, .op = M_READ, .file = 1, .result = 9);
	CALL(made, .time = 4000, .dur = 3000, .pid = 10, .op = M_READ, .file = 1, .result = 9);
	made_finish(made, 1000, 12000);
}

/* Without any spans the overlap is known, for the job and for the GPU's rank. */
TEST(test_report)
{
	struct report_options options = { .gpu = NULL };
	const struct table *ranks;
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	struct gpu gpu;

	write_file(kineto, sizeof(kineto) - 1);
	assert_int_equal(gpu_read(&gpu, path, &error), 0);
	options.gpu = &gpu;
	make_job(&made);
	report = report_with(&made, &options);
	CHECK(report, "overlap", 0, "compute_ns", 3500 + 750);
	CHECK(report, "overlap", 0, "io_ns", 6000);
	CHECK(report, "overlap", 0, "unoverlapped_io_ns", 6000 - 500 - 2000 - 750);
	CHECK(report, "overlap", 0, "unoverlapped_compute_ns", 4250 - 3250);
	ranks = ask(report, "overlap", 0, "by_rank")->table;
	assert_int_equal(ranks->row_count, 2);
	assert_int_equal(ranks->cells[1].uint, 0); /* rank 0 has no GPU here */
	assert_int_equal(ranks->cells[ranks->column_count + 1].uint, 4250);
	assert_int_equal(ranks->cells[ranks->column_count + 3].uint, 3000 - 500 - 750);
	done(&made, report);
	gpu_free(&gpu);
}

TEST(test_other_clock)
{
	static const char *const names[] = { "a.flt" };
	struct report_options options = { .gpu = NULL };
	struct trace_error error;
	struct made_trace made;
	struct report *report;
	struct gpu gpu;

	write_file(kineto, sizeof(kineto) - 1);
	assert_int_equal(gpu_read(&gpu, path, &error), 0);
	for (size_t i = 0; i < gpu.count; i++) {
		gpu.intervals[i].start_ns += 3600000000000;
		gpu.intervals[i].end_ns += 3600000000000;
	}
	options.gpu = &gpu;
	make_job(&made);
	assert_int_equal(report_make(&report, &made.reader, names, 1, &options, &error), -ERANGE);
	assert_memory_equal(error.text, path, strlen(path));
	assert_non_null(strstr(error.text, "clock"));
	made_close(&made);
	gpu_free(&gpu);
}

int main(void)
{
	int fd = mkstemp(path), status;

	if (fd < 0)
		return 1;
	close(fd);
	status = cmocka_run_group_tests(unit_tests, NULL, NULL);
	unlink(path);
	return status;
}
