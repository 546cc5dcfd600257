/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports tables of the report, and its metadata as key and value. */
#include "output/tables/relation_report.h"

#include <stdio.h>

#include "output/base/json_tables.h"
#include "output/tables/relations.h"

static enum relation_type type_of(const struct table_column *column)
{
	static const enum relation_type types[] = {
		[CELL_UINT] = RELATION_UINT, [CELL_INT] = RELATION_INT,
		[CELL_REAL] = RELATION_REAL, [CELL_BOOL] = RELATION_BOOL,
		[CELL_TEXT] = RELATION_TEXT,
	};

	return strcmp(column->name, "evidence") ? types[table_column_type(column)] : RELATION_JSON;
}

/* Skips size classes: they are a table within the table, and the events are more detailed. */
static bool is_exported(const struct table_column *column)
{
	return strncmp(column->name, "sizes.", strlen("sizes."));
}

void relation_make_report(struct relation *relation, const struct table *table)
{
	relation->table = table;
	for (size_t i = 0; i < table->column_count; i++) {
		const struct table_column *of = &table->columns[i];
		struct relation_column column = {
			.type = type_of(of),
			.unit = of->unit,
			.meaning = of->meaning,
			.number = i,
		};

		if (!is_exported(of))
			continue;
		snprintf(column.name, sizeof(column.name), "%s", of->name);
		for (char *at = column.name; *at; at++)
			*at = *at == '.' ? '_' : *at;
		relation_add(relation, &column);
	}
}

/* Converts a cell with several values to JSON. */
static int make_flat(struct sink *made, struct cell *cell)
{
	size_t start = made->used;
	int status;

	if (cell->type != CELL_TABLE && cell->type != CELL_TEXTS)
		return 0;
	status = json_cell(made, cell);
	cell->type = CELL_TEXT;
	cell->length = made->used - start;
	cell->text = made->buffer + start;
	return status;
}

int relation_report_rows(const struct relation *relation, const struct relation_writer *writer,
			 void *to, unsigned int number, struct sink *made)
{
	const struct table *table = relation->table;
	struct cell cells[RELATION_COLUMNS_MAX];
	int status = 0;

	for (size_t row = 0; row < table->row_count && !status; row++) {
		size_t longest = relation->column_count;

		for (size_t i = 0; i < relation->column_count; i++) {
			cells[i] = table_row(table, row)[relation->columns[i].number];
			if (cells[i].summed) /* the actual value is unknown */
				cells[i].type = CELL_NULL;
			if (cells[i].type == CELL_TABLE || cells[i].type == CELL_TEXTS)
				longest = i;
		}
		made->used = 0;
		/* Convert one at most: making another may move the first text. */
		for (size_t i = 0; i < relation->column_count && !status; i++) {
			if (i == longest)
				status = make_flat(made, &cells[i]);
			else if (cells[i].type == CELL_TABLE || cells[i].type == CELL_TEXTS)
				cells[i].type = CELL_NULL;
		}
		if (!status)
			status = writer->row(to, number, cells);
	}
	return status;
}

/* --- metadata --- */

void relation_make_meta(struct relation *relation, const struct table *table)
{
	static const struct relation_column list[] = {
		{ "key", RELATION_TEXT, UNIT_NONE,
		  .meaning = "column of the report's table \"trace\"" },
		{ "value", RELATION_TEXT, UNIT_NONE, .meaning = "value; lists and tables as JSON" },
	};
	static const struct relation_columns columns = RELATION_COLUMNS(list);

	relation->table = table;
	relation_add_columns(relation, &columns);
}

static int meta_row(const struct relation_writer *writer, void *to, unsigned int number,
		    const char *key, struct sink *made, const struct cell *value)
{
	struct cell cells[2] = { { .type = CELL_NULL }, *value };
	int status = 0;

	made->used = 0;
	if (value->type != CELL_TEXT && value->type != CELL_NULL) {
		status = json_cell(made, value);
		cells[1] = (struct cell) { .type = CELL_TEXT,
					   .length = made->used,
					   .text = made->buffer };
	}
	relation_literal(&cells[0], key);
	return status ? status : writer->row(to, number, cells);
}

int relation_meta_rows(const struct relation *relation, const struct relation_writer *writer,
		       void *to, unsigned int number, struct sink *made,
		       const struct relation_meta *more, size_t count)
{
	const struct table *table = relation->table;
	int status = 0;

	for (size_t i = 0; i < count && !status; i++) {
		struct cell cell = { .type = CELL_UINT, .uint = more[i].value };

		if (more[i].text)
			relation_literal(&cell, more[i].text);
		status = meta_row(writer, to, number, more[i].key, made, &cell);
	}
	for (size_t i = 0; i < table->column_count && table->row_count && !status; i++)
		status = meta_row(writer, to, number, table->columns[i].name, made,
				  &table->cells[i]);
	return status;
}
