/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Fuzzes the trace reader and all its outputs with libFuzzer: the report as text, as JSON and as a
 * page, the individual events, the exports.
 *
 * An input is a trace file or, since a fuzzer cannot guess checksums, an escape byte followed by
 * the contents of a file's frames, which are then built here:
 * 0x00, then for each frame three bytes of length (low first), then that many bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "analysis/report/report.h"
#include "analysis/events/resolve.h"
#include "analysis/order/walk.h"
#include "output/base/export.h"
#include "output/tables/export_tables.h"
#include "output/page/html.h"
#include "output/base/json_tables.h"
#include "output/rows/row.h"
#include "output/text/text.h"
#include "trace/format/format.h"
#include "trace/read/reader.h"

#define MEMORY_BYTES (64u << 20) /* a report's memory limit */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum; /* keeps reads from being optimized away */

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
				struct trace_string string = trace_reader_args(reader, values[i]);

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

static const char *const names[] = { "a.flt" };

static void write_report(struct trace_reader *reader, bool page)
{
	const struct report_options options = { .memory_bytes = MEMORY_BYTES, .pictures = page };
	const struct style style = { .width = 80, .colour = true };
	const struct grid_options grid = { .style = &style, .top = 20 };
	struct trace_error error = { "" };
	struct report *report;
	struct sink out;

	if (report_make(&report, &reader, names, 1, &options, &error))
		return;
	sink_open_memory(&out);
	json_tables(&out, (const struct table *const *)report->tables, report->table_count);
	text_report(&out, report, &grid);
	if (page)
		html_report(&out, report);
	sum += out.used;
	sink_close(&out);
	report_free(report);
}

struct printing {
	struct row_resolver *resolver;
	struct sink out;
};

static int print_some(void *state, const struct event *events, size_t count)
{
	struct printing *printing = state;
	struct resolved_row row;

	for (size_t i = 0; i < count; i++) {
		row_resolve(printing->resolver, &events[i], &row);
		row_json(&printing->out, &row);
		row_text(&printing->out, 0, &row);
		sum += printing->out.used;
		printing->out.used = 0;
	}
	return 0;
}

static void print_events(struct trace_reader *reader)
{
	static const struct walk_calls calls = { .events = print_some };
	struct printing printing = { 0 };
	const struct walk_consumer consumer = { &calls, &printing };
	const struct walk walk = { .cursor = { .whole_rows = true, .bytes_max = 100000 },
				   .turns = true,
				   .consumers = &consumer,
				   .consumer_count = 1 };
	struct trace_error error = { "" };
	struct job job;

	sink_open_memory(&printing.out);
	if (!job_load_within(&job, &reader, names, 1, MEMORY_BYTES, &error) &&
	    !row_resolver_open(&printing.resolver, &job))
		sum += walk_run(&job, &walk, &error);
	row_resolver_close(printing.resolver);
	job_free(&job);
	sink_close(&printing.out);
}

static void export(struct trace_reader *reader)
{
	static const struct export_format *const formats[] = { EXPORT_ADDRESSES };
	const struct export_options options = { .filter = NULL };
	const struct relation_options all = { .only = NULL };
	struct trace_error error = { "" };
	struct sink out;

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		const struct export_format *format = formats[i];

		sink_open_memory(&out);
		if (format->stream)
			format->stream(format, &out, &reader, names, 1, &options, &error);
		else if (format->tables)
			export_tables_one(format->tables, &out, &reader, names, 1, &all, &error);
		sum += out.used;
		sink_close(&out);
	}
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
		sum += trace_reader_args(reader, id).length;
	/* Pictures read the trace again, and pages are large: only some inputs become one. */
	write_report(reader, length % 16 == 0);
	print_events(reader);
	export(reader);
	trace_reader_close(reader);
}

/* Builds a file of the listed frames; its tail points to the last two, as a writer's does. */
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
