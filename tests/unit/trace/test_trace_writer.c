/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Written rows read back unchanged: every kind, every width, all sorts of strings, in the right
 * blocks.
 */
#include "unit_test.h"

#include <stdio.h>

#include <zstd.h>

#include "trace/format/block.h"
#include "trace/format/column.h"
#include "written_trace.h"

/* --- rows --- */

static void check_block(struct trace_reader *reader, size_t block, size_t reach, uint8_t *seen,
			size_t rows)
{
	const struct trace_block_info *info = trace_reader_block_info(reader, block);
	const struct trace_schema *schema = &trace_schemas[info->kind];
	uint64_t start = UINT64_MAX, end = 0;
	struct trace_error error;

	assert_int_equal(trace_reader_read(reader, block, UINT64_MAX, &error), 0);
	for (size_t i = 0; i < info->rows; i++) {
		uint64_t number = trace_reader_column(reader, sample_number_column[info->kind])[i];
		uint64_t time = trace_reader_column(reader, TRACE_COL_TIME)[i];
		uint64_t duration =
			schema->duration < 0 ? 0 : trace_reader_column(reader, schema->duration)[i];
		uint64_t last = time + duration < time ? UINT64_MAX : time + duration;

		assert_true(number < rows);
		assert_int_equal(seen[number]++, 0);
		for (unsigned int c = 0; c < schema->column_count; c++)
			assert_true(trace_reader_column(reader, c)[i] ==
				    sample_value(info->kind, number, c, reach));
		start = time < start ? time : start;
		end = last > end ? last : end;
	}
	assert_true(info->start == start && info->end == end);
}

static void check_rows(size_t rows, size_t rounds, size_t reach, unsigned int lanes)
{
	const struct trace_writer_options options = { .lanes = lanes };
	struct sample_bytes sample = sample_trace(rows, rounds, reach, &options);
	struct trace_reader *reader = open_reader(&sample);
	uint8_t *seen[TRACE_KIND_COUNT];

	assert_null(trace_reader_incomplete(reader));
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
		seen[kind] = calloc(rows, rounds);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++)
		check_block(reader, i, reach, seen[trace_reader_block_info(reader, i)->kind],
			    rows * rounds);
	for (int kind = 0; kind < TRACE_KIND_COUNT; kind++) {
		for (size_t i = 0; i < rows * rounds; i++)
			assert_int_equal(seen[kind][i], 1);
		free(seen[kind]);
	}
	trace_reader_close(reader);
	free(sample.bytes);
}

TEST(test_rows_of_every_kind)
{
	check_rows(1, 1, SAMPLE_EDGES, 1);
	check_rows(100, 3, SAMPLE_EDGES, 1);
	check_rows(100, 3, SAMPLE_EDGES, 3);
	check_rows(1000, 1, 1, 2); /* all the same */
	check_rows(1000, 1, 5, 1000);
}

/* More rows than a block, a chunk or the writer's memory holds. */
TEST(test_many_rows)
{
	check_rows(TRACE_BLOCK_ROWS + 1, 1, SAMPLE_EDGES, 2);
	check_rows(100000, 2, 9, 1);
}

/* More CPU buffers than there are chunks: the largest blocks are flushed to make room. */
TEST(test_many_lanes)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 64);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint64_t rows = 0, expected = 0;

	for (uint64_t i = 0; i < 400000; i++) {
		append_call(writer, i % 64, i * 100, i % 128 < 64 ? 10 : 70000);
		expected++;
	}
	assert_true(trace_writer_rows(writer, TRACE_SYSCALL) == expected);
	reader = finish(writer, fd, &sample);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++)
		rows += trace_reader_block_info(reader, i)->rows;
	assert_true(rows == expected);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* --- widths --- */

/* Decompresses a block's frame and finds one of its columns. */
static struct column_view stored_column(const struct sample_bytes *sample,
					const struct trace_block_info *info, unsigned int column,
					uint8_t *content, size_t room)
{
	const uint8_t *frame = sample->bytes + info->offset;
	size_t length = ZSTD_findFrameCompressedSize(frame, sample->length - info->offset);
	struct column_view views[TRACE_COLUMNS_MAX];
	const struct trace_schema *schema = &trace_schemas[info->kind];
	struct block block;

	assert_false(ZSTD_isError(length));
	length = ZSTD_decompress(content, room, frame, length);
	assert_false(ZSTD_isError(length));
	assert_int_equal(block_parse(&block, (struct mp) { content, content + length }), 0);
	assert_int_equal(
		block_columns(&block, schema->columns, schema->column_count, UINT64_MAX, views), 0);
	return views[column];
}

/* Columns are as narrow as their values allow, and signed only if necessary. */
TEST(test_widths)
{
	static const struct {
		uint64_t low, high;
		unsigned int width;
		bool is_signed;
	} rows[] = {
		{ 0, 0, 1, false },
		{ 0, 255, 1, false },
		{ 0, 256, 2, false },
		{ 0, 65535, 2, false },
		{ 0, 65536, 4, false },
		{ 0, UINT32_MAX, 4, false },
		{ 0, 1ull << 32, 8, false },
		{ 0, INT64_MAX, 8, false },
		{ (uint64_t)-1, 127, 1, true },
		{ (uint64_t)-128, 0, 1, true },
		{ (uint64_t)-1, 128, 2, true },
		{ (uint64_t)-129, 0, 2, true },
		{ (uint64_t)-32768, 32767, 2, true },
		{ (uint64_t)-1, 32768, 4, true },
		{ (uint64_t)INT32_MIN, 0, 4, true },
		{ (uint64_t)INT32_MIN - 1, 0, 8, true },
		{ (uint64_t)INT64_MIN, INT64_MAX, 8, true },
		{ (uint64_t)-5, (uint64_t)-5, 1, true },
	};
	uint8_t *content = malloc(1 << 20);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int fd = sample_memory_file();
		struct trace_writer *writer = open_writer(fd, 1);
		uint64_t values[SYSCALL_COLUMNS] = { 0 };
		struct sample_bytes sample;
		struct trace_reader *reader;
		struct column_view view;
		const uint64_t *read;

		values[SYSCALL_OFFSET] = rows[i].low;
		assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, 0, values), 0);
		values[SYSCALL_OFFSET] = rows[i].high;
		assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, 0, values), 0);
		reader = finish(writer, fd, &sample);
		assert_int_equal(trace_reader_block_count(reader), 1);
		view = stored_column(&sample, trace_reader_block_info(reader, 0), SYSCALL_OFFSET,
				     content, 1 << 20);
		assert_int_equal(view.width, rows[i].width);
		assert_int_equal(view.is_signed, rows[i].is_signed);
		read = read_column(reader, 0, SYSCALL_OFFSET);
		assert_true(read[0] == rows[i].low && read[1] == rows[i].high);
		trace_reader_close(reader);
		free(sample.bytes);
	}
	free(content);
}

/* Times in a block may go backward; they read back unchanged. */
TEST(test_times)
{
	static const uint64_t times[] = {
		5000, 5000, 4999, 70000, 1, 1ull << 40, 0, UINT64_MAX, 3
	};
	const size_t count = sizeof(times) / sizeof(times[0]);
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;
	const uint64_t *read;

	for (size_t i = 0; i < count; i++)
		append_call(writer, 0, times[i], 7);
	reader = finish(writer, fd, &sample);
	assert_int_equal(trace_reader_block_count(reader), 1);
	read = read_column(reader, 0, TRACE_COL_TIME);
	assert_memory_equal(read, times, sizeof(times));
	assert_true(trace_reader_block_info(reader, 0)->start == 0);
	/* saturates; would wrap to 6 */
	assert_true(trace_reader_block_info(reader, 0)->end == UINT64_MAX);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* --- which block --- */

/* Long rows do not widen the columns of short rows' blocks. */
TEST(test_long_rows_apart)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 2);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint64_t longest = 0, rows = 0;

	for (uint64_t i = 0; i < 3000; i++)
		append_call(writer, i % 2, i * 1000, i % 100 ? 500 : 20000000000ull);
	reader = finish(writer, fd, &sample);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);
		const uint64_t *durations = read_column(reader, i, SYSCALL_DUR);
		bool is_long = durations[0] > 10000000;

		rows += info->rows;
		longest += is_long ? info->rows : 0;
		for (size_t j = 0; j < info->rows; j++)
			assert_int_equal(durations[j] > 10000000, is_long);
		if (!is_long)
			assert_true(info->end <= 3000 * 1000 + 500);
	}
	assert_int_equal(rows, 3000);
	assert_int_equal(longest, 30);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* Rows above 65 us have separate blocks of the same CPU buffer, with two-byte durations. */
TEST(test_medium_rows_with_others)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 2);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint8_t *content = malloc(1 << 20);

	for (uint64_t i = 0; i < 3000; i++)
		append_call(writer, i % 2, i * 1000, i % 99 ? 65535 : 65536);
	reader = finish(writer, fd, &sample);
	assert_int_equal(trace_reader_block_count(reader), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);

		assert_int_equal(stored_column(&sample, info, SYSCALL_DUR, content, 1 << 20).width,
				 info->rows > 100 ? 2 : 4);
	}
	trace_reader_close(reader);
	free(sample.bytes);
	free(content);
}

/* An early gap does not split a block that has since grown: its times already need more than two
 * bytes. */
TEST(test_gap_in_block)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint64_t time = 1000;

	for (size_t i = 0; i < 20000; i++)
		append_call(writer, 0, time += i == 100 || i == 10000 ? 1000000 : 900, 300);
	reader = finish(writer, fd, &sample);
	assert_int_equal(trace_reader_block_count(reader), 1);
	trace_reader_close(reader);
	free(sample.bytes);
}

/* A gap ends a large block, so that its times fit two bytes. */
TEST(test_gap_ends_block)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint8_t *content = malloc(8 << 20);
	uint64_t time = 1000;

	for (size_t i = 0; i < 20000; i++)
		append_call(writer, 0, time += i == 10000 ? 1000000 : 900, 300);
	reader = finish(writer, fd, &sample);
	assert_int_equal(trace_reader_block_count(reader), 2);
	for (size_t i = 0; i < 2; i++) {
		const struct trace_block_info *info = trace_reader_block_info(reader, i);

		assert_int_equal(info->rows, 10000);
		assert_int_equal(
			stored_column(&sample, info, TRACE_COL_TIME, content, 8 << 20).width, 2);
	}
	trace_reader_close(reader);
	free(sample.bytes);
	free(content);
}

/* --- strings --- */

static void check_string(const struct trace_reader *reader, uint64_t id, const void *bytes,
			 size_t length)
{
	struct trace_string string = trace_reader_string(reader, id);

	assert_int_equal(string.length, length);
	assert_memory_equal(string.bytes, bytes, length);
	assert_int_equal(string.bytes[length], 0);
}

TEST(test_strings)
{
	static const struct {
		const char *bytes;
		size_t length;
	} rows[] = {
		{ "/data/train.bin", 15 }, { "\xff\xfe\xfd", 3 },
		{ "a\0b\0", 4 },	   { "\0", 1 },
		{ "\n\x1b[31m", 6 },	   { "\xf0\x9f\x98\x80", 4 },
		{ "\xed\xa0\x80", 3 },	   /* a surrogate */
		{ "\xc0\xaf", 2 },	   /* an overlong slash */
		{ "\xf4\x90\x80\x80", 4 }, /* past U+10FFFF */
		{ "\xe2\x82", 2 },	   /* cut short */
	};
	const size_t count = sizeof(rows) / sizeof(rows[0]), huge = TRACE_STRING_BYTES_MAX + 5;
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	char *large = malloc(huge);
	struct sample_bytes sample;
	struct trace_reader *reader;
	uint32_t first, second;

	memset(large, 'x', huge);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(trace_writer_string(writer, rows[i].bytes, rows[i].length), i + 1);
	for (size_t i = 0; i < count; i++) /* already known */
		assert_int_equal(trace_writer_string(writer, rows[i].bytes, rows[i].length), i + 1);
	assert_int_equal(trace_writer_string(writer, "", 0), 0);
	assert_int_equal(trace_writer_string(writer, NULL, 0), 0);
	first = trace_writer_string(writer, large, 7000);
	second = trace_writer_string(writer, large, huge);
	assert_int_equal(first, count + 1);
	assert_int_equal(second, count + 2);
	reader = finish(writer, fd, &sample);
	for (size_t i = 0; i < count; i++)
		check_string(reader, i + 1, rows[i].bytes, rows[i].length);
	check_string(reader, first, large, 7000);
	check_string(reader, second, large, TRACE_STRING_BYTES_MAX);
	check_string(reader, 0, "", 0);
	check_string(reader, second + 1, "", 0);
	check_string(reader, UINT64_MAX, "", 0);
	trace_reader_close(reader);
	free(sample.bytes);
	free(large);
}

/* More strings than the writer remembers: IDs still resolve to the right strings. */
TEST(test_forgotten_strings)
{
	const uint32_t count = 300000;
	uint32_t *ids = calloc(count, sizeof(*ids)), last = 0, again;
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;
	char text[64];

	for (uint32_t i = 0; i < count; i++) {
		int length = snprintf(text, sizeof(text), "/data/set/%u/%u.npy", i % 100, i);

		ids[i] = trace_writer_string(writer, text, length);
		assert_true(ids[i] > last);
		last = ids[i];
	}
	again = trace_writer_string(writer, "/data/set/0/0.npy", 17);
	assert_true(again > last); /* forgotten, so it gets a new ID */
	reader = finish(writer, fd, &sample);
	for (uint32_t i = 0; i < count; i++) {
		int length = snprintf(text, sizeof(text), "/data/set/%u/%u.npy", i % 100, i);

		check_string(reader, ids[i], text, length);
	}
	check_string(reader, again, "/data/set/0/0.npy", 17);
	trace_reader_close(reader);
	free(sample.bytes);
	free(ids);
}

/* Checks the names of files in the first bytes of a file. Returns its number of blocks. */
static size_t check_names(const struct sample_bytes *sample, size_t length)
{
	struct sample_bytes part = { sample->bytes, length };
	struct trace_reader *reader = open_reader(&part);
	size_t blocks = trace_reader_block_count(reader);
	struct trace_error error;
	char text[32];

	for (size_t b = 0; b < blocks; b++) {
		assert_int_equal(trace_reader_read(reader, b, UINT64_MAX, &error), 0);
		assert_true(trace_reader_block_info(reader, b)->rows > 0);
		for (size_t i = 0; i < trace_reader_block_info(reader, b)->rows; i++) {
			int size = snprintf(
				text, sizeof(text), "file %llu",
				(unsigned long long)trace_reader_column(reader, FILE_ID)[i]);

			check_string(reader, trace_reader_column(reader, FILE_PATH)[i], text, size);
		}
	}
	trace_reader_close(reader);
	return blocks;
}

/* After every complete block of an unfinished file, the strings of its rows are in the file. */
TEST(test_strings_before_rows)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	uint64_t row[FILE_COLUMNS] = { 0 };
	struct trace_reader *reader;
	struct sample_bytes sample;
	uint64_t ends[8];
	size_t blocks;
	char text[32];

	for (uint64_t i = 0; i < 70000; i++) {
		int length = snprintf(text, sizeof(text), "file %llu", (unsigned long long)i);

		row[FILE_ID] = i;
		row[FILE_PATH] = trace_writer_string(writer, text, length);
		assert_int_equal(trace_writer_append(writer, TRACE_FILE, 0, row), 0);
	}
	reader = finish(writer, fd, &sample);
	blocks = trace_reader_block_count(reader);
	assert_in_range(blocks, 2, sizeof(ends) / sizeof(*ends));
	for (size_t b = 0; b < blocks; b++) {
		uint64_t offset = trace_reader_block_info(reader, b)->offset;

		ends[b] = offset + ZSTD_findFrameCompressedSize(sample.bytes + offset,
								sample.length - offset);
	}
	trace_reader_close(reader);
	for (size_t b = 0; b < blocks; b++) {
		assert_int_equal(check_names(&sample, ends[b]), b + 1);
		assert_int_equal(check_names(&sample, ends[b] - 1), b);
	}
	for (size_t cut = sample.length; cut > 4096; cut -= sample.length / 13) {
		size_t complete = 0;

		while (complete < blocks && ends[complete] <= cut)
			complete++;
		assert_int_equal(check_names(&sample, cut), complete);
	}
	free(sample.bytes);
}

/* --- header, totals --- */

static void check_text(const char *read, const char *written)
{
	if (written)
		assert_string_equal(read, written);
	else
		assert_null(read);
}

TEST(test_header_and_totals)
{
	struct sample_bytes sample = sample_trace(1, 1, 2, NULL);
	struct trace_reader *reader = open_reader(&sample);
	const struct trace_header *header = trace_reader_header(reader);
	const struct trace_totals *totals = trace_reader_totals(reader);

	assert_int_equal(header->version, TRACE_VERSION);
	assert_string_equal(header->tool, sample_header.tool);
	assert_string_equal(header->host, sample_header.host);
	assert_string_equal(header->boot_id, sample_header.boot_id);
	assert_string_equal(header->kernel, sample_header.kernel);
	assert_string_equal(header->machine, sample_header.machine);
	assert_string_equal(header->mode, "trace");
	assert_int_equal(header->page_bytes, 4096);
	assert_int_equal(header->cpus, 2);
	assert_true(header->clock_monotonic_ns == sample_header.clock_monotonic_ns);
	assert_true(header->clock_realtime_ns == sample_header.clock_realtime_ns);
	assert_true(header->memory_bytes == sample_header.memory_bytes);
	assert_true(header->cgroup_memory_bytes == sample_header.cgroup_memory_bytes);
	assert_int_equal(header->cpu_milli, sample_header.cpu_milli);
	assert_true(header->dirty_bytes == sample_header.dirty_bytes);
	assert_true(header->dirty_background_bytes == sample_header.dirty_background_bytes);
	assert_int_equal(header->mount_count, sample_header.mount_count);
	for (size_t i = 0; i < header->mount_count; i++) {
		assert_int_equal(header->mounts[i].dev, sample_mounts[i].dev);
		assert_string_equal(header->mounts[i].type, sample_mounts[i].type);
		assert_string_equal(header->mounts[i].options, sample_mounts[i].options);
		assert_string_equal(header->mounts[i].path, sample_mounts[i].path);
		assert_true(header->mounts[i].readahead_bytes == sample_mounts[i].readahead_bytes);
	}
	for (size_t i = 0; sample_command[i]; i++)
		assert_string_equal(header->command[i], sample_command[i]);
	assert_null(header->command[4]);
	assert_int_equal(header->layer_count, sample_header.layer_count);
	for (size_t i = 0; i < header->layer_count; i++) {
		check_text(header->layers[i].name, sample_layers[i].name);
		check_text(header->layers[i].attach, sample_layers[i].attach);
		check_text(header->layers[i].reason, sample_layers[i].reason);
		assert_int_equal(header->layers[i].on, sample_layers[i].on);
	}
	assert_int_equal(header->operation_count, SAMPLE_OPERATIONS);
	for (size_t i = 0; i < SAMPLE_OPERATIONS; i++) {
		assert_string_equal(header->operations[i].layer, sample_operations[i].layer);
		assert_string_equal(header->operations[i].name, sample_operations[i].name);
		assert_int_equal(header->operations[i].family, sample_operations[i].family);
	}
	assert_true(totals->start_ns == 17 && totals->end_ns == UINT64_MAX);
	assert_int_equal(totals->exit_code, -1);
	assert_int_equal(totals->operation_count, SAMPLE_OPERATIONS);
	assert_memory_equal(totals->operations, sample_operation_totals,
			    sizeof(sample_operation_totals));
	assert_int_equal(totals->kind_count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(totals->kinds[i].kind, sample_kind_totals[i].kind);
		assert_string_equal(totals->kinds[i].layer, sample_kind_totals[i].layer);
		assert_true(totals->kinds[i].events == sample_kind_totals[i].events);
		assert_true(totals->kinds[i].written == sample_kind_totals[i].written);
		assert_true(totals->kinds[i].lost == sample_kind_totals[i].lost);
	}
	assert_int_equal(totals->survivor_count, 2);
	assert_memory_equal(totals->survivors, sample_survivors, sizeof(sample_survivors));
	trace_reader_close(reader);
	free(sample.bytes);
}

/* More blocks than an index frame holds. */
TEST(test_many_blocks)
{
	const size_t count = FORMAT_INDEX_ROWS + 100;
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct sample_bytes sample;
	struct trace_reader *reader;

	for (size_t i = 0; i < count; i++) {
		append_call(writer, 0, i, 1);
		assert_int_equal(trace_writer_tick(writer, (i + 1) * 1000000000ull), 0);
	}
	reader = finish(writer, fd, &sample);
	assert_null(trace_reader_incomplete(reader));
	assert_true(trace_reader_block_count(reader) > FORMAT_INDEX_ROWS);
	for (size_t i = 0, row = 0; i < trace_reader_block_count(reader); i++) {
		const uint64_t *times = read_column(reader, i, TRACE_COL_TIME);

		for (size_t j = 0; j < trace_reader_block_info(reader, i)->rows; j++)
			assert_true(times[j] == row++);
	}
	trace_reader_close(reader);
	free(sample.bytes);
}

/* The totals must match the header's. */
TEST(test_wrong_totals)
{
	int fd = sample_memory_file();
	struct trace_writer *writer = open_writer(fd, 1);
	struct trace_totals totals = sample_totals;
	struct sample_bytes sample;

	totals.operation_count--;
	assert_int_equal(trace_writer_finish(writer, &totals), -EINVAL);
	trace_reader_close(finish(writer, fd, &sample));
	free(sample.bytes);
}
