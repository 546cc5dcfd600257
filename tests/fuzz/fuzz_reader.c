/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The reader of traces under libFuzzer. Knows nothing of the format.
 *
 * An input is a trace file, or, since a fuzzer cannot guess checksums, its first byte is an escape
 * and the rest a list of what the frames of a file shall hold, which are then made here:
 * 0x00, then for each frame three bytes of length (low first), then that many bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "trace/format.h"
#include "trace/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* so that reading is not optimised away */

static void read_block(struct trace_reader *reader, size_t number, uint64_t columns)
{
	const struct trace_block_info *info = trace_reader_block_info(reader, number);
	struct trace_error error;

	if (trace_reader_read(reader, number, columns, &error)) {
		sum += strlen(error.text);
		return;
	}
	for (unsigned int c = 0; c < trace_schemas[info->kind].column_count; c++) {
		const uint64_t *values = trace_reader_column(reader, c);

		for (size_t i = 0; values && i < info->rows; i++) {
			sum += values[i];
			if (trace_schemas[info->kind].columns[c].type == TRACE_STRING) {
				struct trace_string string = trace_reader_string(reader, values[i]);

				sum += string.bytes[string.length];
			}
		}
	}
}

static void read_meta(const struct trace_reader *reader)
{
	const struct trace_header *header = trace_reader_header(reader);
	const struct trace_totals *totals = trace_reader_totals(reader);

	for (size_t i = 0; header->command[i]; i++)
		sum += strlen(header->command[i]);
	for (size_t i = 0; i < header->operation_count; i++)
		sum += strlen(header->operations[i].name) + header->operations[i].family;
	for (size_t i = 0; i < header->layer_count; i++)
		sum += strlen(header->layers[i].name) + header->layers[i].on;
	sum += strlen(header->host) + strlen(header->mode);
	for (size_t i = 0; totals && i < totals->kind_count; i++)
		sum += strlen(totals->kinds[i].kind) + totals->kinds[i].lost;
	for (size_t i = 0; totals && i < totals->operation_count; i++)
		sum += totals->operations[i].count;
	for (size_t i = 0; totals && i < totals->survivor_count; i++)
		sum += totals->survivors[i];
}

static void read_trace(const uint8_t *bytes, size_t length)
{
	struct trace_reader *reader;
	struct trace_error error;

	if (trace_reader_open_memory(&reader, bytes, length, &error)) {
		sum += strlen(error.text);
		return;
	}
	read_meta(reader);
	for (size_t i = 0; i < trace_reader_block_count(reader); i++) {
		read_block(reader, i, UINT64_MAX);
		read_block(reader, i, 1);
	}
	for (uint64_t id = 0; id < 8; id++)
		sum += trace_reader_string(reader, id).length;
	trace_reader_close(reader);
}

/* Makes a file of the listed frames; its tail points to the last two, as a writer's does. */
static void read_made(const uint8_t *data, size_t size)
{
	size_t capacity = 2 * size + 65536, length = 0, last[2] = { 0, 0 };
	uint8_t *file = malloc(capacity);
	struct format_tail tail = {
		.skippable = FORMAT_TAIL_SKIPPABLE,
		.bytes = FORMAT_TAIL_BYTES,
		.magic = FORMAT_TAIL_MAGIC,
	};

	while (file && size >= 3) {
		size_t content = data[0] | data[1] << 8 | data[2] << 16;
		size_t frame;

		data += 3;
		size -= 3;
		if (content > size)
			content = size;
		if (capacity - length < ZSTD_compressBound(content) + sizeof(tail))
			break;
		frame = ZSTD_compress(file + length, capacity - length, data, content, 1);
		if (ZSTD_isError(frame))
			break;
		last[0] = last[1];
		last[1] = length;
		length += frame;
		data += content;
		size -= content;
	}
	if (file && capacity - length >= sizeof(tail)) {
		tail.index = last[0];
		tail.totals = last[1];
		tail.size = length + sizeof(tail);
		memcpy(file + length, &tail, sizeof(tail));
		read_trace(file, length + sizeof(tail));
		read_trace(file, length);
	}
	free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size && !data[0])
		read_made(data + 1, size - 1);
	else
		read_trace(data, size);
	return 0;
}
