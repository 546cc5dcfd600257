// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Appending many rows at once makes the same trace, byte for byte, as one at a time: across blocks
 * and chunks, with long durations, gaps, times that go back, and every field width.
 */
#include "unit_test.h"

#include <stdio.h>

#include "trace_sample.h"

#define RECORDS 150000
#define LANES 2

struct record {
	uint64_t time_ns;
	int64_t offset;
	uint32_t duration_ns;
	uint32_t pid;
	uint16_t op;
	uint16_t pages;
	uint32_t after;
};

static const struct trace_field fields[SYSCALL_COLUMNS] = {
	[SYSCALL_TIME] = { offsetof(struct record, time_ns), 8, 0 },
	[SYSCALL_DUR] = { offsetof(struct record, duration_ns), 4, 0 },
	[SYSCALL_PID] = { offsetof(struct record, pid), 4, 0 },
	[SYSCALL_OP] = { offsetof(struct record, op), 2, 0 },
	[SYSCALL_OFFSET] = { offsetof(struct record, offset), 8, 0 },
	[SYSCALL_FETCHED] = { offsetof(struct record, pages), 2, 12 },
};

static struct record *make_records(void)
{
	struct record *records = calloc(RECORDS, sizeof(*records));
	uint64_t time_ns = 1000, chance = 1;

	assert_non_null(records);
	for (size_t i = 0; i < RECORDS; i++) {
		chance = chance * 6364136223846793005ull + 1442695040888963407ull;
		time_ns += chance >> 54;
		if (i % 20011 == 20010)
			time_ns += 5000000; /* a gap */
		if (i % 7001 == 7000)
			time_ns -= 900; /* a late record */
		records[i] = (struct record) {
			.time_ns = time_ns,
			.offset = i % 3 ? (int64_t)(i * 4096) : -1,
			.duration_ns = i % 997	  ? chance >> 52
				       : i % 1994 ? 100000
						  : 20000000,
			.pid = 1000000 + i % 2,
			.op = i % 5,
			.pages = i % 1000 ? 0 : 65535,
			.after = UINT32_MAX, /* no such field */
		};
	}
	return records;
}

static void append(struct trace_writer *writer, unsigned int lane, const struct record *record)
{
	const uint64_t row[SYSCALL_COLUMNS] = {
		[SYSCALL_TIME] = record->time_ns,
		[SYSCALL_DUR] = record->duration_ns,
		[SYSCALL_PID] = record->pid,
		[SYSCALL_OP] = record->op,
		[SYSCALL_OFFSET] = record->offset,
		[SYSCALL_FETCHED] = (uint64_t)record->pages << 12,
	};

	assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, lane, row), 0);
}

/* Writes all records, `run` at a time. Returns how many were appended as part of a run. */
static size_t write_trace(const struct record *records, size_t run, struct sample_bytes *bytes)
{
	const struct trace_writer_options options = { .lanes = LANES };
	struct trace_writer *writer;
	FILE *file = tmpfile();
	size_t in_runs = 0;

	assert_non_null(file);
	assert_int_equal(trace_writer_open(&writer, fileno(file), &sample_header, &options), 0);
	for (size_t at = 0; at < RECORDS;) {
		size_t left = RECORDS - at < run ? RECORDS - at : run;
		unsigned int lane = at / run % LANES;

		while (left) {
			size_t done =
				trace_writer_append_run(writer, TRACE_SYSCALL, lane, &records[at],
							sizeof(*records), left, fields);

			assert_true(done <= left);
			in_runs += done;
			if (!done) {
				append(writer, lane, &records[at]);
				done = 1;
			}
			at += done;
			left -= done;
		}
	}
	assert_int_equal(trace_writer_rows(writer, TRACE_SYSCALL), RECORDS);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	trace_writer_close(writer);
	*bytes = sample_read_fd(fileno(file));
	fclose(file);
	return in_runs;
}

/* Row by row, but into the same CPU buffers as runs of that length. */
static void write_singly(const struct record *records, size_t run, struct sample_bytes *bytes)
{
	const struct trace_writer_options options = { .lanes = LANES };
	struct trace_writer *writer;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(trace_writer_open(&writer, fileno(file), &sample_header, &options), 0);
	for (size_t at = 0; at < RECORDS; at++)
		append(writer, at / run % LANES, &records[at]);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	trace_writer_close(writer);
	*bytes = sample_read_fd(fileno(file));
	fclose(file);
}

TEST(test_same_as_singly)
{
	static const size_t runs[] = { 2, 32, 1000, RECORDS };
	struct record *records = make_records();

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct sample_bytes singly, together;

		write_singly(records, runs[i], &singly);
		assert_true(write_trace(records, runs[i], &together) > RECORDS / 2);
		assert_int_equal(singly.length, together.length);
		assert_memory_equal(singly.bytes, together.bytes, singly.length);
		free(singly.bytes);
		free(together.bytes);
	}
	free(records);
}

/* Nothing is appended if no block is open for it. */
TEST(test_none_without_a_block)
{
	const struct trace_writer_options options = { .lanes = LANES };
	struct record *records = make_records();
	struct trace_writer *writer;
	FILE *file = tmpfile();

	assert_non_null(file);
	assert_int_equal(trace_writer_open(&writer, fileno(file), &sample_header, &options), 0);
	assert_int_equal(trace_writer_append_run(writer, TRACE_SYSCALL, 0, records,
						 sizeof(*records), 10, fields),
			 0);
	append(writer, 0, &records[1]);
	assert_int_equal(trace_writer_append_run(writer, TRACE_SYSCALL, 1, &records[2],
						 sizeof(*records), 10, fields),
			 0);
	assert_int_equal(trace_writer_append_run(writer, TRACE_SYSCALL, 0, &records[2],
						 sizeof(*records), 10, fields),
			 10);
	assert_int_equal(trace_writer_rows(writer, TRACE_SYSCALL), 11);
	trace_writer_close(writer);
	fclose(file);
	free(records);
}
