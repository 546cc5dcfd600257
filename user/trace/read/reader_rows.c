/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the columns of a block. */
#include "trace/read/reader_state.h"

#include <errno.h>
#include <stdlib.h>

static int load_column(struct trace_reader *reader, const struct column_view *view, size_t column,
		       size_t rows)
{
	if (reader->column_rows[column] < rows) {
		free(reader->columns[column]);
		reader->columns[column] = malloc(rows * sizeof(uint64_t));
		reader->column_rows[column] = reader->columns[column] ? rows : 0;
		if (!reader->columns[column])
			return -ENOMEM;
	}
	if (rows)
		column_widen(view, reader->columns[column], rows);
	return 0;
}

int reader_view_rows(const struct trace_reader *reader, const struct block *block, uint64_t mask,
		     struct column_view views[TRACE_COLUMNS_MAX])
{
	const struct trace_schema *schema = &trace_schemas[block->kind];
	int err = block_columns(block, schema->columns, schema->column_count, UINT64_MAX, views);

	if (err)
		return err;
	if (!views[TRACE_COL_TIME].width)
		return -EINVAL;
	if (block->rows && trace_has_operations(block->kind) &&
	    (!reader->header.operation_count ||
	     column_reaches(&views[SYSCALL_OP], reader->header.operation_count, block->rows)))
		return -EINVAL;
	for (size_t c = 0; c < schema->column_count; c++)
		if (!(mask & 1ull << c))
			views[c] = (struct column_view) { 0 };
	return 0;
}

void reader_sum_up(uint64_t *times, size_t count, uint64_t t0)
{
	for (size_t i = 0; i < count; i++)
		times[i] = t0 += times[i];
}

int reader_load_rows(struct trace_reader *reader, const struct block *block, uint64_t mask)
{
	struct column_view views[TRACE_COLUMNS_MAX];
	int err = reader_view_rows(reader, block, mask, views);

	reader->loaded = 0;
	for (size_t c = 0; !err && c < trace_schemas[block->kind].column_count; c++)
		if (mask & 1ull << c)
			err = load_column(reader, &views[c], c, block->rows);
	if (err)
		return err;
	if (mask & 1ull << TRACE_COL_TIME)
		reader_sum_up(reader->columns[TRACE_COL_TIME], block->rows, block->t0);
	reader->loaded = mask;
	return 0;
}

void reader_note_damage(struct trace_reader *reader, const struct trace_error *error)
{
	if (!reader->damaged_blocks++)
		reader->damage = *error;
}
