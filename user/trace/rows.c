/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Turns rows into blocks of narrow columns. Knows nothing of threads and files.
 *
 * This is a hot path: every event of a trace passes. Two passes over the rows, each chunk by chunk
 * so that a chunk's columns are gathered from the cache: the first finds how wide each column is,
 * the second stores it so. A column whose values are all the same, as most are in a hot loop, is
 * not gathered but filled.
 */
#include "rows.h"

#include <errno.h>
#include <string.h>

#include "column.h"

#define COLUMNS_MAX 64

/* What the first pass learns of a column. */
struct survey {
	uint64_t first;	   /* value of the first row */
	uint64_t differs;  /* bits in which any row differs from it */
	uint64_t bits;	   /* bits needed, the sign apart */
	uint64_t negative; /* the sign bit is set if any value is negative */
	unsigned int width;
	uint8_t *data; /* where the next value goes */
};

void rows_add_chunk(struct rows *rows, struct rows_chunk *chunk)
{
	chunk->next = NULL;
	if (rows->last)
		rows->last->next = chunk;
	else
		rows->first = chunk;
	rows->last = chunk;
}

void rows_join(struct rows *to, struct rows *from)
{
	if (!from->first)
		return;
	if (to->last)
		to->last->next = from->first;
	else
		to->first = from->first;
	to->last = from->last;
	to->count += from->count;
	memset(from, 0, sizeof(*from));
}

static void survey_unsigned(struct survey *survey, const uint64_t *value, size_t stride,
			    size_t rows)
{
	uint64_t first = survey->first, differs = survey->differs, bits = survey->bits;

	for (size_t i = 0; i < rows; i++, value += stride) {
		differs |= *value ^ first;
		bits |= *value;
	}
	survey->differs = differs;
	survey->bits = bits;
}

static void survey_signed(struct survey *survey, const uint64_t *value, size_t stride, size_t rows)
{
	uint64_t first = survey->first, differs = survey->differs, bits = survey->bits;
	uint64_t negative = survey->negative;

	for (size_t i = 0; i < rows; i++, value += stride) {
		differs |= *value ^ first;
		bits |= *value ^ (uint64_t)((int64_t)*value >> 63);
		negative |= *value;
	}
	survey->differs = differs;
	survey->bits = bits;
	survey->negative = negative;
}

/* Replaces times by differences, `last` being the time of the row before. */
static uint64_t difference_times(uint64_t *value, size_t stride, size_t rows, uint64_t last)
{
	for (size_t i = 0; i < rows; i++, value += stride) {
		uint64_t time = *value;

		*value = time - last;
		last = time;
	}
	return last;
}

static void find_span(const uint64_t *row, size_t stride, size_t rows, int duration,
		      uint64_t *start, uint64_t *end)
{
	uint64_t low = *start, high = *end;

	for (size_t i = 0; i < rows; i++, row += stride) {
		uint64_t time = row[TRACE_COL_TIME];
		uint64_t last = duration < 0 ? time : time + row[duration];

		if (last < time)
			last = UINT64_MAX;
		low = time < low ? time : low;
		high = last > high ? last : high;
	}
	*start = low;
	*end = high;
}

static void survey_chunk(const struct trace_schema *schema, struct survey *surveys,
			 struct rows_chunk *chunk, uint64_t *last_time)
{
	size_t stride = schema->column_count, rows = chunk->count;

	*last_time = difference_times(chunk->values, stride, rows, *last_time);
	survey_signed(&surveys[TRACE_COL_TIME], chunk->values, stride, rows);
	for (size_t c = 1; c < stride; c++) {
		if (schema->columns[c].type == TRACE_INT)
			survey_signed(&surveys[c], chunk->values + c, stride, rows);
		else
			survey_unsigned(&surveys[c], chunk->values + c, stride, rows);
	}
}

/* Packs the block with room for its columns and fills those that do not vary. */
static int lay_out(struct pack *pack, const struct trace_schema *schema, struct survey *surveys,
		   size_t rows, uint64_t t0)
{
	size_t bytes = 256;

	for (size_t c = 0; c < schema->column_count; c++) {
		bool has_sign = surveys[c].negative >> 63;

		surveys[c].width = column_width(surveys[c].bits, has_sign);
		bytes += strlen(schema->columns[c].name) + COLUMN_PACK_BYTES;
		bytes += surveys[c].width * rows;
	}
	pack_clear(pack);
	if (pack_reserve(pack, bytes))
		return -ENOMEM;
	pack_map(pack, 3 + schema->column_count);
	pack_cstring(pack, "block");
	pack_cstring(pack, schema->kind);
	pack_cstring(pack, "n");
	pack_uint(pack, rows);
	pack_cstring(pack, "t0");
	pack_uint(pack, t0);
	for (size_t c = 0; c < schema->column_count; c++) {
		struct survey *survey = &surveys[c];

		survey->data = column_pack(pack, schema->columns[c].name, survey->width,
					   survey->negative >> 63, rows);
		if (!survey->differs)
			column_fill(survey->data, survey->width, survey->first, rows);
	}
	return pack->error;
}

int rows_pack(struct pack *pack, enum trace_kind kind, struct rows *rows, uint64_t *start,
	      uint64_t *end)
{
	const struct trace_schema *schema = &trace_schemas[kind];
	struct survey surveys[COLUMNS_MAX] = { 0 };
	size_t stride = schema->column_count;
	uint64_t t0 = rows->first->values[TRACE_COL_TIME], time = t0;
	int err;

	*start = UINT64_MAX;
	*end = 0;
	for (size_t c = 1; c < stride; c++)
		surveys[c].first = rows->first->values[c];
	for (struct rows_chunk *chunk = rows->first; chunk; chunk = chunk->next) {
		find_span(chunk->values, stride, chunk->count, schema->duration, start, end);
		survey_chunk(schema, surveys, chunk, &time);
	}
	err = lay_out(pack, schema, surveys, rows->count, t0);
	if (err)
		return err;
	for (const struct rows_chunk *chunk = rows->first; chunk; chunk = chunk->next) {
		for (size_t c = 0; c < stride; c++) {
			if (surveys[c].differs)
				surveys[c].data =
					column_store(surveys[c].data, surveys[c].width,
						     chunk->values + c, stride, chunk->count);
		}
	}
	return 0;
}
