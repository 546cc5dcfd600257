/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading whole frames with content that no writer produces: other versions, headers, columns and
 * strings.
 */
#include "unit_test.h"

#include "forged_trace.h"

TEST(test_versions)
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

		pack_map(&pack, 3); /* nothing else needs to match today's format */
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

/* Frames of the wrong type, and headers with a wrong type inside. */
TEST(test_wrong_headers)
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

/* The smallest valid header: no text that a program might print is NULL. */
TEST(test_smallest_header)
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

TEST(test_wrong_columns)
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
	pack_start(&pack, 2, "fork", 2); /* the same column twice */
	pack_numbers(&pack, "dts", 2, 0, 1);
	pack_numbers(&pack, "dts", 2, 0, 1);
	check_refused(&pack);
	pack_start(&pack, 1, "fork", 2); /* no times */
	pack_numbers(&pack, "pid", 2, 0, 1);
	check_refused(&pack);
	pack_start(&pack, 1, "fork", 2); /* a number in place of a column */
	pack_cstring(&pack, "dts");
	pack_uint(&pack, 7);
	check_refused(&pack);
	pack_start(&pack, 2, "syscall", 2); /* an operation missing from the header */
	pack_numbers(&pack, "dts", 2, 0, 1);
	pack_numbers(&pack, "op", 2, 0, SAMPLE_OPERATIONS);
	check_refused(&pack);
	pack_uint(&pack, 7); /* not a block at all */
	check_refused(&pack);
	pack_fork(&pack); /* two objects in a frame */
	pack_uint(&pack, 7);
	check_refused(&pack);
}

/* Additions of later versions are skipped; columns missing from earlier ones read as zeros. */
TEST(test_unknown_and_missing)
{
	const uint8_t bytes[2] = { 200, 100 };
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	struct trace_error error;

	pack_start(&pack, 2, "weather", 1ull << 60);
	pack_cstring(&pack, "dts");
	pack_array(&pack, 0);
	pack_uint(&pack, 5); /* a key that is not text */
	pack_map(&pack, 0);
	check_object_with(&pack, true, 2);

	add_header(&file, &pack);
	pack_start(&pack, 4, "fork", 2);
	pack_raw_column(&pack, "dts", "|u1", 2, bytes, 2); /* as numpy writes a byte */
	pack_raw_column(&pack, "pid", "|i1", 2, bytes, 2);
	pack_cstring(&pack, "colour"); /* a column of a future type */
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
	assert_null(trace_reader_column(reader, FORK_TIME)); /* not requested */
	close_forgery(&file, reader, &pack);
}

/* String IDs may be anything: large, repeated, in any order. */
TEST(test_string_ids)
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

/* Long strings, which any number of rows may share, are cut at the end of a character. */
TEST(test_long_strings)
{
	static const size_t most = TRACE_STRING_BYTES_MAX;
	static const struct {
		size_t bytes;
		const char *last; /* character */
		size_t kept;	  /* without the mark */
	} texts[] = {
		{ most, "x", most },
		{ most + 1, "x", most - 3 },
		{ 1 << 20, "x", most - 3 },
		{ most + 1, "\xe2\x82\xac", most - 4 }, /* the cut would be in the euro sign */
	};
	const size_t count = sizeof(texts) / sizeof(texts[0]);
	struct trace_header header = sample_header;
	struct pack pack = { 0 };
	struct forgery file = { 0 };
	struct trace_reader *reader;
	char *text = malloc(1 << 20);

	memset(text, 'x', 1 << 20);
	text[(1 << 20) - 1] = 0;
	header.host = text;
	header_pack(&pack, &header);
	add_frame(&file, &pack);
	pack_start(&pack, 2, FORMAT_STRING, count);
	pack_numbers(&pack, "id", count, 1, 2, 3, 4);
	pack_cstring(&pack, "text");
	pack_array(&pack, count);
	for (size_t i = 0; i < count; i++) {
		memset(text, 'x', texts[i].bytes);
		if (strlen(texts[i].last) > 1)
			memcpy(text + texts[i].kept, texts[i].last, strlen(texts[i].last));
		pack_text(&pack, text, texts[i].bytes);
	}
	add_frame(&file, &pack);
	reader = open_forgery(&file);
	memset(text, 'x', most);
	for (size_t i = 0; i < count; i++) {
		const struct trace_string string = trace_reader_string(reader, i + 1);
		const char *mark = texts[i].bytes > most ? "\u2026" : "";

		assert_int_equal(string.length, texts[i].kept + strlen(mark));
		assert_memory_equal(string.bytes, text, texts[i].kept);
		assert_string_equal(string.bytes + texts[i].kept, mark);
	}
	assert_int_equal(strlen(trace_reader_header(reader)->host), most);
	assert_string_equal(trace_reader_damage(reader),
			    "the trace has 3 names longer than 8192 bytes, which are cut");
	free(text);
	close_forgery(&file, reader, &pack);
}

TEST(test_wrong_strings)
{
	struct pack pack = { 0 };

	pack_start(&pack, 2, FORMAT_STRING, 2); /* fewer texts than IDs */
	pack_numbers(&pack, "id", 2, 1, 2);
	pack_cstring(&pack, "text");
	pack_array(&pack, 1);
	pack_cstring(&pack, "x");
	check_refused(&pack);
	pack_start(&pack, 1, FORMAT_STRING, 1); /* no IDs */
	pack_cstring(&pack, "text");
	pack_array(&pack, 1);
	pack_cstring(&pack, "x");
	check_refused(&pack);
	pack_start(&pack, 2, FORMAT_STRING, 1); /* a number in place of a text */
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
