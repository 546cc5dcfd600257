/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes tables as JSON with json-c, with one row in memory at a time. */
#include "output/base/json.h"

#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "output/base/escape.h"

#define STYLE (JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE)

static void write_object(struct sink *out, struct json_object *object)
{
	size_t length;
	const char *text = json_object_to_json_string_length(object, STYLE, &length);

	if (text)
		sink_bytes(out, text, length);
	else
		out->error = out->error ? out->error : -ENOMEM;
}

static struct json_object *new_text(const char *text, size_t length)
{
	struct json_object *object;
	struct sink clean;

	if (utf8_is_valid(text, length))
		return json_object_new_string_len(length ? text : "", length);
	sink_open_memory(&clean);
	escape_to_utf8(&clean, text, length);
	object = clean.error ? NULL : json_object_new_string_len(clean.buffer, clean.used);
	sink_close(&clean);
	return object;
}

static void write_hex(struct sink *out, const char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < length; i++) {
		sink_char(out, digits[(unsigned char)bytes[i] >> 4]);
		sink_char(out, digits[bytes[i] & 15]);
	}
}

static struct json_object *new_hex(const char *bytes, size_t length)
{
	struct json_object *object;
	struct sink hex;

	sink_open_memory(&hex);
	write_hex(&hex, bytes, length);
	object = hex.error ? NULL
			   : json_object_new_string_len(hex.buffer ? hex.buffer : "", hex.used);
	sink_close(&hex);
	return object;
}

void json_hex(struct sink *out, const char *bytes, size_t length)
{
	sink_char(out, '"');
	write_hex(out, bytes, length);
	sink_char(out, '"');
}

bool json_text(struct sink *out, const char *text, size_t length)
{
	struct json_object *object;
	size_t plain = 0;

	while (plain < length && text[plain] >= 0x20 && text[plain] < 0x7f && text[plain] != '"' &&
	       text[plain] != '\\')
		plain++;
	if (plain == length) {
		sink_char(out, '"');
		sink_bytes(out, text, length);
		sink_char(out, '"');
		return true;
	}
	object = new_text(text, length);
	if (object)
		write_object(out, object);
	else
		out->error = out->error ? out->error : -ENOMEM;
	json_object_put(object);
	return utf8_is_valid(text, length);
}

void json_words(struct sink *out, const char *words, size_t length)
{
	const char *at = words, *end = words + length;

	sink_char(out, '[');
	while (at < end) {
		size_t word = strnlen(at, end - at);

		if (at > words)
			sink_char(out, ',');
		json_text(out, at, word);
		at += word + 1;
	}
	sink_char(out, ']');
}

/* Takes the reference to `value`, which is NULL for JSON's null. */
static int add_member(struct json_object *parent, const char *name, struct json_object *value)
{
	if (!json_object_object_add(parent, name, value))
		return 0;
	json_object_put(value);
	return -ENOMEM;
}

static int add_hex_member(struct json_object *parent, const char *name, struct json_object *value)
{
	char *key;
	int status;

	if (!value || asprintf(&key, "%s_hex", name) < 0) {
		json_object_put(value);
		return -ENOMEM;
	}
	status = add_member(parent, key, value);
	free(key);
	return status;
}

/*
 * Finds or makes the object that contains a dotted name; *last is the name's last part. If a part
 * is taken by something other than an object, the rest of the name stays whole.
 */
static int find_parent(struct json_object *row, const char *name, struct json_object **parent,
		       const char **last)
{
	const char *dot;

	*parent = row;
	for (*last = name; (dot = strchr(*last, '.')); *last = dot + 1) {
		char part[128];
		struct json_object *child;
		size_t length = dot - *last;

		if (length >= sizeof(part))
			return 0;
		memcpy(part, *last, length);
		part[length] = '\0';
		if (!json_object_object_get_ex(*parent, part, &child)) {
			child = json_object_new_object();
			if (!child)
				return -ENOMEM;
			if (add_member(*parent, part, child))
				return -ENOMEM;
		} else if (!json_object_is_type(child, json_type_object)) {
			return 0;
		}
		*parent = child;
	}
	return 0;
}

static int add_text(struct json_object *parent, const char *name, const struct cell *cell)
{
	struct json_object *object = new_text(cell->text, cell->length);
	int status = object ? add_member(parent, name, object) : -ENOMEM;

	if (status || utf8_is_valid(cell->text, cell->length))
		return status;
	return add_hex_member(parent, name, new_hex(cell->text, cell->length));
}

static int add_texts(struct json_object *parent, const char *name, const struct cell *cell)
{
	struct json_object *list = json_object_new_array(), *hex = json_object_new_array();
	bool need_hex = false;
	int status = -ENOMEM;

	for (uint32_t i = 0; list && hex && i < cell->length; i++) {
		const struct cell *text = &cell->texts[i];
		bool clean = utf8_is_valid(text->text, text->length);
		struct json_object *item = new_text(text->text, text->length);
		struct json_object *item_hex = clean ? NULL : new_hex(text->text, text->length);

		need_hex |= !clean;
		if (!item || json_object_array_add(list, item)) {
			json_object_put(item);
			json_object_put(item_hex);
			goto out;
		}
		if ((!clean && !item_hex) || json_object_array_add(hex, item_hex)) {
			json_object_put(item_hex);
			goto out;
		}
	}
	if (!list || !hex)
		goto out;
	status = add_member(parent, name, json_object_get(list));
	if (!status && need_hex)
		status = add_hex_member(parent, name, json_object_get(hex));
out:
	json_object_put(list);
	json_object_put(hex);
	return status;
}

static int make_row(struct json_object **row, const struct table *table, size_t number);

/* Adds an array of the table's rows, or the single row of a record. */
static int add_table(struct json_object *parent, const char *name, const struct table *table)
{
	struct json_object *list, *row;
	int status = 0;

	if (table->shape == TABLE_RECORD) {
		status = table->row_count ? make_row(&row, table, 0) : 0;
		return status ? status : add_member(parent, name, table->row_count ? row : NULL);
	}
	list = json_object_new_array();
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count && !status; i++) {
		status = make_row(&row, table, i);
		if (!status && json_object_array_add(list, row)) {
			json_object_put(row);
			status = -ENOMEM;
		}
	}
	if (!status)
		return add_member(parent, name, list);
	json_object_put(list);
	return status;
}

static int add_cell(struct json_object *row, const char *name, const struct cell *cell)
{
	struct json_object *parent, *value = NULL;
	int status = find_parent(row, name, &parent, &name);

	if (status)
		return status;
	/* Nothing is known of the members of an object that was not recorded. */
	if (cell->type == CELL_NULL && strchr(name, '.'))
		return 0;
	if (cell->summed)
		return add_member(parent, name, NULL);
	switch (cell->type) {
	case CELL_NULL:
		return add_member(parent, name, NULL);
	case CELL_UINT:
		value = json_object_new_uint64(cell->uint);
		break;
	case CELL_INT:
		value = json_object_new_int64(cell->sint);
		break;
	case CELL_REAL:
		if (!isfinite(cell->real))
			return add_member(parent, name, NULL);
		value = json_object_new_double(cell->real);
		break;
	case CELL_BOOL:
		value = json_object_new_boolean(cell->flag);
		break;
	case CELL_TEXT:
		return add_text(parent, name, cell);
	case CELL_TEXTS:
		return add_texts(parent, name, cell);
	case CELL_TABLE:
		return add_table(parent, name, cell->table);
	}
	return value ? add_member(parent, name, value) : -ENOMEM;
}

/* Column names may contain names of layers and operations, which come from the trace. */
static int add_named_cell(struct json_object *row, const char *name, const struct cell *cell)
{
	struct sink clean;
	int status;

	if (utf8_is_valid(name, strlen(name)))
		return add_cell(row, name, cell);
	sink_open_memory(&clean);
	escape_to_utf8(&clean, name, strlen(name) + 1);
	status = clean.error ? clean.error : add_cell(row, clean.buffer, cell);
	sink_close(&clean);
	return status;
}

int json_cell(struct sink *out, const struct cell *cell)
{
	struct json_object *row = json_object_new_object(), *value;
	int status = row ? add_cell(row, "", cell) : -ENOMEM;

	if (!status && json_object_object_get_ex(row, "", &value)) {
		if (value)
			write_object(out, value);
		else
			sink_text(out, "null");
	}
	json_object_put(row);
	return status ? status : out->error;
}

static int make_row(struct json_object **row, const struct table *table, size_t number)
{
	const struct cell *cells = table_row(table, number);
	int status;

	*row = json_object_new_object();
	status = *row ? 0 : -ENOMEM;
	for (size_t i = 0; i < table->column_count && !status; i++)
		status = add_named_cell(*row, table->columns[i].name, &cells[i]);
	if (status) {
		json_object_put(*row);
		*row = NULL;
	}
	return status;
}

static int write_row(struct sink *out, const struct table *table, size_t number)
{
	struct json_object *row;
	int status = make_row(&row, table, number);

	if (!status)
		write_object(out, row);
	json_object_put(row);
	return status;
}

static int write_table(struct sink *out, const struct table *table)
{
	int status = 0;

	json_text(out, table->name, strlen(table->name));
	sink_text(out, ": ");
	if (table->absent || (table->shape == TABLE_RECORD && table->row_count == 0)) {
		sink_text(out, "null");
		return 0;
	}
	if (table->shape == TABLE_RECORD)
		return write_row(out, table, 0);
	sink_char(out, '[');
	for (size_t row = 0; row < table->row_count && !status && !out->error; row++) {
		sink_text(out, row ? ",\n  " : "\n  ");
		status = write_row(out, table, row);
	}
	sink_text(out, table->row_count ? "\n ]" : "]");
	return status;
}

int json_tables(struct sink *out, const struct table *const *tables, size_t count)
{
	int status = 0;

	sink_format(out, "{\"schema\": %d", JSON_SCHEMA);
	for (size_t i = 0; i < count && !status && !out->error; i++) {
		if (tables[i]->view.text_only)
			continue;
		sink_text(out, ",\n ");
		status = write_table(out, tables[i]);
	}
	sink_text(out, "}\n");
	return status ? status : out->error;
}
