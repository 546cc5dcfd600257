/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Describes tables, their columns and the objects that these form. */
#include "output/tables/json_schema.h"

#include <stdlib.h>
#include <string.h>

#include "output/base/json_tables.h"

/* Allows a type, and null for what was not recorded. */
static void write_type(struct json *json, const char *type)
{
	json_begin_list(json, "type");
	json_literal(json, NULL, type);
	json_literal(json, NULL, "null");
	json_end(json);
}

/* Getters of an analysis's own may also return lists or tables: these stay without a type. */
static const char *type_of(const struct table_column *column)
{
	switch (table_column_type(column)) {
	case CELL_UINT:
	case CELL_INT:
		return "integer";
	case CELL_REAL:
		return "number";
	case CELL_BOOL:
		return "boolean";
	default:
		return column->get == table_get_text || column->get == table_get_literal ? "string"
											 : NULL;
	}
}

static void write_column(struct json *json, const char *name, const struct table_column *column)
{
	const char *type = type_of(column);

	json_begin(json, name);
	if (column->meaning)
		json_literal(json, "description", column->meaning);
	if (column->unit != UNIT_NONE && column->unit != UNIT_PATH)
		json_literal(json, "x-unit", table_unit_name(column->unit));
	json_literal(json, "x-kind", table_kinds[column->kind].name);
	if (type)
		write_type(json, type);
	if (table_column_type(column) == CELL_UINT)
		json_uint(json, "minimum", 0);
	json_end(json);
}

static void begin_members(struct json *json)
{
	write_type(json, "object");
	json_begin(json, "properties");
}

static void write_members(struct json *json, const struct table *table)
{
	struct json_member *members;
	size_t count = json_members(table, &members, json->out);

	begin_members(json);
	for (size_t i = 0; i < count; i++) {
		json_leave(json, members, i, 2);
		json_enter(json, &members[i], begin_members);
		write_column(json, members[i].name + members[i].object,
			     &table->columns[members[i].column]);
	}
	if (count)
		json_leave(json, members, count, 2);
	json_end(json);
	free(members);
}

static void write_table(struct json *json, const struct table *table)
{
	json_begin(json, table->name);
	if (table->meaning)
		json_literal(json, "description", table->meaning);
	if (table->shape == TABLE_LIST) {
		write_type(json, "array");
		json_begin(json, "items");
	}
	write_members(json, table);
	if (table->shape == TABLE_LIST)
		json_end(json);
	json_end(json);
}

int json_schema(struct sink *out, const struct table *const *tables, size_t count)
{
	struct json json = { .out = out, .style = JSON_INDENTED };

	json_begin(&json, NULL);
	json_literal(&json, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_literal(&json, "title", "faultline report --format json");
	json_literal(
		&json, "description",
		"Bytes and times in ns are raw; null means not recorded. A text that is not UTF-8 "
		"is escaped, and NAME_hex holds its bytes.");
	json_literal(&json, "type", "object");
	json_begin_list(&json, "required");
	json_literal(&json, NULL, "schema");
	for (size_t i = 0; i < count; i++)
		if (!tables[i]->view.text_only)
			json_literal(&json, NULL, tables[i]->name);
	json_end(&json);
	json_begin(&json, "properties");
	json_begin(&json, "schema");
	json_uint(&json, "const", JSON_SCHEMA);
	json_end(&json);
	for (size_t i = 0; i < count; i++)
		if (!tables[i]->view.text_only)
			write_table(&json, tables[i]);
	json_end(&json);
	json_end(&json);
	sink_char(out, '\n');
	return out->error;
}
