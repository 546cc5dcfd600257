/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading traces that are truncated, damaged or not traces: either an error or the intact part,
 * described in words.
 */
#include "unit_test.h"

#include <stdio.h>
#include <sys/stat.h>

#include <zstd.h>

#include "trace/format/column.h"
#include "trace/format/format.h"
#include "trace/read/meta.h"
#include "trace_sample.h"

/* --- a trace's content as one array of numbers --- */

struct content {
	uint64_t *numbers; /* kind and row number of each row, in file order */
	size_t count;
	bool is_whole; /* every block was readable */
};

static struct content read_content(struct trace_reader *reader)
{
	struct content content = { .is_whole = true };
	struct trace_error error = { "" };
	size_t rows = 0;

	for (size_t i = 0; i < trace_reader_block_count(reader); i++)
		rows += trace_reader_block_info(reader, i)->rows;
	content.numbers = calloc(rows + 1, sizeof(uint64_t));
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);
		int err = trace_reader_read(reader, i, UINT64_MAX, &error);

		if (err) {
			assert_int_equal(err, -EINVAL);
			assert_true(strlen(error.text) > 10);
			assert_null(trace_reader_column(reader, 0));
			content.is_whole = false;
			break;
		}
		for (size_t j = 0; j < info->rows; j++) {
			unsigned int c = sample_number_column[info->kind];

			content.numbers[content.count++] =
				trace_reader_column(reader, c)[j] << 8 | info->kind;
			for (c = 0; c < trace_schemas[info->kind].column_count; c++)
				assert_true(trace_reader_column(reader, c)[j] ==
					    sample_value(info->kind,
							 content.numbers[content.count - 1] >> 8, c,
							 SAMPLE_EDGES));
		}
	}
	return content;
}

static struct content read_whole(const struct sample_bytes *sample)
{
	struct trace_reader *reader = sample_reader(sample->bytes, sample->length);
	struct content whole = read_content(reader);

	trace_reader_close(reader);
	return whole;
}

static void assert_prefix(const struct content *part, const struct content *whole)
{
	assert_true(part->count <= whole->count);
	if (part->count)
		assert_memory_equal(part->numbers, whole->numbers, part->count * sizeof(uint64_t));
}

/* Opens a copy sized exactly, so that the sanitizer catches overreads. */
static int open_copy(struct trace_reader **reader, const uint8_t *bytes, size_t length,
		     uint8_t **copy, struct trace_error *error)
{
	*copy = malloc(length ? length : 1);
	memcpy(*copy, bytes, length);
	return trace_reader_open_memory(reader, *copy, length, error);
}

/* --- cut, damaged --- */

/* Tests that touch every byte read the whole trace once per byte, so they run on a few kinds at a
 * time, and only the first sample has more than one round of blocks.
 */
#define KINDS_AT_ONCE 4

static void of_few_kinds(size_t rounds, void (*check)(struct sample_bytes *sample))
{
	for (int first = 0; first < TRACE_KIND_COUNT; first += KINDS_AT_ONCE) {
		int end = first + KINDS_AT_ONCE;
		struct sample_bytes sample =
			sample_trace_of(first, end < TRACE_KIND_COUNT ? end : TRACE_KIND_COUNT, 7,
					first ? 1 : rounds, SAMPLE_EDGES, NULL);

		check(&sample);
		free(sample.bytes);
	}
}

static void check_cuts(struct sample_bytes *sample)
{
	size_t header = ZSTD_findFrameCompressedSize(sample->bytes, sample->length), seen = 0;
	struct content whole = read_whole(sample);
	struct trace_reader *reader;
	struct trace_error error;

	for (size_t cut = 0; cut <= sample->length; cut++) {
		struct content part;
		uint8_t *copy;
		int err = open_copy(&reader, sample->bytes, cut, &copy, &error);

		if (cut < header) {
			assert_int_equal(err, -EINVAL);
			assert_string_equal(
				error.text,
				cut ? "is truncated in its header, or is not a Faultline trace"
				    : "is empty: the recorder ended before it could write");
			free(copy);
			continue;
		}
		assert_int_equal(err, 0);
		part = read_content(reader);
		assert_true(part.is_whole);
		assert_prefix(&part, &whole);
		assert_true(part.count >= seen); /* more bytes never yield less */
		seen = part.count;
		if (cut < sample->length) {
			assert_non_null(strstr(trace_reader_incomplete(reader), "has no end"));
			assert_null(trace_reader_totals(reader));
		} else {
			assert_null(trace_reader_incomplete(reader));
			assert_non_null(trace_reader_totals(reader));
			assert_true(part.count == whole.count);
		}
		free(part.numbers);
		trace_reader_close(reader);
		free(copy);
	}
	free(whole.numbers);
}

TEST(test_cut_at_every_byte)
{
	of_few_kinds(2, check_cuts);
}

/* Any wrong byte gives an error, or rows as they were written. All flips of a byte in the first
 * sample; then, as most of a trace does not depend on its kinds, one for each, in turn.
 */
static void check_any_flip(struct sample_bytes *sample)
{
	static const uint8_t flips[] = { 0x01, 0x02, 0x10, 0x80, 0xff };
	static size_t samples;
	size_t step = samples ? sizeof(flips) : 1;
	struct content whole = read_whole(sample);
	struct trace_reader *reader;
	struct trace_error error;

	for (size_t at = samples++ % sizeof(flips); at < sample->length * sizeof(flips);
	     at += step) {
		uint8_t *byte = &sample->bytes[at / sizeof(flips)], before = *byte;

		*byte ^= flips[(at + at / sizeof(flips)) % sizeof(flips)];
		if (!trace_reader_open_memory(&reader, sample->bytes, sample->length, &error)) {
			struct content part = read_content(reader);

			assert_prefix(&part, &whole);
			if (part.is_whole && !trace_reader_incomplete(reader))
				assert_true(part.count == whole.count);
			free(part.numbers);
			trace_reader_close(reader);
		} else {
			assert_true(strlen(error.text) > 5);
		}
		*byte = before;
	}
	free(whole.numbers);
}

TEST(test_flip_at_every_byte)
{
	of_few_kinds(1, check_any_flip);
}

/* Rows in all blocks except those skipped as damaged. */
static uint64_t rows_left(struct trace_reader *reader)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		uint32_t count = trace_reader_block_info(reader, i)->rows;
		struct trace_error error;

		if (!trace_reader_read(reader, i, UINT64_MAX, &error)) {
			rows += count;
			continue;
		}
		assert_int_equal(trace_reader_pass_over(reader, i, &error), count);
		assert_int_equal(trace_reader_pass_over(reader, i, &error), 0);
	}
	return rows;
}

/* Offset and row count of each block of rows. */
struct layout {
	struct trace_block_info *blocks;
	size_t count;
	uint64_t rows, end;
};

static struct layout lay_out(const struct sample_bytes *sample)
{
	struct layout layout = { 0 };
	struct trace_reader *reader;
	struct trace_error error;

	assert_int_equal(trace_reader_open_memory(&reader, sample->bytes, sample->length, &error),
			 0);
	layout.count = trace_reader_block_count(reader);
	layout.blocks = calloc(layout.count, sizeof(*layout.blocks));
	for (size_t i = 0; i < layout.count; i++) {
		layout.blocks[i] = *trace_reader_block_info(reader, i);
		layout.rows += layout.blocks[i].rows;
		layout.end = layout.blocks[i].offset +
			     ZSTD_findFrameCompressedSize(sample->bytes + layout.blocks[i].offset,
							  sample->length - layout.blocks[i].offset);
	}
	trace_reader_close(reader);
	return layout;
}

/* Rows of the block that contains a byte, or 0 if none does. */
static uint64_t rows_at(const struct layout *layout, const struct sample_bytes *sample, uint64_t at)
{
	for (size_t i = 0; i < layout->count; i++) {
		uint64_t offset = layout->blocks[i].offset;

		if (at >= offset &&
		    at < offset + ZSTD_findFrameCompressedSize(sample->bytes + offset,
							       sample->length - offset))
			return layout->blocks[i].rows;
	}
	return 0;
}

/* One wrong byte after the header costs the block it is in, with and without an index. */
static void check_flips(struct sample_bytes *sample, const struct layout *layout, uint64_t from,
			uint64_t length)
{
	for (uint64_t at = from; at < length; at++) {
		uint64_t lost = rows_at(layout, sample, at), left;
		struct trace_reader *reader;
		struct trace_error error;

		sample->bytes[at] ^= 0x10;
		assert_int_equal(trace_reader_open_memory(&reader, sample->bytes, length, &error),
				 0);
		left = rows_left(reader);
		/* Flipping an unused bit costs nothing. */
		assert_true(left == layout->rows - lost || left == layout->rows);
		if (left < layout->rows)
			assert_true(trace_reader_damage(reader) || trace_reader_incomplete(reader));
		trace_reader_close(reader);
		sample->bytes[at] ^= 0x10;
	}
}

static void check_damage(struct sample_bytes *sample)
{
	size_t header = ZSTD_findFrameCompressedSize(sample->bytes, sample->length);
	struct layout layout = lay_out(sample);

	assert_true(layout.count > 1);
	check_flips(sample, &layout, header, sample->length);
	check_flips(sample, &layout, header, layout.end); /* as after a kill */
	free(layout.blocks);
}

TEST(test_damage_costs_a_block)
{
	of_few_kinds(2, check_damage);
}

/* An unreadable header is taken from its copy, and nothing else is missing. */
static void check_header_flips(struct sample_bytes *sample, bool has_end)
{
	size_t header = ZSTD_findFrameCompressedSize(sample->bytes, sample->length);
	struct layout layout = lay_out(sample);
	size_t copies = 0;

	for (size_t at = 0; at < header; at++) {
		const struct trace_header *read;
		struct trace_reader *reader;
		struct trace_error error;

		sample->bytes[at] ^= 0x10;
		assert_int_equal(
			trace_reader_open_memory(&reader, sample->bytes, sample->length, &error),
			0);
		copies += trace_reader_header_is_copy(reader);
		read = trace_reader_header(reader);
		assert_string_equal(read->host, sample_header.host);
		assert_string_equal(read->command[3], sample_command[3]);
		assert_int_equal(read->operation_count, SAMPLE_OPERATIONS);
		assert_int_equal(rows_left(reader), layout.rows);
		assert_int_equal(trace_reader_totals(reader) != NULL, has_end);
		assert_null(trace_reader_damage(reader));
		trace_reader_close(reader);
		sample->bytes[at] ^= 0x10;
	}
	assert_true(copies > header / 2); /* the other flips hit unused bits */
	free(layout.blocks);
}

TEST(test_header_copy)
{
	struct sample_bytes sample = sample_trace(7, 2, SAMPLE_EDGES, NULL);
	uint64_t values[TRACE_COLUMNS_MAX];
	struct trace_writer *writer;
	int fd = sample_memory_file();

	check_header_flips(&sample, true); /* the trace ended at once: the copy is at the end */
	free(sample.bytes);
	assert_int_equal(trace_writer_open(&writer, fd, &sample_header, NULL), 0);
	sample_row(TRACE_SYSCALL, 1, SAMPLE_EDGES, values);
	for (uint64_t second = 1; second < 4; second++) {
		assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, 0, values), 0);
		trace_writer_tick(writer, second * 1000000000);
	}
	assert_int_equal(trace_writer_flush(writer), 0);
	sample = sample_read_fd(fd); /* as after a kill */
	check_header_flips(&sample, false);
	trace_writer_close(writer);
	close(fd);
	free(sample.bytes);
}

/* Names lost with their block are counted. */
TEST(test_damaged_strings)
{
	struct sample_bytes sample = sample_trace(7, 1, SAMPLE_EDGES, NULL);
	size_t at = ZSTD_findFrameCompressedSize(sample.bytes, sample.length);
	struct trace_reader *reader;
	struct trace_error error;

	/* The strings come first; their last byte is part of the checksum. */
	at += ZSTD_findFrameCompressedSize(sample.bytes + at, sample.length - at);
	sample.bytes[at - 1] ^= 0xff;
	assert_int_equal(trace_reader_open_memory(&reader, sample.bytes, sample.length, &error), 0);
	assert_non_null(trace_reader_damage(reader));
	assert_non_null(strstr(trace_reader_damage(reader), "; 1 name is skipped"));
	assert_int_equal(trace_reader_string(reader, 1).length, 0);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* --- not a trace --- */

static void check_open(const char *path, int err, const char *words)
{
	struct trace_reader *reader;
	struct trace_error error;

	assert_int_equal(trace_reader_open(&reader, path, &error), err);
	assert_null(reader);
	assert_non_null(strstr(error.text, words));
	assert_int_equal(trace_reader_open(&reader, path, NULL), err); /* without an error buffer */
}

TEST(test_not_a_trace)
{
	char directory[] = "/tmp/faultline-test-XXXXXX", path[64];
	static const char text[] = "time,pid,bytes\n1,2,3\n";
	int fd;

	assert_non_null(mkdtemp(directory));
	check_open(directory, -EISDIR, "is a directory");
	check_open("/dev/null", -EINVAL, "not a regular file");
	snprintf(path, sizeof(path), "%s/fifo", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	check_open(path, -EINVAL, "not a regular file");
	unlink(path);
	check_open(path, -ENOENT, "No such file");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	check_open(path, -EINVAL, "is empty");
	assert_int_equal(write(fd, text, sizeof(text)), sizeof(text));
	check_open(path, -EINVAL, "is not a Faultline trace");
	close(fd);
	unlink(path);
	rmdir(directory);
}

/* A file that shrinks while being read yields an error, not a signal. */
TEST(test_file_shrinks)
{
	struct sample_bytes sample = sample_trace(500, 1, SAMPLE_EDGES, NULL);
	char path[] = "/tmp/faultline-test-XXXXXX";
	int fd = mkstemp(path);
	struct trace_reader *reader;
	struct trace_error error;

	assert_int_equal(write(fd, sample.bytes, sample.length), sample.length);
	assert_int_equal(trace_reader_open(&reader, path, &error), 0);
	unlink(path);
	assert_int_equal(ftruncate(fd, sample.length / 4), 0);
	assert_int_equal(trace_reader_read(reader, trace_reader_block_count(reader) - 1, 1, &error),
			 -EINVAL);
	assert_non_null(strstr(error.text, "was truncated while being read"));
	trace_reader_close(reader);
	close(fd);
	free(sample.bytes);
}

/* A thousand traces have a header each: strings that operations repeat are stored once. */
TEST(test_layers_are_held_once)
{
	struct sample_bytes sample = sample_trace(7, 2, SAMPLE_EDGES, NULL);
	const struct trace_header *header;
	struct trace_reader *reader;
	struct trace_error error;
	size_t repeated = 0;

	assert_int_equal(trace_reader_open_memory(&reader, sample.bytes, sample.length, &error), 0);
	header = trace_reader_header(reader);
	assert_int_equal(header->operation_count, SAMPLE_OPERATIONS);
	for (size_t i = 0; i < SAMPLE_OPERATIONS; i++) {
		const struct trace_operation *written = &sample_operations[i];
		const struct trace_operation *read = &header->operations[i];

		assert_string_equal(read->layer, written->layer);
		assert_string_equal(read->name, written->name);
		assert_int_equal(read->family, written->family);
		if (!i || strcmp(written[-1].layer, written->layer))
			continue;
		assert_ptr_equal(read->layer, read[-1].layer);
		repeated++;
	}
	assert_true(repeated > 0);
	trace_reader_close(reader);
	free(sample.bytes);
}
