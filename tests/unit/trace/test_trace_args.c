/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Span arguments in a trace: written in blocks of their own, found by ID, never all in memory. Some
 * files lie about their locations.
 */
#include "unit_test.h"

#include <stdio.h>

#include <malloc.h>

#include "trace/read/args_blocks.h"
#include "trace/read/meta.h"
#include "trace/write/output.h"
#include "trace/write/string_block.h"
#include "trace_sample.h"

#define MANY 200000

/*
 * The sanitizer's own counter, which mallinfo2 does not cover; not every compiler ships its header.
 */
#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

static size_t memory_in_use(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

static struct trace_writer *open_writer(int fd)
{
	struct trace_writer *writer;

	assert_int_equal(trace_writer_open(&writer, fd, &sample_header, NULL), 0);
	return writer;
}

static struct sample_bytes finish(struct trace_writer *writer, int fd)
{
	struct sample_bytes sample;

	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	trace_writer_close(writer);
	sample = sample_read_fd(fd);
	close(fd);
	return sample;
}

static void check_string(const struct trace_reader *reader, uint64_t id, const void *bytes,
			 size_t length)
{
	struct trace_string string = trace_reader_args(reader, id);

	assert_int_equal(string.length, length);
	assert_memory_equal(string.bytes, bytes, length);
	assert_int_equal(string.bytes[length], 0);
}

static size_t make_args(char text[32], uint64_t number)
{
	return snprintf(text, 32, "\x81\xa4step%llu", (unsigned long long)number);
}

/* MANY spans, each with its own arguments, as one of the two kinds of string. */
static struct sample_bytes make_spans(uint32_t (*id_of)(struct trace_writer *, const void *,
							size_t))
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd);
	uint64_t row[SPAN_BEGIN_COLUMNS] = { 0 };
	char text[32];

	for (uint64_t i = 0; i < MANY; i++) {
		row[SPAN_BEGIN_TIME] = i;
		row[SPAN_BEGIN_ID] = i;
		row[SPAN_BEGIN_NAME] = trace_writer_string(writer, "step", 4);
		row[SPAN_BEGIN_ARGS] = id_of(writer, text, make_args(text, i));
		assert_true(row[SPAN_BEGIN_ARGS] > 0);
		assert_int_equal(trace_writer_append(writer, TRACE_SPAN_BEGIN, 0, row), 0);
	}
	return finish(writer, fd);
}

/* Checks the arguments of every row. Returns the number of rows. */
static size_t check_spans(struct trace_reader *reader)
{
	struct trace_error error;
	char text[32];
	size_t rows = 0;

	for (size_t b = 0; b < trace_reader_block_count(reader); b++) {
		size_t count = trace_reader_block_info(reader, b)->rows;

		assert_int_equal(trace_reader_read(reader, b, UINT64_MAX, &error), 0);
		for (size_t i = 0; i < count; i++) {
			size_t length =
				make_args(text, trace_reader_column(reader, SPAN_BEGIN_ID)[i]);

			check_string(reader, trace_reader_column(reader, SPAN_BEGIN_ARGS)[i], text,
				     length);
		}
		rows += count;
	}
	assert_null(trace_reader_string_error(reader));
	return rows;
}

/* --- valid traces --- */

TEST(test_round_trip)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd);
	const size_t huge = TRACE_STRING_BYTES_MAX + 5;
	char *large = calloc(1, huge);
	uint32_t name, args, again, other, longest, last;
	struct trace_reader *reader;
	struct sample_bytes sample;

	name = trace_writer_string(writer, "a", 1);
	args = trace_writer_args(writer, "a", 1); /* not mistaken for the name */
	/* Immediately: the hash seed may let another string take its slot. */
	again = trace_writer_args(writer, "a", 1);
	other = trace_writer_args(writer, "\x81\xa1n\0\xff", 5);
	longest = trace_writer_args(writer, large, huge);
	last = trace_writer_string(writer, "b", 1);
	assert_true(name && args && other && longest && last);
	assert_true(name < args && args < other && other < longest && longest < last);
	assert_int_equal(again, args);
	assert_int_equal(trace_writer_args(writer, "", 0), 0);
	assert_int_equal(trace_writer_args(writer, NULL, 0), 0);
	sample = finish(writer, fd);
	reader = sample_reader(sample.bytes, sample.length);
	check_string(reader, name, "a", 1);
	check_string(reader, args, "a", 1);
	check_string(reader, other, "\x81\xa1n\0\xff", 5);
	check_string(reader, longest, large, TRACE_STRING_BYTES_MAX);
	check_string(reader, last, "b", 1);
	check_string(reader, 0, "", 0);
	check_string(reader, last + 1, "", 0);
	check_string(reader, UINT64_MAX, "", 0);
	assert_null(trace_reader_string_error(reader));
	trace_reader_close(reader);
	free(sample.bytes);
	free(large);
}

/* Finding one string decodes its block, so blocks stay small. */
TEST(test_blocks_are_small)
{
	struct sample_bytes sample = make_spans(trace_writer_args);
	struct input input;
	struct trace_buffers buffers = { 0 };
	struct mp content;
	uint64_t offset = 0, strings = 0;
	struct trace_error error;

	assert_int_equal(input_open_memory(&input, sample.bytes, sample.length, &error), 0);
	while (offset < sample.length) {
		struct block block;

		assert_int_equal(
			input_frame(&input, &buffers, offset, 0, &content, &offset, &error), 0);
		if (!content.at || block_parse(&block, content) || block.type != BLOCK_ARGS)
			continue;
		assert_in_range(block.rows, 1, 4096);
		assert_in_range(content.end - content.at, 1, 512 << 10);
		strings += block.rows;
	}
	assert_int_equal(strings, MANY);
	input_release(&buffers);
	input_close(&input);
	free(sample.bytes);
}

TEST(test_cut)
{
	struct sample_bytes sample = make_spans(trace_writer_args);
	size_t last = MANY;

	for (size_t cut = sample.length; cut > 4096; cut -= sample.length / 7) {
		struct trace_reader *reader = sample_reader(sample.bytes, cut);
		size_t rows = check_spans(reader);

		assert_true(cut == sample.length ? rows == MANY : rows <= last);
		assert_int_equal(!trace_reader_incomplete(reader), cut == sample.length);
		last = rows;
		trace_reader_close(reader);
	}
	free(sample.bytes);
}

/* Returned bytes stay valid as long as promised, whichever blocks are loaded in between. */
TEST(test_lifetime)
{
	struct sample_bytes sample = make_spans(trace_writer_args);
	struct trace_reader *reader = sample_reader(sample.bytes, sample.length);
	struct trace_string strings[TRACE_STRING_CALLS + 1];
	const uint64_t step = 2 * 4096;
	char text[32];

	for (uint64_t from = 0; from + (TRACE_STRING_CALLS + 1) * step < MANY; from += 4096) {
		for (uint64_t i = 0; i <= TRACE_STRING_CALLS; i++) /* the name has id 1 */
			strings[i] = trace_reader_args(reader, from + i * step + 2);
		for (uint64_t i = 0; i <= TRACE_STRING_CALLS; i++) {
			assert_int_equal(strings[i].length, make_args(text, from + i * step));
			assert_string_equal(strings[i].bytes, text);
		}
	}
	/* Names stay valid, so arguments are none, even if a forged trace uses them as such. */
	assert_string_equal(trace_reader_string(reader, 1).bytes, "step");
	assert_int_equal(trace_reader_string(reader, 2).length, 0);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* A reader's memory does not grow with the number of args; with names it would. */
TEST(test_memory)
{
	uint32_t (*const sorts[])(struct trace_writer *, const void *,
				  size_t) = { trace_writer_args, trace_writer_string };
	size_t opened[2], looked[2];

	for (int i = 0; i < 2; i++) {
		struct sample_bytes sample = make_spans(sorts[i]);
		size_t before = memory_in_use();
		struct trace_reader *reader = sample_reader(sample.bytes, sample.length);

		opened[i] = memory_in_use() - before;
		assert_int_equal(check_spans(reader), MANY);
		looked[i] = memory_in_use() - before;
		trace_reader_close(reader);
		free(sample.bytes);
	}
	assert_true(opened[1] > MANY * sizeof(struct text)); /* the measurement works */
	assert_true(opened[0] < opened[1] / 8);
	/* Includes columns of a block and the blocks that are kept. */
	assert_true(looked[0] - opened[0] < 4u << 20);
}

/* --- hostile --- */

/* A block of args and its index entry. */
struct args_forgery {
	uint64_t ids[3];     /* 0: none */
	uint64_t start, end; /* in the index */
	const char *of;
	uint64_t kind; /* in the index */
};

/* Each string consists of its block's number and its ID. */
static void pack_forgery(struct pack *pack, const struct args_forgery *forgery, size_t number)
{
	struct string_block block = { 0 };
	char text[64];

	for (int i = 0; i < 3 && forgery->ids[i]; i++) {
		int length = snprintf(text, sizeof(text), "%zu:%llu", number,
				      (unsigned long long)forgery->ids[i]);

		assert_int_equal(string_block_reserve(&block, length), 0);
		string_block_add(&block, forgery->ids[i], text, length);
	}
	pack_clear(pack);
	assert_int_equal(string_block_pack(&block, forgery->of, pack), 0);
	string_block_free(&block);
}

/* A complete trace of only these blocks. `offsets` receives where each begins. */
static struct sample_bytes forge(const struct args_forgery *blocks, size_t count, uint64_t *offsets)
{
	int fd = sample_memory_file();
	struct sample_bytes sample;
	struct pack pack = { 0 };
	struct output output;

	assert_int_equal(output_open(&output, fd, 0), 0);
	header_pack(&pack, &sample_header);
	assert_int_equal(output_object(&output, &pack, ROOM_FOR_NAMES), 0);
	for (size_t i = 0; i < count; i++) {
		offsets[i] = output.offset;
		pack_forgery(&pack, &blocks[i], i);
		assert_int_equal(output_block(&output, &pack,
					      (struct format_entry) { .kind = blocks[i].kind,
								      .rows = 1,
								      .start = blocks[i].start,
								      .end = blocks[i].end },
					      ROOM_FOR_NAMES),
				 0);
	}
	pack_clear(&pack);
	totals_pack(&pack, &sample_totals);
	assert_int_equal(output_end(&output, &pack), 0);
	output_free(&output);
	pack_free(&pack);
	sample = sample_read_fd(fd);
	close(fd);
	return sample;
}

static void check_text(const struct trace_reader *reader, uint64_t id, const char *text)
{
	check_string(reader, id, text, strlen(text));
}

/* Ranges in an index are hints: an ID resolves to the string that its block gives it. */
TEST(test_lying_ranges)
{
	static const struct args_forgery blocks[] = {
		{ { 70, 71 }, 70, 71, "args", FORMAT_KIND_ARGS }, /* out of order */
		{ { 12, 10, 11 }, 10, 12, "args", FORMAT_KIND_ARGS },
		{ { 20, 30 }, 20, 30, "args", FORMAT_KIND_ARGS },
		{ { 25, 30 }, 25, 30, "args", FORMAT_KIND_ARGS }, /* overlaps */
		{ { 40 }, 40, 49, "args", FORMAT_KIND_ARGS },	  /* claims more */
		{ { 50, 51 }, 50, 50, "args", FORMAT_KIND_ARGS }, /* ... and less than it holds */
		{ { 60 }, 69, 60, "args", FORMAT_KIND_ARGS },	  /* reversed */
		{ { 1000 }, 90, UINT64_MAX, "args", FORMAT_KIND_ARGS },
		{ { 0 }, 80, 89, "args", FORMAT_KIND_ARGS },   /* empty */
		{ { 71, 5 }, 0, 0, NULL, FORMAT_KIND_STRING }, /* a name with an args ID */
	};
	static const struct {
		uint64_t id;
		const char *text;
	} wanted[] = {
		{ 70, "0:70" }, { 71, "9:71" },	    { 10, "1:10" },	{ 11, "1:11" },
		{ 12, "1:12" }, { 20, "2:20" },	    { 24, "" },		{ 25, "3:25" },
		{ 30, "3:30" }, { 40, "4:40" },	    { 45, "" },		{ 50, "5:50" },
		{ 51, "" },	{ 60, "" },	    { 69, "" },		{ 85, "" },
		{ 90, "" },	{ 1000, "7:1000" }, { UINT64_MAX, "" }, { 5, "9:5" },
		{ 0, "" },	{ 1, "" },
	};
	uint64_t offsets[sizeof(blocks) / sizeof(blocks[0])];
	struct sample_bytes sample = forge(blocks, sizeof(blocks) / sizeof(blocks[0]), offsets);
	struct trace_reader *reader = sample_reader(sample.bytes, sample.length);

	assert_null(trace_reader_incomplete(reader));
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			check_text(reader, wanted[i].id, wanted[i].text);
	assert_null(trace_reader_string_error(reader));
	trace_reader_close(reader);

	/* In an unfinished file, the IDs in the blocks count. */
	reader = sample_reader(sample.bytes, sample.length - 1);
	assert_non_null(trace_reader_incomplete(reader));
	check_text(reader, 51, "5:51");
	check_text(reader, 60, "6:60");
	check_text(reader, 1000, "7:1000");
	check_text(reader, 45, "");
	assert_null(trace_reader_string_error(reader));
	trace_reader_close(reader);
	free(sample.bytes);
}

/* Names indexed as args are not found, and args indexed as names are not loaded. */
TEST(test_lying_kinds)
{
	static const struct args_forgery blocks[] = {
		{ { 1 }, 1, 1, NULL, FORMAT_KIND_ARGS },
		{ { 2 }, 2, 2, "args", FORMAT_KIND_STRING },
		{ { 3 }, 3, 3, "something to come", FORMAT_KIND_STRING },
	};
	uint64_t offset;
	struct sample_bytes sample = forge(&blocks[0], 1, &offset);
	struct trace_reader *reader = sample_reader(sample.bytes, sample.length);

	assert_null(trace_reader_incomplete(reader));
	check_text(reader, 1, "");
	assert_non_null(strstr(trace_reader_string_error(reader), "does not match the index"));
	trace_reader_close(reader);
	free(sample.bytes);

	sample = forge(&blocks[1], 1, &offset);
	reader = sample_reader(sample.bytes, sample.length);
	assert_null(trace_reader_incomplete(reader));
	assert_non_null(strstr(trace_reader_damage(reader), "does not match the index"));
	check_text(reader, 2, "");
	trace_reader_close(reader);
	free(sample.bytes);

	sample = forge(&blocks[2], 1, &offset);
	reader = sample_reader(sample.bytes, sample.length);
	assert_null(trace_reader_incomplete(reader));
	check_text(reader, 3, "0:3");
	trace_reader_close(reader);
	free(sample.bytes);
}

/* A damaged block costs only its own strings, and the reader reports it. */
TEST(test_damaged_block)
{
	static const struct args_forgery blocks[] = {
		{ { 1, 2 }, 1, 2, "args", FORMAT_KIND_ARGS },
		{ { 3, 4 }, 3, 4, "args", FORMAT_KIND_ARGS },
	};
	uint64_t offsets[2];
	struct sample_bytes sample = forge(blocks, 2, offsets);
	struct trace_reader *reader;
	char words[64];

	sample.bytes[offsets[1] - 1] ^= 1; /* the first block's checksum */
	reader = sample_reader(sample.bytes, sample.length);
	assert_null(trace_reader_incomplete(reader));
	check_text(reader, 3, "1:3");
	assert_null(trace_reader_string_error(reader));
	check_text(reader, 1, "");
	check_text(reader, 2, "");
	snprintf(words, sizeof(words), "is damaged at byte %llu:", (unsigned long long)offsets[0]);
	assert_non_null(strstr(trace_reader_string_error(reader), words));
	check_text(reader, 4, "1:4");
	trace_reader_close(reader);
	free(sample.bytes);
}
