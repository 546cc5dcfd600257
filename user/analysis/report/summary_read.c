/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes tables from the rows of a summary, trusting none of them. */
#include "analysis/report/summary.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collections/histogram.h"
#include "collections/grow.h"
#include "collections/map.h"

#define TABLES_MAX (1u << 16)
#define COLUMNS_MAX 1024       /* of a table */
#define CELLS_MAX (1u << 21)   /* of all tables */
#define CLASSES_MAX (1u << 22) /* of all histograms */
#define DEPTH_MAX 4	       /* of nested tables */

struct partial_table {
	struct table *table;
	uint64_t rows;
	bool placed;	    /* it is in a cell */
	unsigned int depth; /* of the tables nested in it */
};

struct summary_reader {
	struct trace_reader *reader;
	struct partial_table *parts;
	size_t count, room;
	uint64_t cells, classes;
	struct map names; /* of columns: table, hash */
	const uint64_t *columns[TRACE_COLUMNS_MAX];
};

bool summary_is_file(const struct trace_reader *reader)
{
	const char *mode = trace_reader_header(reader)->mode;

	return mode && !strcmp(mode, SUMMARY_MODE);
}

static struct trace_string string_of(const struct summary_reader *summary, unsigned int column,
				     uint32_t row)
{
	return trace_reader_string(summary->reader, summary->columns[column][row]);
}

static struct partial_table *part_of(struct summary_reader *summary, uint64_t number)
{
	return number < summary->count ? &summary->parts[number] : NULL;
}

/* --- kinds of rows: each returns 0, -ENOMEM, or -EINVAL for an invalid row --- */

static int take_table(struct summary_reader *summary, uint32_t row)
{
	const uint64_t *const *columns = summary->columns;
	struct trace_string name = string_of(summary, SUMMARY_TABLE_NAME, row);
	struct trace_string note = string_of(summary, SUMMARY_TABLE_NOTE, row);
	uint64_t rows = columns[SUMMARY_TABLE_ROWS][row];
	uint64_t absent = columns[SUMMARY_TABLE_ABSENT][row];
	bool list = columns[SUMMARY_TABLE_SHAPE][row];
	struct partial_table *part;

	if (columns[SUMMARY_TABLE_NUMBER][row] != summary->count || summary->count == TABLES_MAX ||
	    rows > (list ? CELLS_MAX : 1) || absent > 1 || (absent && rows))
		return -EINVAL;
	if (!GROW(summary->parts, summary->room, summary->count + 1))
		return -ENOMEM;
	part = &summary->parts[summary->count];
	part->table = table_new(name.bytes, NULL, list ? TABLE_LIST : TABLE_RECORD);
	if (!part->table)
		return -ENOMEM;
	summary->count++;
	part->rows = rows;
	part->table->absent = absent;
	part->table->folded = rows ? columns[SUMMARY_TABLE_FOLDED][row] : 0;
	part->table->cut = columns[SUMMARY_TABLE_CUT][row];
	if (note.length)
		table_set_note(part->table, note.bytes);
	return table_status(part->table);
}

/* A table's columns have different names. */
static int name_column(struct summary_reader *summary, uint32_t row,
		       const struct trace_string *name)
{
	const uint64_t key[] = { summary->columns[SUMMARY_COLUMN_TABLE][row],
				 map_hash_bytes(&summary->names, name->bytes, name->length) };
	bool added;

	if (!map_add(&summary->names, key, &added))
		return -ENOMEM;
	return added ? 0 : -EINVAL;
}

static int take_column(struct summary_reader *summary, uint32_t row)
{
	struct partial_table *part = part_of(summary, summary->columns[SUMMARY_COLUMN_TABLE][row]);
	struct trace_string name = string_of(summary, SUMMARY_COLUMN_NAME, row);
	struct trace_string title = string_of(summary, SUMMARY_COLUMN_TITLE, row);
	struct trace_string meaning = string_of(summary, SUMMARY_COLUMN_MEANING, row);
	uint64_t unit = summary->columns[SUMMARY_COLUMN_UNIT][row];
	uint64_t kind = summary->columns[SUMMARY_COLUMN_KIND][row];
	const struct table_column column = {
		.name = name.bytes,
		.title = title.length ? title.bytes : NULL,
		.unit = unit <= UNIT_PATH ? unit : UNIT_NONE,
		.kind = kind < TABLE_KINDS ? kind : KIND_FACT,
		.meaning = meaning.length ? meaning.bytes : NULL,
	};
	int status;

	if (!part || part->table->column_count == COLUMNS_MAX || !name.length ||
	    strlen(name.bytes) != name.length)
		return -EINVAL;
	/* Columns of empty tables count, too. */
	summary->cells += part->rows + 1;
	if (summary->cells > CELLS_MAX)
		return -EINVAL;
	status = name_column(summary, row, &name);
	if (status)
		return status;
	table_add_column(part->table, &column);
	return table_status(part->table);
}

static bool has_kinds(const struct summary_reader *summary)
{
	for (size_t i = 0; i < summary->count; i++)
		for (size_t j = 0; j < summary->parts[i].table->column_count; j++)
			if (summary->parts[i].table->columns[j].kind == KIND_NONE)
				return false;
	return true;
}

/* Must run once all columns are known. */
static int add_rows(struct summary_reader *summary)
{
	int status = 0;

	for (size_t i = 0; i < summary->count; i++) {
		struct partial_table *part = &summary->parts[i];

		if (!part->table->column_count && part->rows)
			return -EINVAL;
		for (uint64_t row = 0; row < part->rows && !status; row++) {
			table_add_row(part->table);
			status = table_status(part->table);
		}
	}
	return status;
}

static struct cell *cell_of(const struct partial_table *part, uint64_t row, uint64_t column)
{
	if (!part || row >= part->table->row_count || column >= part->table->column_count)
		return NULL;
	return &table_row(part->table, row)[column];
}

/* A table can be in one cell only, so that nothing grows by being repeated. Each is copied once for
 * each level of nesting. */
static int place_table(struct summary_reader *summary, struct partial_table *in, struct cell *cell,
		       uint64_t number)
{
	struct partial_table *within = part_of(summary, number);

	if (!within || within >= in || within->placed || within->table->name[0] ||
	    within->depth == DEPTH_MAX)
		return -EINVAL;
	within->placed = true;
	if (in->depth <= within->depth)
		in->depth = within->depth + 1;
	table_copy_cell(in->table, cell,
			&(struct cell) { .type = CELL_TABLE, .table = within->table });
	return 0;
}

static int take_text(struct summary_reader *summary, struct partial_table *part, struct cell *cell,
		     uint32_t row)
{
	struct trace_string text = string_of(summary, SUMMARY_CELL_TEXT, row);
	const struct cell item = { .type = CELL_TEXT, .length = text.length, .text = text.bytes };

	if (summary->columns[SUMMARY_CELL_TYPE][row] == CELL_TEXT) {
		if (cell->type != CELL_NULL)
			return -EINVAL;
		table_set_text(part->table, cell, text.bytes, text.length);
		return 0;
	}
	if (cell->type != CELL_TEXTS)
		return -EINVAL;
	table_append_text(part->table, cell, &item);
	return 0;
}

static int take_cell(struct summary_reader *summary, uint32_t row)
{
	const uint64_t *const *columns = summary->columns;
	struct partial_table *part = part_of(summary, columns[SUMMARY_CELL_TABLE][row]);
	struct cell *cell =
		cell_of(part, columns[SUMMARY_CELL_ROW][row], columns[SUMMARY_CELL_COLUMN][row]);
	uint64_t type = columns[SUMMARY_CELL_TYPE][row], value = columns[SUMMARY_CELL_VALUE][row];
	int status = 0;

	if (!cell || (cell->type != CELL_NULL && type != TRACE_CELL_ITEM))
		return -EINVAL;
	switch (type) {
	case CELL_NULL:
		break;
	case CELL_BOOL:
		cell_bool(cell, value);
		break;
	case CELL_UINT:
	case CELL_INT:
	case CELL_REAL:
		cell->type = type;
		cell->uint = value;
		break;
	case CELL_TEXTS:
		table_set_texts(part->table, cell, NULL, 0);
		break;
	case CELL_TEXT:
	case TRACE_CELL_ITEM:
		status = take_text(summary, part, cell, row);
		break;
	case CELL_TABLE:
		status = place_table(summary, part, cell, value);
		break;
	default:
		status = -EINVAL;
	}
	if (!status && type != TRACE_CELL_ITEM) {
		cell->at_least = columns[SUMMARY_CELL_FLAGS][row] & TRACE_CELL_AT_MIN;
		cell->summed = columns[SUMMARY_CELL_FLAGS][row] & TRACE_CELL_SUMMED;
	}
	return status ? status : table_status(part->table);
}

/* Rows are ordered by row, column and class. */
static int take_class(struct summary_reader *summary, uint32_t i)
{
	const uint64_t *const *columns = summary->columns;
	struct partial_table *part = part_of(summary, columns[SUMMARY_CLASS_TABLE][i]);
	uint64_t row = columns[SUMMARY_CLASS_ROW][i], column = columns[SUMMARY_CLASS_COLUMN][i];
	uint64_t class = columns[SUMMARY_CLASS_NUMBER][i];
	struct table_percentile *last = NULL;

	if (!cell_of(part, row, column) || class >= HISTOGRAM_CLASSES ||
	    columns[SUMMARY_CLASS_PERCENT][i] > 100 || summary->classes++ == CLASSES_MAX)
		return -EINVAL;
	if (part->table->percentile_count)
		last = &part->table->percentiles[part->table->percentile_count - 1];
	if (last && (last->row > row || (last->row == row && last->column > column)))
		return -EINVAL;
	if (!last || last->row != row || last->column != column) {
		if (!GROW(part->table->percentiles, part->table->percentile_room,
			  part->table->percentile_count + 1))
			return -ENOMEM;
		last = &part->table->percentiles[part->table->percentile_count++];
		*last = (struct table_percentile) { .row = row,
						    .column = column,
						    .percent = columns[SUMMARY_CLASS_PERCENT][i],
						    .of.max = columns[SUMMARY_CLASS_MAX][i] };
	}
	if (last->of.class_count && last->of.classes[last->of.class_count - 1].number >= class)
		return -EINVAL;
	if (!GROW(last->of.classes, last->of.room, last->of.class_count + 1))
		return -ENOMEM;
	last->of.classes[last->of.class_count++] =
		(struct sparse_class) { class, columns[SUMMARY_CLASS_COUNT][i] };
	return 0;
}

/* --- the whole summary --- */

static int take_block(struct summary_reader *summary, size_t block,
		      int (*take)(struct summary_reader *summary, uint32_t row),
		      struct trace_error *error)
{
	const struct trace_block_info *info = trace_reader_block_info(summary->reader, block);
	unsigned int count = trace_schemas[info->kind].column_count;
	int status = trace_reader_read(summary->reader, block, (1ull << count) - 1, error);

	if (status)
		return status;
	for (unsigned int i = 0; i < count; i++)
		summary->columns[i] = trace_reader_column(summary->reader, i);
	for (uint32_t row = 0; row < info->rows && !status; row++)
		status = take(summary, row);
	if (status == -EINVAL)
		snprintf(error->text, sizeof(error->text),
			 "the summary is damaged: its %s rows contradict each other",
			 trace_schemas[info->kind].kind);
	return status;
}

static int take_kind(struct summary_reader *summary, enum trace_kind kind,
		     int (*take)(struct summary_reader *summary, uint32_t row),
		     struct trace_error *error)
{
	size_t blocks = trace_reader_block_count(summary->reader);
	int status = 0;

	for (size_t i = 0; i < blocks && !status; i++)
		if (trace_reader_block_info(summary->reader, i)->kind == kind)
			status = take_block(summary, i, take, error);
	return status;
}

/* Returns the tables that have a name, which are in no cell. */
static int give_tables(struct summary_reader *summary, struct table ***tables, size_t *count)
{
	*tables = calloc(summary->count + 1, sizeof(struct table *));
	if (!*tables)
		return -ENOMEM;
	for (size_t i = 0; i < summary->count; i++) {
		struct partial_table *part = &summary->parts[i];

		if (!part->table->name[0] || part->placed)
			continue;
		(*tables)[(*count)++] = part->table;
		part->table = NULL;
	}
	return 0;
}

int summary_read(struct trace_reader *reader, struct table ***tables, size_t *count,
		 struct trace_error *error)
{
	struct summary_reader summary = { .reader = reader };
	const char *damage;
	int status = 0;

	*tables = NULL;
	*count = 0;
	map_init(&summary.names, 2, 0);
	if (trace_reader_incomplete(reader)) {
		snprintf(error->text, sizeof(error->text),
			 "the summary is incomplete; make it again from its trace");
		return -EINVAL;
	}
	damage = trace_reader_damage(reader);
	if (damage) {
		snprintf(error->text, sizeof(error->text),
			 "the summary is damaged; make it again from its trace (%.90s)", damage);
		return -EINVAL;
	}
	status = take_kind(&summary, TRACE_SUMMARY_TABLE, take_table, error);
	if (!status)
		status = take_kind(&summary, TRACE_SUMMARY_COLUMN, take_column, error);
	if (!status && !has_kinds(&summary)) {
		snprintf(error->text, sizeof(error->text),
			 "the summary is of an older version; make it again from its trace");
		status = -EINVAL;
	}
	if (!status) {
		status = add_rows(&summary);
		if (status == -EINVAL)
			snprintf(error->text, sizeof(error->text),
				 "the summary is damaged: a table has no columns");
	}
	if (!status)
		status = take_kind(&summary, TRACE_SUMMARY_CELL, take_cell, error);
	if (!status)
		status = take_kind(&summary, TRACE_SUMMARY_CLASS, take_class, error);
	if (!status)
		status = give_tables(&summary, tables, count);
	for (size_t i = 0; i < summary.count; i++)
		table_free(summary.parts[i].table);
	free(summary.parts);
	map_free(&summary.names);
	trace_reader_release(reader);
	return status;
}
