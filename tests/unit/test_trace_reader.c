/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the reader makes of traces that are cut, damaged, forged or none: an error or what is whole,
 * in words. Builds its own files, frame by frame; knows nothing of how the writer works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zstd.h>

#include "trace/column.h"
#include "trace/format.h"
#include "trace/meta.h"
#include "trace_sample.h"

/* --- what a trace says, in one string of numbers --- */

struct content {
	uint64_t *numbers; /* kind and row number of each row, in file order */
	size_t count;
	bool is_whole; /* every block could be read */
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

static void assert_prefix(const struct content *part, const struct content *whole)
{
	assert_true(part->count <= whole->count);
	if (part->count)
		assert_memory_equal(part->numbers, whole->numbers, part->count * sizeof(uint64_t));
}

/* Opens a copy whose end is the sanitizer's to watch. */
static int open_copy(struct trace_reader **reader, const uint8_t *bytes, size_t length,
		     uint8_t **copy, struct trace_error *error)
{
	*copy = malloc(length ? length : 1);
	memcpy(*copy, bytes, length);
	return trace_reader_open_memory(reader, *copy, length, error);
}

/* --- cut, damaged --- */

static void test_cut_at_every_byte(void **state)
{
	struct sample_bytes sample = sample_trace(7, 2, SAMPLE_EDGES, NULL);
	size_t header = ZSTD_findFrameCompressedSize(sample.bytes, sample.length), seen = 0;
	struct trace_reader *reader;
	struct trace_error error;
	struct content whole;

	assert_int_equal(trace_reader_open_memory(&reader, sample.bytes, sample.length, &error), 0);
	whole = read_content(reader);
	trace_reader_close(reader);
	for (size_t cut = 0; cut <= sample.length; cut++) {
		struct content part;
		uint8_t *copy;
		int err = open_copy(&reader, sample.bytes, cut, &copy, &error);

		if (cut < header) {
			assert_int_equal(err, -EINVAL);
			assert_string_equal(
				error.text,
				cut ? "is cut inside its header, or is not a Faultline trace"
				    : "is empty: whatever recorded it was ended before it could "
				      "write");
			free(copy);
			continue;
		}
		assert_int_equal(err, 0);
		part = read_content(reader);
		assert_true(part.is_whole);
		assert_prefix(&part, &whole);
		assert_true(part.count >= seen); /* never less for more bytes */
		seen = part.count;
		if (cut < sample.length) {
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
	free(sample.bytes);
}

/* Whatever byte is wrong: an error, or rows as they were written. */
static void test_flip_at_every_byte(void **state)
{
	static const uint8_t flips[] = { 0x01, 0x02, 0x10, 0x80, 0xff };
	struct sample_bytes sample = sample_trace(7, 1, SAMPLE_EDGES, NULL);
	struct trace_reader *reader;
	struct trace_error error;
	struct content whole;

	assert_int_equal(trace_reader_open_memory(&reader, sample.bytes, sample.length, &error), 0);
	whole = read_content(reader);
	trace_reader_close(reader);
	for (size_t at = 0; at < sample.length * sizeof(flips); at++) {
		uint8_t *byte = &sample.bytes[at / sizeof(flips)], before = *byte;

		*byte ^= flips[at % sizeof(flips)];
		if (!trace_reader_open_memory(&reader, sample.bytes, sample.length, &error)) {
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
	free(sample.bytes);
}

/* Rows in all blocks but those that are passed over because they are damaged. */
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

/* Where each block of rows stands, and how many rows it has. */
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

/* Rows of the block in which a byte stands; 0 if it stands in none. */
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

/* One wrong byte behind the header costs the block that it is in, with an index and without. */
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
		/* A flip in bits that mean nothing costs nothing. */
		assert_true(left == layout->rows - lost || left == layout->rows);
		if (left < layout->rows)
			assert_true(trace_reader_damage(reader) || trace_reader_incomplete(reader));
		trace_reader_close(reader);
		sample->bytes[at] ^= 0x10;
	}
}

static void test_damage_costs_a_block(void **state)
{
	struct sample_bytes sample = sample_trace(7, 2, SAMPLE_EDGES, NULL);
	size_t header = ZSTD_findFrameCompressedSize(sample.bytes, sample.length);
	struct layout layout = lay_out(&sample);

	assert_true(layout.count > 4);
	check_flips(&sample, &layout, header, sample.length);
	check_flips(&sample, &layout, header, layout.end); /* as after a kill */
	free(layout.blocks);
	free(sample.bytes);
}

/* A header that cannot be read is taken from its copy, and nothing else is missing. */
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
	assert_true(copies > header / 2); /* the others are bits that mean nothing */
	free(layout.blocks);
}

static void test_header_copy(void **state)
{
	struct sample_bytes sample = sample_trace(7, 2, SAMPLE_EDGES, NULL);
	uint64_t values[SAMPLE_COLUMNS_MAX];
	struct trace_writer *writer;
	int fd = sample_memory_file();

	check_header_flips(&sample, true); /* it ended at once: the copy is at the end */
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

/* Names that are gone with their block are counted. */
static void test_damaged_strings(void **state)
{
	struct sample_bytes sample = sample_trace(7, 1, SAMPLE_EDGES, NULL);
	size_t at = ZSTD_findFrameCompressedSize(sample.bytes, sample.length);
	struct trace_reader *reader;
	struct trace_error error;

	/* The last byte of the strings, which come first, is one of their checksum. */
	at += ZSTD_findFrameCompressedSize(sample.bytes + at, sample.length - at);
	sample.bytes[at - 1] ^= 0xff;
	assert_int_equal(trace_reader_open_memory(&reader, sample.bytes, sample.length, &error), 0);
	assert_non_null(trace_reader_damage(reader));
	assert_non_null(strstr(trace_reader_damage(reader), "; 1 name is left out"));
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
	assert_int_equal(trace_reader_open(&reader, path, NULL), err); /* nobody to tell */
}

static void test_not_a_trace(void **state)
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

/* A file that shrinks while it is read is an error, not a signal. */
static void test_file_shrinks(void **state)
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
	assert_non_null(strstr(error.text, "shorter"));
	trace_reader_close(reader);
	close(fd);
	free(sample.bytes);
}

/* --- forged --- */

/* A file under construction. */
struct forgery {
	uint8_t *bytes;
	size_t length;
};

static void add_bytes(struct forgery *file, const void *bytes, size_t length)
{
	file->bytes = realloc(file->bytes, file->length + length);
	memcpy(file->bytes + file->length, bytes, length);
	file->length += length;
}

/* Adds what was packed as a frame, and starts anew. Returns the frame's offset. */
static uint64_t add_frame(struct forgery *file, struct pack *pack)
{
	size_t bound = ZSTD_compressBound(pack->length), length;
	uint64_t offset = file->length;
	uint8_t *frame = malloc(bound);

	assert_int_equal(pack->error, 0);
	length = ZSTD_compress(frame, bound, pack->bytes, pack->length, 1);
	assert_false(ZSTD_isError(length));
	add_bytes(file, frame, length);
	free(frame);
	pack_clear(pack);
	return offset;
}

static void add_header(struct forgery *file, struct pack *pack)
{
	header_pack(pack, &sample_header);
	add_frame(file, pack);
}

static void add_tail(struct forgery *file, uint64_t index, uint64_t totals)
{
	struct format_tail tail = {
		.skippable = FORMAT_TAIL_SKIPPABLE,
		.bytes = FORMAT_TAIL_BYTES,
		.magic = FORMAT_TAIL_MAGIC,
		.index = index,
		.totals = totals,
		.size = file->length + sizeof(tail),
	};

	add_bytes(file, &tail, sizeof(tail));
}

static void pack_start(struct pack *pack, size_t columns, const char *kind, uint64_t n)
{
	pack_map(pack, 3 + columns);
	pack_cstring(pack, "block");
	pack_cstring(pack, kind);
	pack_cstring(pack, "n");
	pack_uint(pack, n);
	pack_cstring(pack, "t0");
	pack_uint(pack, 1000);
}

/* A column of our own making, right or wrong. */
static void pack_raw_column(struct pack *pack, const char *name, const char *type, uint64_t shape,
			    const void *data, size_t length)
{
	pack_cstring(pack, name);
	pack_map(pack, 4);
	pack_bin(pack, "nd");
	pack_bool(pack, true);
	pack_bin(pack, "type");
	pack_cstring(pack, type);
	pack_bin(pack, "shape");
	pack_array(pack, 1);
	pack_uint(pack, shape);
	pack_bin(pack, "data");
	pack_bin_head(pack, length);
	pack_raw(pack, data, length);
}

static void pack_numbers(struct pack *pack, const char *name, size_t count, ...)
{
	uint64_t numbers[16];
	va_list list;

	va_start(list, count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = va_arg(list, int);
	va_end(list);
	column_pack_values(pack, name, numbers, 1, count);
}

/* Two rows that are as they should be. */
static void pack_fork(struct pack *pack)
{
	pack_start(pack, 2, "fork", 2);
	pack_numbers(pack, "dts", 2, 0, 5);
	pack_numbers(pack, "pid", 2, 11, 12);
}

static struct trace_reader *open_forgery(struct forgery *file)
{
	struct trace_reader *reader;
	struct trace_error error;

	if (trace_reader_open_memory(&reader, file->bytes, file->length, &error))
		fail_msg("%s", error.text);
	return reader;
}

static void close_forgery(struct forgery *file, struct trace_reader *reader, struct pack *pack)
{
	trace_reader_close(reader);
	free(file->bytes);
	memset(file, 0, sizeof(*file));
	pack_free(pack);
}

/*
 * A whole block, then the packed object, then a whole block again: whatever is wrong with the
 * object, the first block is read, and either both (`passes`) or no more.
 */
static void check_object_with(struct pack *pack, bool passes, size_t blocks)
{
	struct pack other = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	struct trace_error error;
	char words[64];
	uint64_t offset;

	add_header(&file, &other);
	pack_fork(&other);
	add_frame(&file, &other);
	offset = add_frame(&file, pack);
	pack_fork(&other);
	add_frame(&file, &other);
	reader = open_forgery(&file);
	assert_int_equal(trace_reader_block_count(reader), blocks);
	for (size_t i = 0; i < blocks; i++)
		assert_int_equal(trace_reader_read(reader, i, UINT64_MAX, &error), 0);
	snprintf(words, sizeof(words), "damaged at byte %llu", (unsigned long long)offset);
	assert_non_null(strstr(trace_reader_incomplete(reader), passes ? "has no end" : words));
	close_forgery(&file, reader, &other);
	pack_free(pack);
}

static void check_refused(struct pack *pack)
{
	check_object_with(pack, false, 1);
}

static void test_versions(void **state)
{
	static const struct {
		uint64_t version;
		int err;
		const char *words;
	} rows[] = {
		{ 2, -ENOTSUP,
		  "was written by a newer Faultline (format version 2; this one reads up to 1)" },
		{ UINT64_MAX, -ENOTSUP, "newer Faultline" },
		{ 0, -EINVAL, "no format version" },
	};
	struct pack pack = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct forgery file = { 0 };
		struct trace_reader *reader;
		struct trace_error error;

		pack_map(&pack, 3); /* nothing else needs to be as it is today */
		pack_cstring(&pack, "format");
		pack_cstring(&pack, FORMAT_NAME);
		pack_cstring(&pack, "mode");
		pack_array(&pack, 0);
		pack_cstring(&pack, "version");
		pack_uint(&pack, rows[i].version);
		add_frame(&file, &pack);
		assert_int_equal(trace_reader_open_memory(&reader, file.bytes, file.length, &error),
				 rows[i].err);
		assert_non_null(strstr(error.text, rows[i].words));
		free(file.bytes);
	}
	pack_free(&pack);
}

/* Frames that hold something else, and headers with a wrong type in them. */
static void test_wrong_headers(void **state)
{
	static const char *const keys[] = { "tool",   "page_bytes", "clock",
					    "layers", "command",    "operations" };
	struct pack pack = { 0 };
	struct trace_reader *reader;
	struct trace_error error;
	struct forgery file = { 0 };

	pack_array(&pack, 0);
	add_frame(&file, &pack);
	assert_int_equal(trace_reader_open_memory(&reader, file.bytes, file.length, &error),
			 -EINVAL);
	assert_string_equal(error.text, "is not a Faultline trace");
	free(file.bytes);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		memset(&file, 0, sizeof(file));
		pack_map(&pack, 3);
		pack_cstring(&pack, "format");
		pack_cstring(&pack, FORMAT_NAME);
		pack_cstring(&pack, "version");
		pack_uint(&pack, 1);
		pack_cstring(&pack, keys[i]);
		pack_bool(&pack, true);
		add_frame(&file, &pack);
		assert_int_equal(trace_reader_open_memory(&reader, file.bytes, file.length, &error),
				 -EINVAL);
		assert_string_equal(error.text, "has a damaged header");
		free(file.bytes);
	}
	pack_free(&pack);
}

/* A header with nothing in it but what makes it one: no text is NULL that a program would print. */
static void test_smallest_header(void **state)
{
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;

	pack_map(&pack, 2);
	pack_cstring(&pack, "version");
	pack_uint(&pack, 1);
	pack_cstring(&pack, "format");
	pack_cstring(&pack, FORMAT_NAME);
	add_frame(&file, &pack);
	reader = open_forgery(&file);
	assert_string_equal(trace_reader_header(reader)->host, "");
	assert_string_equal(trace_reader_header(reader)->kernel, "");
	assert_null(trace_reader_header(reader)->command[0]);
	assert_int_equal(trace_reader_header(reader)->operation_count, 0);
	close_forgery(&file, reader, &pack);
}

static void test_wrong_columns(void **state)
{
	static const struct {
		const char *type;
		uint64_t n, shape;
		size_t length;
	} rows[] = {
		{ "<u4", 2, 2, 7 },
		{ "<u4", 2, 2, 9 },
		{ "<u4", 2, 3, 8 },
		{ "<u4", 2, 1, 8 },
		{ "<u4", 3, 2, 8 },
		{ ">u4", 2, 2, 8 },
		{ "<f8", 2, 2, 16 },
		{ "|O", 2, 2, 16 },
		{ "|O8", 2, 2, 16 },
		{ "<u3", 2, 2, 6 },
		{ "", 2, 2, 8 },
		{ "<u4", 1ull << 62, 1ull << 62, 0 },
		{ "<u8", 1ull << 61, 1ull << 61, 0 },
		{ "<u1", TRACE_BLOCK_ROWS_MAX + 1, 2, 2 },
	};
	static const uint8_t data[16] = { 1 };
	struct pack pack = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pack_start(&pack, 1, "fork", rows[i].n);
		pack_raw_column(&pack, "dts", rows[i].type, rows[i].shape, data, rows[i].length);
		check_refused(&pack);
	}
	pack_start(&pack, 2, "fork", 2); /* twice the same */
	pack_numbers(&pack, "dts", 2, 0, 1);
	pack_numbers(&pack, "dts", 2, 0, 1);
	check_refused(&pack);
	pack_start(&pack, 1, "fork", 2); /* no times */
	pack_numbers(&pack, "pid", 2, 0, 1);
	check_refused(&pack);
	pack_start(&pack, 1, "fork", 2); /* a number for a column */
	pack_cstring(&pack, "dts");
	pack_uint(&pack, 7);
	check_refused(&pack);
	pack_start(&pack, 2, "syscall", 2); /* an operation that the header lacks */
	pack_numbers(&pack, "dts", 2, 0, 1);
	pack_numbers(&pack, "op", 2, 0, SAMPLE_OPERATIONS);
	check_refused(&pack);
	pack_uint(&pack, 7); /* no block at all */
	check_refused(&pack);
	pack_fork(&pack); /* two objects in a frame */
	pack_uint(&pack, 7);
	check_refused(&pack);
}

/* What a later version may add is passed over; what an earlier one lacks reads as zeros. */
static void test_unknown_and_missing(void **state)
{
	const uint8_t bytes[2] = { 200, 100 };
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	struct trace_error error;

	pack_start(&pack, 2, "weather", 1ull << 60);
	pack_cstring(&pack, "dts");
	pack_array(&pack, 0);
	pack_uint(&pack, 5); /* a key that is no text */
	pack_map(&pack, 0);
	check_object_with(&pack, true, 2);

	add_header(&file, &pack);
	pack_start(&pack, 4, "fork", 2);
	pack_raw_column(&pack, "dts", "|u1", 2, bytes, 2); /* as numpy writes a byte */
	pack_raw_column(&pack, "pid", "|i1", 2, bytes, 2);
	pack_cstring(&pack, "colour"); /* a column of a type to come */
	pack_map(&pack, 1);
	pack_cstring(&pack, "blue");
	pack_bool(&pack, true);
	pack_raw_column(&pack, "later", "<f8", 2, bytes, 2);
	add_frame(&file, &pack);
	reader = open_forgery(&file);
	assert_int_equal(trace_reader_block_count(reader), 1);
	assert_int_equal(trace_reader_read(reader, 0, UINT64_MAX, &error), 0);
	assert_int_equal(trace_reader_column(reader, FORK_TIME)[0], 1200);
	assert_int_equal(trace_reader_column(reader, FORK_TIME)[1], 1300);
	assert_true(trace_reader_column(reader, FORK_PID)[0] == (uint64_t)-56);
	assert_int_equal(trace_reader_column(reader, FORK_PID)[1], 100);
	assert_int_equal(trace_reader_column(reader, FORK_CHILD_PID)[1], 0);
	assert_null(trace_reader_column(reader, FORK_COLUMNS));
	assert_null(trace_reader_column(reader, 1000));
	assert_int_equal(trace_reader_read(reader, 0, 1 << FORK_PID, &error), 0);
	assert_null(trace_reader_column(reader, FORK_TIME)); /* not asked for */
	close_forgery(&file, reader, &pack);
}

/* Ids of strings may be anything: large, twice, in any order. */
static void test_string_ids(void **state)
{
	static const uint64_t ids[] = { UINT64_MAX, 7, 1, 1ull << 40, 7, 0 };
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;

	add_header(&file, &pack);
	pack_start(&pack, 2, FORMAT_STRING, 6);
	column_pack_values(&pack, "id", ids, 1, 6);
	pack_cstring(&pack, "text");
	pack_array(&pack, 6);
	for (int i = 0; i < 6; i++)
		pack_text(&pack, &"abcdcf"[i], 1);
	add_frame(&file, &pack);
	reader = open_forgery(&file);
	assert_string_equal(trace_reader_string(reader, UINT64_MAX).bytes, "a");
	assert_string_equal(trace_reader_string(reader, 7).bytes + 1, "");
	assert_string_equal(trace_reader_string(reader, 1).bytes, "c");
	assert_string_equal(trace_reader_string(reader, 1ull << 40).bytes, "d");
	assert_string_equal(trace_reader_string(reader, 0).bytes, "");
	assert_string_equal(trace_reader_string(reader, 2).bytes, "");
	close_forgery(&file, reader, &pack);
}

static void test_wrong_strings(void **state)
{
	struct pack pack = { 0 };

	pack_start(&pack, 2, FORMAT_STRING, 2); /* fewer texts than ids */
	pack_numbers(&pack, "id", 2, 1, 2);
	pack_cstring(&pack, "text");
	pack_array(&pack, 1);
	pack_cstring(&pack, "x");
	check_refused(&pack);
	pack_start(&pack, 1, FORMAT_STRING, 1); /* no ids */
	pack_cstring(&pack, "text");
	pack_array(&pack, 1);
	pack_cstring(&pack, "x");
	check_refused(&pack);
	pack_start(&pack, 2, FORMAT_STRING, 1); /* a number for a text */
	pack_numbers(&pack, "id", 1, 1);
	pack_cstring(&pack, "text");
	pack_array(&pack, 1);
	pack_uint(&pack, 3);
	check_refused(&pack);
	pack_start(&pack, 2, FORMAT_STRING, 1); /* an array that claims four billion items */
	pack_numbers(&pack, "id", 1, 1);
	pack_cstring(&pack, "text");
	pack_raw(&pack, "\xdd\xff\xff\xff\xff", 5);
	check_refused(&pack);
}

/* --- bombs --- */

static void check_frame_refused(const void *frame, size_t length, const char *words)
{
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;

	add_header(&file, &pack);
	add_bytes(&file, frame, length);
	reader = open_forgery(&file);
	assert_int_equal(trace_reader_block_count(reader), 0);
	assert_non_null(strstr(trace_reader_incomplete(reader), words));
	close_forgery(&file, reader, &pack);
}

/* A few kilobytes that would be more than a frame may hold, whether they say so or not. */
static void test_large_frames(void **state)
{
	const size_t length = TRACE_FRAME_BYTES_MAX + 1;
	uint8_t *zeros = calloc(1, length), *frame = malloc(ZSTD_compressBound(length));
	ZSTD_CCtx *context = ZSTD_createCCtx();
	size_t size;

	for (int says_so = 0; says_so < 2; says_so++) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, says_so);
		size = ZSTD_compress2(context, frame, ZSTD_compressBound(length), zeros, length);
		assert_false(ZSTD_isError(size));
		check_frame_refused(frame, size, "too large");
	}
	ZSTD_freeCCtx(context);
	free(frame);
	free(zeros);
}

/* Kilobytes of file that claim millions of strings in each frame: memory stays in proportion. */
static void test_many_empty_strings(void **state)
{
	const size_t count = TRACE_BLOCK_ROWS_MAX;
	uint64_t zero = 1;
	struct pack pack = { 0 }, copy = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;

	add_header(&file, &pack);
	pack_start(&pack, 2, FORMAT_STRING, count);
	column_pack_values(&pack, "id", &zero, 0, count);
	pack_cstring(&pack, "text");
	pack_array(&pack, count);
	for (size_t i = 0; i < count; i++)
		pack_raw(&pack, "\xa0", 1);
	for (int i = 0; i < 300; i++) {
		pack_raw(&copy, pack.bytes, pack.length);
		add_frame(&file, &copy);
	}
	assert_true(file.length < 100000);
	reader = open_forgery(&file);
	assert_non_null(strstr(trace_reader_incomplete(reader), "damaged"));
	pack_free(&copy);
	close_forgery(&file, reader, &pack);
}

/* A million arrays in each other, in a column that nobody knows. */
static void test_deep_nesting(void **state)
{
	struct pack pack = { 0 };

	pack_start(&pack, 1, "fork", 0);
	pack_cstring(&pack, "deep");
	for (int i = 0; i < 1000000; i++)
		pack_array(&pack, 1);
	pack_uint(&pack, 1);
	check_refused(&pack); /* for its lack of times, not for its depth */
	pack_start(&pack, 1, "weather", 0);
	pack_cstring(&pack, "deep");
	for (int i = 0; i < 1000000; i++)
		pack_array(&pack, 1);
	pack_uint(&pack, 1);
	check_object_with(&pack, true, 2);
}

/* --- an index that lies --- */

struct index_forgery {
	int kind_at;	 /* number in the list of kinds, of the second entry */
	int offset_at;	 /* added to the second offset */
	int rows_at;	 /* added to the second number of rows */
	int previous_at; /* added to the offset of the index itself for `previous`; 0: no previous
			  */
	int tail_index_at, tail_totals_at; /* added to the tail's offsets */
	bool reads; /* the trace opens as complete; reading the block is what fails */
};

/* A header, two blocks of rows, an index, totals and a tail, one of them wrong. */
static void check_index(const struct index_forgery *lie, bool is_true)
{
	uint64_t offsets[2], index, totals;
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	struct trace_error error;

	add_header(&file, &pack);
	for (int i = 0; i < 2; i++) {
		pack_fork(&pack);
		offsets[i] = add_frame(&file, &pack);
	}
	offsets[1] += lie->offset_at;
	pack_map(&pack, 9);
	pack_cstring(&pack, "block");
	pack_cstring(&pack, FORMAT_INDEX);
	pack_cstring(&pack, "n");
	pack_uint(&pack, 2);
	pack_cstring(&pack, "previous");
	pack_uint(&pack, lie->previous_at ? file.length + lie->previous_at - 1 : 0);
	pack_cstring(&pack, "kinds");
	pack_array(&pack, 3);
	pack_cstring(&pack, "weather");
	pack_cstring(&pack, "fork");
	pack_cstring(&pack, "exit");
	pack_numbers(&pack, "kind", 2, 1, 1 + lie->kind_at);
	column_pack_values(&pack, "offset", offsets, 1, 2);
	pack_numbers(&pack, "rows", 2, 2, 2 + lie->rows_at);
	pack_numbers(&pack, "start", 2, 1, 1);
	pack_numbers(&pack, "end", 2, 1, 1);
	index = add_frame(&file, &pack);
	totals_pack(&pack, &sample_totals);
	totals = add_frame(&file, &pack);
	add_tail(&file, index + lie->tail_index_at, totals + lie->tail_totals_at);

	reader = open_forgery(&file);
	if (is_true || lie->reads) {
		assert_null(trace_reader_incomplete(reader));
		assert_int_equal(trace_reader_block_count(reader), 2);
		assert_int_equal(trace_reader_read(reader, 0, 1, &error), 0);
		assert_int_equal(trace_reader_read(reader, 1, 1, &error), is_true ? 0 : -EINVAL);
	} else { /* without it, all rows are found */
		assert_non_null(trace_reader_incomplete(reader));
		assert_null(trace_reader_totals(reader));
		assert_int_equal(trace_reader_block_count(reader), 2);
		for (int i = 0; i < 2; i++)
			assert_int_equal(trace_reader_read(reader, i, 1, &error), 0);
		assert_int_equal(trace_reader_block_info(reader, 1)->start, 1000);
		assert_int_equal(trace_reader_block_info(reader, 1)->end, 1005);
	}
	close_forgery(&file, reader, &pack);
}

static void test_lying_index(void **state)
{
	static const struct index_forgery lies[] = {
		{ .kind_at = 1, .reads = true },
		{ .rows_at = 1, .reads = true },
		{ .rows_at = -2, .reads = true },
		{ .rows_at = TRACE_BLOCK_ROWS_MAX },
		{ .kind_at = 2 },
		{ .offset_at = 1, .reads = true },
		{ .offset_at = -1, .reads = true },
		{ .offset_at = -100000000 },
		{ .offset_at = 100000000 },
		{ .previous_at = 1 },
		{ .previous_at = 1000000 },
		{ .previous_at = -100 }, /* some block of rows */
		{ .previous_at = -1000000 },
		{ .tail_index_at = -1 },
		{ .tail_index_at = 1000000 },
		{ .tail_totals_at = 1 },
		{ .tail_totals_at = 1000000 },
	};

	check_index(&(struct index_forgery) { 0 }, true);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++)
		check_index(&lies[i], false);
}

/* Two traces in one file: the first is read, and the file called what it is. */
static void test_two_traces(void **state)
{
	struct sample_bytes sample = sample_trace(3, 1, SAMPLE_EDGES, NULL);
	struct forgery file = { 0 };
	struct pack pack = { 0 };
	struct trace_reader *reader;

	add_bytes(&file, sample.bytes, sample.length);
	add_bytes(&file, sample.bytes, sample.length);
	reader = open_forgery(&file);
	assert_non_null(trace_reader_incomplete(reader));
	assert_int_equal(trace_reader_block_count(reader), TRACE_KIND_COUNT);
	close_forgery(&file, reader, &pack);
	free(sample.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_flip_at_every_byte),
		cmocka_unit_test(test_damage_costs_a_block),
		cmocka_unit_test(test_header_copy),
		cmocka_unit_test(test_damaged_strings),
		cmocka_unit_test(test_not_a_trace),
		cmocka_unit_test(test_file_shrinks),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_wrong_headers),
		cmocka_unit_test(test_smallest_header),
		cmocka_unit_test(test_wrong_columns),
		cmocka_unit_test(test_unknown_and_missing),
		cmocka_unit_test(test_string_ids),
		cmocka_unit_test(test_wrong_strings),
		cmocka_unit_test(test_large_frames),
		cmocka_unit_test(test_many_empty_strings),
		cmocka_unit_test(test_deep_nesting),
		cmocka_unit_test(test_lying_index),
		cmocka_unit_test(test_two_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
