/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Traces built frame by frame, as no writer would. Include after cmocka.h. */
#pragma once

#include <zstd.h>

#include "trace/format/column.h"
#include "trace/format/format.h"
#include "trace/read/meta.h"
#include "trace_sample.h"

#define FORGED __attribute__((unused)) static

/* A file under construction. */
struct forgery {
	uint8_t *bytes;
	size_t length;
};

FORGED void add_bytes(struct forgery *file, const void *bytes, size_t length)
{
	file->bytes = realloc(file->bytes, file->length + length);
	memcpy(file->bytes + file->length, bytes, length);
	file->length += length;
}

/* Adds the packed bytes as a frame and empties the pack. Returns the frame's offset. */
FORGED uint64_t add_frame(struct forgery *file, struct pack *pack)
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

FORGED void add_header(struct forgery *file, struct pack *pack)
{
	header_pack(pack, &sample_header);
	add_frame(file, pack);
}

FORGED void add_tail(struct forgery *file, uint64_t index, uint64_t totals)
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

FORGED void pack_start(struct pack *pack, size_t columns, const char *kind, uint64_t n)
{
	pack_map(pack, 3 + columns);
	pack_cstring(pack, "block");
	pack_cstring(pack, kind);
	pack_cstring(pack, "n");
	pack_uint(pack, n);
	pack_cstring(pack, "t0");
	pack_uint(pack, 1000);
}

/* A hand-made column, valid or not. */
FORGED void pack_raw_column(struct pack *pack, const char *name, const char *type, uint64_t shape,
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

FORGED void pack_numbers(struct pack *pack, const char *name, size_t count, ...)
{
	uint64_t numbers[16];
	va_list list;

	va_start(list, count);
	for (size_t i = 0; i < count; i++)
		numbers[i] = va_arg(list, int);
	va_end(list);
	column_pack_values(pack, name, numbers, 1, count);
}

/* Two valid rows. */
FORGED void pack_fork(struct pack *pack)
{
	pack_start(pack, 2, "fork", 2);
	pack_numbers(pack, "dts", 2, 0, 5);
	pack_numbers(pack, "pid", 2, 11, 12);
}

FORGED struct trace_reader *open_forgery(struct forgery *file)
{
	return sample_reader(file->bytes, file->length);
}

FORGED void close_forgery(struct forgery *file, struct trace_reader *reader, struct pack *pack)
{
	trace_reader_close(reader);
	free(file->bytes);
	memset(file, 0, sizeof(*file));
	pack_free(pack);
}

/*
 * A valid block, the packed object, another valid block: whatever is wrong with the object, the
 * first block is read, and the second too if `passes`.
 */
FORGED void check_object_with(struct pack *pack, bool passes, size_t blocks)
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

FORGED void check_refused(struct pack *pack)
{
	check_object_with(pack, false, 1);
}
