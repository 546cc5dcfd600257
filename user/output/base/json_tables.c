/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables as JSON: finds the objects that column names stand for, then writes row by row. */
#include "output/base/json_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS_MAX 8 /* nested; names of layers and operations come from the trace */

/* --- objects --- */

struct listing {
	const struct table *table;
	struct json_member *members;
	size_t count;
	bool *listed; /* by column */
};

/* Whether a member has the first `length` bytes of a name as its name. */
static bool is_member(const struct listing *listing, const char *name, size_t length)
{
	for (size_t i = 0; i < listing->count; i++)
		if (!strncmp(listing->members[i].name, name, length) &&
		    !listing->members[i].name[length])
			return true;
	return false;
}

/* Lists the columns of one object: their names begin with the first `object` bytes of `of`. It is
 * in `depth` others. The rest of a name stays whole where a member has the name of an object. */
static void list_object(struct listing *listing, const char *of, size_t object, unsigned int depth)
{
	for (size_t i = 0; i < listing->table->column_count; i++) {
		const char *name = listing->table->columns[i].name, *dot;

		if (listing->listed[i] || strncmp(name, of, object) != 0)
			continue;
		dot = depth < OBJECTS_MAX ? strchr(name + object, '.') : NULL;
		if (dot && !is_member(listing, name, dot - name)) {
			list_object(listing, name, dot + 1 - name, depth + 1);
			continue;
		}
		listing->members[listing->count++] = (struct json_member) { name, i, object, 0 };
		listing->listed[i] = true;
	}
}

/* Returns how many bytes both names begin with that name the same objects. */
static size_t shared_by(const struct json_member *a, const struct json_member *b)
{
	size_t shared = 0;

	for (size_t i = 0; i < a->object && i < b->object && a->name[i] == b->name[i]; i++)
		if (a->name[i] == '.')
			shared = i + 1;
	return shared;
}

size_t json_members(const struct table *table, struct json_member **members, struct sink *out)
{
	struct listing listing = {
		.table = table,
		.members = calloc(table->column_count + 1, sizeof(*listing.members)),
		.listed = calloc(table->column_count + 1, sizeof(*listing.listed)),
	};

	if (listing.members && listing.listed)
		list_object(&listing, "", 0, 0);
	else
		out->error = out->error ? out->error : -ENOMEM;
	for (size_t i = 1; i < listing.count; i++)
		listing.members[i].shared = shared_by(&listing.members[i - 1], &listing.members[i]);
	free(listing.listed);
	*members = listing.members;
	return listing.count;
}

/* --- cells --- */

static void write_texts(struct json *json, const char *name, const struct cell *cell)
{
	bool valid = true;

	for (int hex = 0; hex <= (name && !valid); hex++) {
		if (name)
			json_name(json, name, strlen(name), hex ? "_hex" : "");
		json_begin_list(json, NULL);
		for (uint32_t i = 0; i < cell->length; i++)
			valid &= json_item(json, cell->texts[i].text, cell->texts[i].length, hex);
		json_end(json);
	}
}

static void write_rows(struct json *json, const struct table *table, unsigned int line);

void json_add_cell(struct json *json, const char *name, const struct cell *cell)
{
	switch (cell->summed ? CELL_NULL : cell->type) {
	case CELL_NULL:
		json_null(json, name);
		return;
	case CELL_UINT:
		json_uint(json, name, cell->uint);
		return;
	case CELL_INT:
		json_int(json, name, cell->sint);
		return;
	case CELL_REAL:
		json_real(json, name, cell->real);
		return;
	case CELL_BOOL:
		json_flag(json, name, cell->flag);
		return;
	case CELL_TEXT:
		json_string(json, name, cell->text, cell->length);
		return;
	case CELL_TEXTS:
		write_texts(json, name, cell);
		return;
	case CELL_TABLE:
		if (name)
			json_name(json, name, strlen(name), "");
		write_rows(json, cell->table, 0);
		return;
	}
}

/* --- rows --- */

void json_enter(struct json *json, const struct json_member *member,
		void (*on_begin)(struct json *))
{
	const char *end = member->name + member->object, *dot;

	for (const char *at = member->name + member->shared; at < end; at = dot + 1) {
		dot = strchr(at, '.');
		json_name(json, at, dot - at, "");
		json_begin(json, NULL);
		if (on_begin)
			on_begin(json);
	}
}

void json_leave(struct json *json, const struct json_member *members, size_t i, unsigned int ends)
{
	const struct json_member *last = i ? &members[i - 1] : NULL;

	for (size_t at = members[i].shared; last && at < last->object; at++)
		for (unsigned int end = 0; last->name[at] == '.' && end < ends; end++)
			json_end(json);
}

static void write_row(struct json *json, const struct json_member *members, size_t count,
		      const struct cell *cells)
{
	json_begin(json, NULL);
	for (size_t i = 0; i < count; i++) {
		const char *name = members[i].name + members[i].object;
		const struct cell *cell = &cells[members[i].column];

		json_leave(json, members, i, 1);
		json_enter(json, &members[i], NULL);
		/* Nothing is known of the members of an object that was not recorded. */
		if (cell->type != CELL_NULL || !strchr(name, '.'))
			json_add_cell(json, name, cell);
	}
	if (count)
		json_leave(json, members, count, 1);
	json_end(json);
}

/* Writes an array of the table's rows, each on a line with that indent if there is one; of a
 * record, the single row. */
static void write_rows(struct json *json, const struct table *table, unsigned int indent)
{
	struct json_member *members;
	size_t count;

	if (table->absent || (table->shape == TABLE_RECORD && !table->row_count)) {
		json_null(json, NULL);
		return;
	}
	count = json_members(table, &members, json->out);
	if (table->shape == TABLE_RECORD) {
		write_row(json, members, count, table_row(table, 0));
	} else {
		json_begin_list(json, NULL);
		for (size_t row = 0; row < table->row_count && !json->out->error; row++) {
			if (indent)
				json_line(json, indent);
			write_row(json, members, count, table_row(table, row));
		}
		if (indent && table->row_count)
			json_line(json, indent - 1);
		json_end(json);
	}
	free(members);
}

int json_cell(struct sink *out, const struct cell *cell)
{
	struct json json = { .out = out, .style = JSON_SPACED };

	json_add_cell(&json, NULL, cell);
	return out->error;
}

int json_tables(struct sink *out, const struct table *const *tables, size_t count)
{
	struct json json = { .out = out, .style = JSON_SPACED };

	json_begin(&json, NULL);
	json_uint(&json, "schema", JSON_SCHEMA);
	for (size_t i = 0; i < count && !out->error; i++) {
		if (tables[i]->view.text_only)
			continue;
		json_line(&json, 1);
		json_name(&json, tables[i]->name, strlen(tables[i]->name), "");
		write_rows(&json, tables[i], 2);
	}
	json_end(&json);
	sink_char(out, '\n');
	return out->error;
}
