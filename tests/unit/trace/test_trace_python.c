/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A trace is a plain zstd file of plain msgpack: `zstd -dc` and Python's msgpack and msgpack_numpy
 * read back what was written. Writes a trace and its expected content; _trace_as_python.py compares
 * them.
 */
#include "unit_test.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace_sample.h"

static void write_file(const char *path, const void *bytes, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	assert_int_equal(fclose(file), 0);
}

/* A line for each row: kind, row number, and values in column order, as Python prints them; signed
 * columns as signed numbers.
 */
static void write_expected(const char *path, size_t rows, size_t reach)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		const struct trace_schema *schema = &trace_schemas[kind];

		for (size_t i = 0; i < rows; i++) {
			fprintf(file, "%s %s %zu", schema->kind,
				schema->columns[sample_number_column[kind]].name, i);
			for (unsigned int c = 0; c < schema->column_count; c++) {
				uint64_t value = sample_value(kind, i, c, reach);

				if (schema->columns[c].type == TRACE_INT)
					fprintf(file, " %s=%lld", schema->columns[c].name,
						(long long)value);
				else
					fprintf(file, " %s=%llu", schema->columns[c].name,
						(unsigned long long)value);
			}
			fprintf(file, "\n");
		}
	}
	assert_int_equal(fclose(file), 0);
}

static void check_as_python(size_t rows, size_t rounds, size_t reach)
{
	const char *python = getenv("PYTHON") ? getenv("PYTHON") : "/usr/bin/python3";
	const struct trace_writer_options options = { .lanes = 2 };
	struct sample_bytes sample = sample_trace(rows, rounds, reach, &options);
	char directory[] = "/tmp/faultline-test-XXXXXX", trace[64], expected[64];
	int status;
	pid_t pid;

	assert_non_null(mkdtemp(directory));
	snprintf(trace, sizeof(trace), "%s/trace.flt", directory);
	snprintf(expected, sizeof(expected), "%s/expected", directory);
	write_file(trace, sample.bytes, sample.length);
	write_expected(expected, rows * rounds, reach);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		execl(python, python, "tests/unit/trace/_trace_as_python.py", trace, expected,
		      NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	unlink(trace);
	unlink(expected);
	rmdir(directory);
	free(sample.bytes);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST(test_python_reads_it)
{
	check_as_python(50, 5, SAMPLE_EDGES);
	check_as_python(1, 4, 1);
	check_as_python(3000, 4, 9);
}
