/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the schema with json-c. A member that cannot be allocated is reported once, at the end. */
#include "output/tables/json_schema.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <string.h>

#include "output/base/json.h"

struct schema {
	bool failed;
};

/* Takes the reference to `value`. */
static struct json_object *put(struct schema *schema, struct json_object *parent, const char *name,
			       struct json_object *value)
{
	if (!parent || !value || json_object_object_add(parent, name, value)) {
		json_object_put(value);
		schema->failed = true;
		return NULL;
	}
	return value;
}

static void put_text(struct schema *schema, struct json_object *parent, const char *name,
		     const char *text)
{
	if (text)
		put(schema, parent, name, json_object_new_string(text));
}

static void append(struct schema *schema, struct json_object *list, const char *text)
{
	struct json_object *item = json_object_new_string(text);

	if (!list || !item || json_object_array_add(list, item)) {
		json_object_put(item);
		schema->failed = true;
	}
}

/* Allows a type, and null for what was not recorded. */
static void put_type(struct schema *schema, struct json_object *parent, const char *type)
{
	struct json_object *types = put(schema, parent, "type", json_object_new_array());

	append(schema, types, type);
	append(schema, types, "null");
}

/* Finds or adds the object that holds the members of a row; a row may hold objects itself. */
static struct json_object *members_of(struct schema *schema, struct json_object *object)
{
	struct json_object *members;

	if (json_object_object_get_ex(object, "properties", &members))
		return members;
	put_type(schema, object, "object");
	return put(schema, object, "properties", json_object_new_object());
}

static struct json_object *member(struct schema *schema, struct json_object *object,
				  const char *name, size_t length)
{
	struct json_object *members = members_of(schema, object), *found;
	char *key = strndup(name, length);

	if (!key) {
		schema->failed = true;
		return NULL;
	}
	if (!members || !json_object_object_get_ex(members, key, &found))
		found = put(schema, members, key, json_object_new_object());
	free(key);
	return found;
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

static void add_column(struct schema *schema, struct json_object *row,
		       const struct table_column *column)
{
	const char *type = type_of(column), *name = column->name;
	const char *unit = table_unit_name(column->unit);

	for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
		row = member(schema, row, name, dot - name);
	row = member(schema, row, name, strlen(name));
	if (!row)
		return;
	put_text(schema, row, "description", column->meaning);
	if (column->unit != UNIT_NONE && column->unit != UNIT_PATH)
		put_text(schema, row, "x-unit", unit);
	if (!type)
		return;
	put_type(schema, row, type);
	if (table_column_type(column) == CELL_UINT)
		put(schema, row, "minimum", json_object_new_int(0));
}

static void add_table(struct schema *schema, struct json_object *tables, const struct table *table)
{
	struct json_object *about = put(schema, tables, table->name, json_object_new_object());
	struct json_object *row = about;

	put_text(schema, about, "description", table->meaning);
	if (table->shape == TABLE_LIST) {
		put_type(schema, about, "array");
		row = put(schema, about, "items", json_object_new_object());
	}
	if (row)
		members_of(schema, row);
	for (size_t i = 0; row && i < table->column_count; i++)
		add_column(schema, row, &table->columns[i]);
}

int json_schema(struct sink *out, const struct table *const *tables, size_t count)
{
	struct schema schema = { false };
	struct json_object *whole = json_object_new_object(), *required, *members, *number;

	if (!whole)
		return -ENOMEM;
	put_text(&schema, whole, "$schema", "https://json-schema.org/draft/2020-12/schema");
	put_text(&schema, whole, "title", "faultline report --format json");
	put_text(&schema, whole, "description",
		 "Bytes and times in ns are raw; null means not recorded. A text that is not UTF-8 "
		 "is "
		 "escaped, and NAME_hex holds its bytes.");
	put_text(&schema, whole, "type", "object");
	required = put(&schema, whole, "required", json_object_new_array());
	members = put(&schema, whole, "properties", json_object_new_object());
	append(&schema, required, "schema");
	number = put(&schema, members, "schema", json_object_new_object());
	put(&schema, number, "const", json_object_new_int(JSON_SCHEMA));
	for (size_t i = 0; i < count && !schema.failed; i++) {
		if (tables[i]->view.text_only)
			continue;
		append(&schema, required, tables[i]->name);
		add_table(&schema, members, tables[i]);
	}
	if (!schema.failed)
		sink_format(out, "%s\n",
			    json_object_to_json_string_ext(whole,
							   JSON_C_TO_STRING_PRETTY |
								   JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(whole);
	return schema.failed ? -ENOMEM : out->error;
}
