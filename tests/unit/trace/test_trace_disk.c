/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Rows reach the disk in time and as far as the disk allows; the rest is counted. */
#include "unit_test.h"

#include <stdio.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "written_trace.h"

/* Rows that a reader of the unfinished file would see. */
static uint64_t rows_on_disk(int fd, size_t *blocks)
{
	struct sample_bytes sample = sample_read_fd(fd);
	struct trace_reader *reader = open_reader(&sample);
	uint64_t rows = 0;

	assert_non_null(trace_reader_incomplete(reader));
	*blocks = trace_reader_block_count(reader);
	for (size_t i = 0; i < *blocks; i++)
		rows += trace_reader_block_info(reader, i)->rows;
	trace_reader_close(reader);
	free(sample.bytes);
	return rows;
}

/* Waits until the thread has written `rows` rows; the test runner kills hanging tests. */
static void wait_for_rows(int fd, uint64_t rows, size_t *blocks)
{
	while (rows_on_disk(fd, blocks) < rows)
		usleep(1000);
	assert_true(rows_on_disk(fd, blocks) == rows);
}

/*
 * Ticks write a second's worth of rows to disk, merging CPU buffers with few rows into one block.
 */
TEST(test_tick)
{
	const uint64_t second = 1000000000, base = 77 * second;
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 8);
	struct sample_bytes sample;
	size_t blocks;

	assert_int_equal(trace_writer_tick(writer, base), 0);
	for (unsigned int lane = 0; lane < 8;
	     lane += 2) /* the others are younger, and are written with them */
		append_call(writer, lane, lane, 1);
	assert_int_equal(trace_writer_tick(writer, base + second / 2), 0);
	assert_int_equal(trace_writer_string(writer, "name", 4), 1);
	for (unsigned int lane = 0; lane < 8; lane++)
		append_call(writer, lane, lane + 1000, 1);
	assert_int_equal(rows_on_disk(fd, &blocks), 0);
	assert_int_equal(trace_writer_tick(writer, base + second), 0);
	wait_for_rows(fd, 12, &blocks);
	assert_int_equal(blocks, 1);

	for (uint64_t i = 0; i < 5000; i++)
		append_call(writer, 3, i, 1);
	assert_int_equal(trace_writer_tick(writer, base + second + 1), 0);
	assert_int_equal(trace_writer_tick(writer, base + 2 * second - 1), 0);
	assert_int_equal(trace_writer_tick(writer, base + 3 * second), 0);
	wait_for_rows(fd, 5012, &blocks);
	assert_int_equal(blocks, 2);
	trace_reader_close(finish(writer, fd, &sample));
	free(sample.bytes);
}

/* However many CPU buffers have only a few rows, no block exceeds its maximum. */
TEST(test_many_small)
{
	enum { LANES = 64, EACH = 2000 };
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, LANES);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint64_t rows = 0;

	assert_true(LANES * EACH > TRACE_BLOCK_ROWS);
	assert_int_equal(trace_writer_tick(writer, 1), 0);
	for (uint64_t i = 0; i < LANES * EACH; i++)
		append_call(writer, i % LANES, i, 1);
	assert_int_equal(trace_writer_tick(writer, 2000000000), 0);
	reader = finish(writer, fd, &sample);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		assert_true(trace_reader_block_info(reader, i)->rows <= TRACE_BLOCK_ROWS);
		rows += trace_reader_block_info(reader, i)->rows;
	}
	assert_true(rows == LANES * EACH);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* File rows are written before operations on the file: a truncated trace keeps the names. */
TEST(test_names_first)
{
	const uint64_t file[FILE_COLUMNS] = { [FILE_TIME] = 1, [FILE_ID] = 1 };
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;

	for (uint64_t i = 0; i < TRACE_BLOCK_ROWS; i++) {
		if (i == 7)
			assert_int_equal(trace_writer_append(writer, TRACE_FILE, 0, file), 0);
		append_call(writer, 0, i, 1);
	}
	reader = finish(writer, fd, &sample);
	assert_int_equal(trace_reader_block_count(reader), 2);
	assert_int_equal(trace_reader_block_info(reader, 0)->kind, TRACE_FILE);
	assert_int_equal(trace_reader_block_info(reader, 1)->kind, TRACE_SYSCALL);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* --- failing disks --- */

TEST(test_no_space_at_all)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace_writer *writer;

	assert_true(fd >= 0);
	assert_int_equal(trace_writer_open(&writer, fd, &sample_header, NULL), -ENOSPC);
	assert_null(writer);
	trace_writer_close(NULL);
	close(fd);
}

/* Once writing has failed for good, rows are no longer kept, and each is counted. */
TEST(test_reader_gone)
{
	enum { ROWS = TRACE_BLOCK_ROWS / 2 }; /* so that none is written early */
	const uint64_t row[SYSCALL_COLUMNS] = { [SYSCALL_TIME] = 1 };
	struct trace_writer *writer;
	uint64_t refused = 0;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	writer = open_writer(ends[1], 1);
	close(ends[0]);
	for (uint64_t i = 0; i < ROWS; i++)
		assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, 0, row), 0);
	assert_int_equal(trace_writer_flush(writer), -EPIPE);
	assert_int_equal(trace_writer_discarded(writer, TRACE_SYSCALL), ROWS);
	for (unsigned int i = 0; i < 10; i++)
		refused += trace_writer_append(writer, TRACE_SYSCALL, 0, row) == -EPIPE;
	assert_int_equal(refused, 10);
	assert_int_equal(trace_writer_discarded(writer, TRACE_SYSCALL), ROWS + 10);
	assert_int_equal(trace_writer_rows(writer, TRACE_SYSCALL), 0);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), -EPIPE);
	trace_writer_close(writer);
	close(ends[1]);
}

/* Sets the file size limit, which simulates a full disk. Returns the previous one. */
static rlim_t limit_size(rlim_t bytes)
{
	struct rlimit limit;
	rlim_t before;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	before = limit.rlim_cur;
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	return before;
}

/* Rows that compress badly, and a new file at intervals. */
static void fill_disk(struct trace_writer *writer, uint64_t from, uint64_t count,
		      uint64_t name_every)
{
	uint64_t row[SYSCALL_COLUMNS] = { 0 }, file[FILE_COLUMNS] = { 0 };
	char name[40];

	for (uint64_t i = from; i < from + count; i++) {
		row[SYSCALL_TIME] = i * 1000;
		row[SYSCALL_OFFSET] = i * 2654435761u;
		if (i % name_every == 0) {
			file[FILE_TIME] = row[SYSCALL_TIME];
			file[FILE_ID] = i + 1;
			file[FILE_PATH] = trace_writer_string(
				writer, name, sprintf(name, "/%llu", (unsigned long long)i));
			assert_true(file[FILE_PATH]);
			assert_int_equal(trace_writer_append(writer, TRACE_FILE, 0, file), 0);
		}
		assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, 0, row), 0);
	}
}

static uint64_t count_rows(const struct trace_reader *reader, enum trace_kind kind)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < trace_reader_block_count(reader); i++)
		if (trace_reader_block_info(reader, i)->kind == kind)
			rows += trace_reader_block_info(reader, i)->rows;
	return rows;
}

/* All rows are accounted for, space is reserved for names and totals, and the trace is complete. */
TEST(test_full_disk)
{
	char path[] = "/tmp/faultline-test-XXXXXX";
	const uint64_t count = 400000, names = count / 1000;
	rlim_t before = limit_size(400000);
	struct trace_writer *writer;
	struct trace_reader *reader;
	struct sample_bytes sample;
	int fd = mkstemp(path);
	uint64_t rows;

	assert_true(fd >= 0);
	unlink(path);
	writer = open_writer(fd, 1);
	fill_disk(writer, 0, count, 1000);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	limit_size(before);
	sample = sample_read_fd(fd);
	assert_true(sample.length <= 400000);
	assert_true(sample.length == trace_writer_bytes(writer));
	reader = open_reader(&sample);
	assert_null(trace_reader_incomplete(reader));
	rows = count_rows(reader, TRACE_SYSCALL);
	assert_true(rows > 0 && rows < count);
	assert_true(trace_writer_rows(writer, TRACE_SYSCALL) == rows);
	assert_true(trace_writer_discarded(writer, TRACE_SYSCALL) == count - rows);
	assert_true(count_rows(reader, TRACE_FILE) == names);
	assert_true(trace_writer_discarded(writer, TRACE_FILE) == 0);
	trace_reader_close(reader);
	trace_writer_close(writer);
	free(sample.bytes);
	close(fd);
}

/* Writing resumes when there is space again, and includes all names announced in between. */
TEST(test_room_again)
{
	char path[] = "/tmp/faultline-test-XXXXXX";
	const uint64_t count = 200000, more = 100000, names = (count + more) / 10;
	rlim_t before = limit_size(400000);
	struct trace_writer *writer;
	struct trace_reader *reader;
	struct sample_bytes sample;
	int fd = mkstemp(path);
	uint64_t rows;

	assert_true(fd >= 0);
	unlink(path);
	writer = open_writer(fd, 1);
	fill_disk(writer, 0, count, 10); /* more names than space */
	/* Queued and refused; a flush would discard the names. */
	while (!trace_writer_is_full(trace_writer_tick(writer, UINT64_MAX / 2)))
		usleep(1000);
	limit_size(before);
	fill_disk(writer, count, more, 10);
	assert_int_equal(trace_writer_flush(writer), 0);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	sample = sample_read_fd(fd);
	reader = open_reader(&sample);
	assert_null(trace_reader_incomplete(reader));
	rows = count_rows(reader, TRACE_SYSCALL);
	assert_true(rows >= more && rows < count + more);
	assert_true(trace_writer_rows(writer, TRACE_SYSCALL) == rows);
	assert_true(count_rows(reader, TRACE_FILE) == names);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		struct trace_error error;

		if (trace_reader_block_info(reader, i)->kind != TRACE_FILE)
			continue;
		assert_int_equal(trace_reader_read(reader, i, ~0ull, &error), 0);
		for (uint32_t row = 0; row < trace_reader_block_info(reader, i)->rows; row++)
			assert_true(trace_reader_string(reader,
							trace_reader_column(reader, FILE_PATH)[row])
					    .length > 1);
	}
	trace_reader_close(reader);
	trace_writer_close(writer);
	free(sample.bytes);
	close(fd);
}

/* Reserved but unused space is released. */
TEST(test_gives_room_back)
{
	char path[] = "/var/tmp/faultline-test-XXXXXX";
	int fd = mkstemp(path);
	struct trace_writer *writer;
	struct stat status;

	assert_true(fd >= 0);
	unlink(path);
	writer = open_writer(fd, 1);
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	trace_writer_close(writer);
	assert_int_equal(fstat(fd, &status), 0);
	assert_true(status.st_blocks * 512 <= 65536);
	close(fd);
}
