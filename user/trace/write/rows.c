/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Turns rows into blocks of narrow columns.
 *
 * This is a hot path: every event of a trace passes through. Two passes over the rows: the first
 * finds the width of each column, the second stores it. A column whose values are all the same,
 * like most in a hot loop, is filled without reading it again. The loops are written to be
 * vectorised.
 */
#include "trace/write/rows.h"

#include <errno.h>
#include <string.h>

#include "trace/format/column.h"

/* What the first pass finds out about a column. */
struct survey {
	uint64_t first;	   /* value of the first row */
	uint64_t differs;  /* bits in which any row differs from `first` */
	uint64_t bits;	   /* bits needed, without the sign */
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

static void survey_unsigned(struct survey *survey, const uint64_t *values, size_t count)
{
	uint64_t first = survey->first, differs = 0, bits = 0;

	for (size_t i = 0; i < count; i++) {
		differs |= values[i] ^ first;
		bits |= values[i];
	}
	survey->differs |= differs;
	survey->bits |= bits;
}

/* A negative number needs the bits of its complement: those of -1 are 0, those of -256 are 255. */
static void survey_signed(struct survey *survey, const uint64_t *values, size_t count)
{
	uint64_t first = survey->first, differs = 0, bits = 0, negative = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t sign = -(values[i] >> 63);

		differs |= values[i] ^ first;
		bits |= values[i] ^ sign;
		negative |= values[i];
	}
	survey->differs |= differs;
	survey->bits |= bits;
	survey->negative |= negative;
}

/* Replaces times with differences; `last` is the time of the previous row. */
static uint64_t difference_times(uint64_t *times, size_t count, uint64_t last)
{
	uint64_t end = count ? times[count - 1] : last;

	for (size_t i = count; i-- > 1;)
		times[i] -= times[i - 1];
	if (count)
		times[0] -= last;
	return end;
}

/* `durations` may be NULL. */
static void find_span(const uint64_t *times, const uint64_t *durations, size_t count,
		      uint64_t *start, uint64_t *end)
{
	uint64_t low = *start, high = *end;

	for (size_t i = 0; i < count; i++) {
		uint64_t last = times[i] + (durations ? durations[i] : 0);

		if (last < times[i])
			last = UINT64_MAX;
		low = times[i] < low ? times[i] : low;
		high = last > high ? last : high;
	}
	*start = low;
	*end = high;
}

static void survey_chunk(const struct trace_schema *schema, struct survey *surveys,
			 struct rows_chunk *chunk, size_t stride, uint64_t *last_time)
{
	*last_time = difference_times(chunk->values, chunk->count, *last_time);
	survey_signed(&surveys[TRACE_COL_TIME], chunk->values, chunk->count);
	for (size_t c = 1; c < schema->column_count; c++) {
		const uint64_t *values = chunk->values + c * stride;

		if (schema->columns[c].type == TRACE_INT)
			survey_signed(&surveys[c], values, chunk->count);
		else
			survey_unsigned(&surveys[c], values, chunk->count);
	}
}

static uint64_t keys_of(const uint64_t *values, size_t count)
{
	uint64_t keys = 0;

	for (size_t i = 0; i < count; i++)
		keys |= trace_key(values[i]);
	return keys;
}

/* Adds the keys of the columns with this name; for one that does not vary, only its first
 * value's. */
static void add_keys(const struct trace_schema *schema, const struct survey *surveys,
		     const struct rows *rows, size_t stride, const char *name, uint64_t *keys)
{
	for (size_t c = 1; c < schema->column_count; c++) {
		if (strcmp(schema->columns[c].name, name))
			continue;
		*keys |= trace_key(surveys[c].first);
		for (const struct rows_chunk *chunk = rows->first; chunk && surveys[c].differs;
		     chunk = chunk->next)
			*keys |= keys_of(chunk->values + c * stride, chunk->count);
	}
}

/* Packs the block with room for its columns, and fills those that do not vary. */
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

int rows_pack(struct pack *pack, enum trace_kind kind, struct rows *rows,
	      struct rows_summary *summary)
{
	const struct trace_schema *schema = &trace_schemas[kind];
	size_t stride = rows_per_chunk(kind);
	struct survey surveys[TRACE_COLUMNS_MAX] = { 0 };
	uint64_t t0 = rows->first->values[TRACE_COL_TIME], time = t0;
	int err;

	*summary = (struct rows_summary) { .start = UINT64_MAX };
	for (size_t c = 1; c < schema->column_count; c++)
		surveys[c].first = rows->first->values[c * stride];
	for (struct rows_chunk *chunk = rows->first; chunk; chunk = chunk->next) {
		const uint64_t *durations =
			schema->duration < 0 ? NULL : chunk->values + schema->duration * stride;

		find_span(chunk->values, durations, chunk->count, &summary->start, &summary->end);
		survey_chunk(schema, surveys, chunk, stride, &time);
	}
	add_keys(schema, surveys, rows, stride, "pid", &summary->pids);
	add_keys(schema, surveys, rows, stride, "file", &summary->files);
	add_keys(schema, surveys, rows, stride, "file2", &summary->files);
	err = lay_out(pack, schema, surveys, rows->count, t0);
	if (err)
		return err;
	for (const struct rows_chunk *chunk = rows->first; chunk; chunk = chunk->next) {
		for (size_t c = 0; c < schema->column_count; c++) {
			if (surveys[c].differs)
				surveys[c].data =
					column_store(surveys[c].data, surveys[c].width,
						     chunk->values + c * stride, 1, chunk->count);
		}
	}
	return 0;
}
