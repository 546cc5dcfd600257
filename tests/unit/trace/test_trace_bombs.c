/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading files designed to exhaust or mislead: oversized frames, a lying index, concatenated
 * traces.
 */
#include "unit_test.h"

#include <zstd.h>

#include "forged_trace.h"

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

/* A few kilobytes that exceed the frame limit when decompressed, whether declared or not. */
TEST(test_large_frames)
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

/* A file of kilobytes that claims millions of strings in each frame: memory stays in proportion. */
TEST(test_many_empty_strings)
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

/* A million nested arrays in an unknown column. */
TEST(test_deep_nesting)
{
	struct pack pack = { 0 };

	pack_start(&pack, 1, "fork", 0);
	pack_cstring(&pack, "deep");
	for (int i = 0; i < 1000000; i++)
		pack_array(&pack, 1);
	pack_uint(&pack, 1);
	check_refused(&pack); /* rejected for its missing times, not for its depth */
	pack_start(&pack, 1, "weather", 0);
	pack_cstring(&pack, "deep");
	for (int i = 0; i < 1000000; i++)
		pack_array(&pack, 1);
	pack_uint(&pack, 1);
	check_object_with(&pack, true, 2);
}

/* A header or none, bytes that look like starts of frames, rows, and the copy of the header.
 * Returns how many blocks of rows are found; -1: not even a header. */
static int find_behind(size_t false_starts, bool has_header)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	struct trace_error error;
	int count = -1;

	if (has_header)
		add_header(&file, &pack);
	for (size_t i = 0; i < false_starts; i++)
		add_bytes(&file, magic, sizeof(magic));
	pack_fork(&pack);
	add_frame(&file, &pack);
	header_pack_copy(&pack, &sample_header);
	add_frame(&file, &pack);
	if (!trace_reader_open_memory(&reader, file.bytes, file.length, &error)) {
		count = trace_reader_block_count(reader);
		trace_reader_close(reader);
	}
	free(file.bytes);
	pack_free(&pack);
	return count;
}

/* A search for the next whole frame ends: each false start may take as long as a large frame. */
TEST(test_many_false_starts)
{
	assert_int_equal(find_behind(900, true), 1);
	assert_int_equal(find_behind(1100, true), 0);
	assert_int_equal(find_behind(900, false), 1);
	assert_int_equal(find_behind(1100, false), -1);
}

/* --- a lying index --- */

struct index_forgery {
	int kind_at;	 /* index of the second entry in the list of kinds */
	int offset_at;	 /* added to the second offset */
	int rows_at;	 /* added to the second number of rows */
	int previous_at; /* added to the offset of the index itself for `previous`; 0: none */
	int tail_index_at, tail_totals_at; /* added to the tail's offsets */
	bool reads;			   /* opens as complete; reading the block fails */
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

TEST(test_lying_index)
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

/* Two traces in one file: the first is read, and the file described as such. */
TEST(test_two_traces)
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
