/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables: their memory, columns, rows and cells. */
#include "analysis/table/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collections/arena.h"
#include "collections/grow.h"
#include "base/strbuf.h"

/* Owns a table. Growing lists are separate blocks; everything else is in the arena of the outermost
 * table. */
struct store {
	struct arena own;
	struct store *outer; /* NULL for the outermost */
	int error;	     /* in the outermost: the first error of all tables */
	struct table table;
	struct table *within;
	size_t column_room, row_room;
	bool copied;		      /* the lists cannot grow, and are in the arena, too */
	struct long_text *long_texts; /* in the outermost */
};

/* Long texts, such as command lines, often repeat: equal ones share a copy. */
struct long_text {
	char *bytes;
	size_t length;
};
#define LONG_TEXT_BYTES 256
#define LONG_TEXTS 64 /* latest copies to look at, one per slot */

static struct store *store_of(const struct table *table)
{
	return table->arena;
}

static struct store *outermost(const struct table *table)
{
	struct store *store = store_of(table);

	while (store->outer)
		store = store->outer;
	return store;
}

int table_status(const struct table *table)
{
	return table ? outermost(table)->error : -ENOMEM;
}

void table_fail(struct table *table, int status)
{
	if (!table_status(table))
		outermost(table)->error = status;
}

/* Both return NULL after an error. */
static void *allocate(struct table *table, size_t bytes)
{
	struct store *store = outermost(table);
	void *memory = store->error ? NULL : arena_alloc(&store->own, bytes);

	table_fail(table, memory ? 0 : -ENOMEM);
	return memory;
}

/* Returns where to look for a copy of a long text, and where to put one; NULL if out of memory. */
static struct long_text *slot_of(struct store *store, const char *bytes, size_t length)
{
	const size_t hash = length + 7 * (unsigned char)bytes[length - 1] +
			    61 * (unsigned char)bytes[length / 2];

	if (!store->long_texts)
		store->long_texts =
			arena_alloc(&store->own, LONG_TEXTS * sizeof(*store->long_texts));
	return store->long_texts ? &store->long_texts[hash % LONG_TEXTS] : NULL;
}

static const char *copy_bytes(struct table *table, const char *bytes, size_t length)
{
	struct store *store = outermost(table);
	struct long_text *slot = NULL;
	char *copy = NULL;

	if (!store->error && length >= LONG_TEXT_BYTES)
		slot = slot_of(store, bytes, length);
	if (slot && slot->length == length && !memcmp(slot->bytes, bytes, length))
		return slot->bytes;
	if (!store->error)
		copy = arena_text(&store->own, bytes, length);
	if (slot && copy)
		*slot = (struct long_text) { copy, length };
	table_fail(table, copy ? 0 : -ENOMEM);
	return copy;
}

/* Makes a NUL-terminated copy; NULL stays NULL. */
static const char *copy_text(struct table *table, const char *text)
{
	return text ? copy_bytes(table, text, strlen(text)) : NULL;
}

/* Ensures that a list of the table has room for `count` items. */
#define TABLE_GROW(table, items, room, count)                                                      \
	({                                                                                         \
		if (!table_status(table) && !GROW(items, room, count))                             \
			table_fail(table, -ENOMEM);                                                \
		!table_status(table);                                                              \
	})

static struct table *new_within(struct store *outer, const char *name, const char *title,
				enum table_shape shape)
{
	struct store *store = calloc(1, sizeof(*store));

	if (!store)
		return NULL;
	store->outer = outer;
	store->table.arena = store;
	store->table.shape = shape;
	store->table.view.by = TABLE_NO_COLUMN;
	store->table.view.only = TABLE_NO_COLUMN;
	store->table.name = copy_text(&store->table, name);
	store->table.title = copy_text(&store->table, title);
	if (!table_status(&store->table))
		return &store->table;
	table_free(&store->table);
	return NULL;
}

const char *table_unit_name(enum table_unit unit)
{
	static const char *const names[] = {
		[UNIT_NONE] = "-", [UNIT_COUNT] = "count",  [UNIT_BYTES] = "bytes",
		[UNIT_NS] = "ns",  [UNIT_SHARE] = "0 to 1", [UNIT_PATH] = "path",
	};

	return names[unit];
}

const struct table_kind_text table_kinds[TABLE_KINDS] = {
	[KIND_NONE] = { "-", "" },
	[KIND_KEY] = { "key", "identifies the row, together with its other keys" },
	[KIND_FACT] = { "fact", "kept if it is the same in all runs" },
	[KIND_SUM] = { "sum", "added up" },
	[KIND_THREAD] = { "thread", "time summed over threads or spans; added up" },
	[KIND_UNION] = { "union", "time with at least one operation in progress; added up if the "
				  "runs do not overlap; null if operations were aggregated" },
	[KIND_COVERED] = { "covered",
			   "time covered by spans, requests or processes, or counts that "
			   "overlapping runs share; added up if the runs do not overlap" },
	[KIND_UNOVERLAPPED] = { "unoverlapped", "time of one thing outside another; added up if "
						"the runs do not overlap" },
	[KIND_REMAINDER] = { "remainder", "as unoverlapped, but an upper bound after loss" },
	[KIND_RATIO] = { "ratio", "a share of such a time, or bytes per second of it" },
	[KIND_DERIVED] = { "derived", "computed from a whole run; null over several runs" },
	[KIND_PERCENTILE] = { "percentile", "computed again from the values of all runs" },
	[KIND_MAX] = { "max", "the largest value" },
	[KIND_MIN] = { "min", "the smallest value" },
	[KIND_MOMENT] = { "moment", "time since the start of the run; the earliest is kept" },
	[KIND_DURATION] = { "duration", "a duration; kept if it is the same in all runs" },
	[KIND_FIRST] = { "first", "taken from the first run that has a value" },
	[KIND_LIST] = { "list", "all distinct values" },
	[KIND_ANY] = { "any", "true if true in any run" },
	[KIND_ALL] = { "all", "true if true in all runs" },
	[KIND_STATUS] = { "status", "the first nonzero value; null if any is unknown" },
	[KIND_SHARED] = { "shared",
			  "belongs to something that several rows share; null over several runs" },
	[KIND_LARGEST] = { "largest", "taken from the run in which the row costs most" },
	[KIND_TOTAL] = { "total", "added up; null if any is unknown" },
};

struct table *table_new(const char *name, const char *title, enum table_shape shape)
{
	return new_within(NULL, name, title, shape);
}

void table_free(struct table *table)
{
	struct store *store;

	if (!table)
		return;
	store = store_of(table);
	while (store->within) {
		struct table *within = store->within;

		store->within = within->next;
		table_free(within);
	}
	for (size_t i = 0; i < table->percentile_count; i++)
		sparse_histogram_free(&table->percentiles[i].of);
	free(table->percentiles);
	if (!store->copied) {
		free(table->columns);
		free(table->cells);
	}
	arena_free(&store->own);
	free(store);
}

void table_add_column(struct table *table, const struct table_column *column)
{
	struct table_column copy = *column;

	if (!table || store_of(table)->copied)
		return;
	copy.name = copy_text(table, column->name);
	copy.title = copy_text(table, column->title);
	copy.meaning = copy_text(table, column->meaning);
	if (TABLE_GROW(table, table->columns, store_of(table)->column_room,
		       table->column_count + 1))
		table->columns[table->column_count++] = copy;
}

void table_add_columns(struct table *table, const struct table_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		table_add_column(table, &columns[i]);
}

static bool is_recorded(const struct table *table, unsigned int needs)
{
	return (table->recorded & needs) == needs;
}

void table_add_group(struct table *table, const struct table_group *group, size_t base)
{
	char name[64], title[64];

	if (!table)
		return;
	if (!is_recorded(table, group->needs)) {
		table_add_column(table,
				 &(struct table_column) { .name = group->name, .kind = KIND_FACT });
		return;
	}
	for (size_t i = 0; i < group->count; i++) {
		struct table_column column = group->columns[i];

		snprintf(name, sizeof(name), "%s.%s", group->name, column.name);
		snprintf(title, sizeof(title), "%s %s", group->title, column.title);
		column.name = name;
		column.title = column.title ? title : NULL;
		column.key += base;
		table_add_column(table, &column);
	}
}

struct cell *table_add_row(struct table *table)
{
	struct store *store = table ? store_of(table) : NULL;
	struct cell *row;

	if (!table || store->copied || table_status(table))
		return NULL;
	if (table->row_count == store->row_room) {
		size_t room = store->row_room ? store->row_room * 2 : 8;
		size_t width = table->column_count * sizeof(*table->cells);
		void *cells = width ? reallocarray(table->cells, room, width) : table->cells;

		if (width && !cells) {
			table_fail(table, -ENOMEM);
			return NULL;
		}
		table->cells = cells;
		store->row_room = room;
	}
	row = table_row(table, table->row_count++);
	for (size_t i = 0; i < table->column_count; i++)
		row[i] = (struct cell) { .type = CELL_NULL };
	return row;
}

void table_add(struct table *table, const void *row)
{
	struct cell *cells = table_add_row(table);

	for (size_t i = 0; cells && i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];

		if (column->get && is_recorded(table, column->needs))
			column->get(table, &cells[i], row, column);
	}
}

/* --- texts and nested tables --- */

void table_set_literal(struct table *table, struct cell *cell, const char *text)
{
	if (text)
		table_set_text(table, cell, text, strlen(text));
}

void table_set_text(struct table *table, struct cell *cell, const char *bytes, size_t length)
{
	const char *copy = length < UINT32_MAX ? copy_bytes(table, bytes, length) : NULL;

	if (copy)
		*cell = (struct cell) { .type = CELL_TEXT, .length = length, .text = copy };
	else
		table_fail(table, -ENOMEM);
}

/* Lists of texts have room for a power of two, so that appending rarely moves them. */
static size_t room_of(size_t count)
{
	size_t room = 1;

	while (room < count)
		room *= 2;
	return room;
}

void table_set_texts(struct table *table, struct cell *cell, const struct cell *texts, size_t count)
{
	struct cell *copies =
		count <= UINT32_MAX ? allocate(table, room_of(count) * sizeof(*copies)) : NULL;

	if (!copies) {
		table_fail(table, -ENOMEM);
		return;
	}
	for (size_t i = 0; i < count; i++)
		table_set_text(table, &copies[i], texts[i].text, texts[i].length);
	*cell = (struct cell) { .type = CELL_TEXTS, .length = count, .texts = copies };
}

void table_append_text(struct table *table, struct cell *cell, const struct cell *text)
{
	struct cell *texts = (struct cell *)cell->texts;

	if (table_status(table))
		return;
	if (cell->length == room_of(cell->length)) {
		texts = allocate(table, room_of(cell->length + 1) * sizeof(*texts));
		if (!texts)
			return;
		memcpy(texts, cell->texts, cell->length * sizeof(*texts));
		cell->texts = texts;
	}
	table_set_text(table, &texts[cell->length++], text->text, text->length);
}

struct table *table_set_table(struct table *table, struct cell *cell, enum table_shape shape)
{
	struct table *within;

	if (table_status(table))
		return NULL;
	within = new_within(store_of(table), "", NULL, shape);
	if (!within) {
		table_fail(table, -ENOMEM);
		return NULL;
	}
	within->recorded = table->recorded;
	within->next = store_of(table)->within;
	store_of(table)->within = within;
	*cell = (struct cell) { .type = CELL_TABLE, .table = within };
	return within;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_columns(const struct table *a, const struct table *b)
{
	bool same = a->column_count == b->column_count;

	for (size_t i = 0; i < a->column_count && same; i++) {
		const struct table_column *left = &a->columns[i], *right = &b->columns[i];

		same = left->unit == right->unit && left->kind == right->kind &&
		       same_text(left->name, right->name) && same_text(left->title, right->title) &&
		       same_text(left->meaning, right->meaning);
	}
	return same;
}

/* Nested tables of different rows usually have the same columns, which are stored once. */
static void copy_columns(struct table *copy, const struct table *from)
{
	size_t far = 0;

	for (const struct table *other = copy->next; other && far < 4; other = other->next, far++)
		if (store_of(other)->copied && same_columns(other, from)) {
			copy->columns = other->columns;
			copy->column_count = other->column_count;
			return;
		}
	copy->columns = allocate(copy, from->column_count * sizeof(*copy->columns));
	for (size_t i = 0; copy->columns && i < from->column_count; i++) {
		struct table_column *column = &copy->columns[i];

		*column = from->columns[i];
		column->name = copy_text(copy, from->columns[i].name);
		column->title = copy_text(copy, from->columns[i].title);
		column->meaning = copy_text(copy, from->columns[i].meaning);
	}
	copy->column_count = table_status(copy) ? 0 : from->column_count;
}

static void copy_within(struct table *table, struct cell *cell, const struct table *from)
{
	size_t cells = from->row_count * from->column_count;
	struct table *copy = table_set_table(table, cell, from->shape);

	if (!copy)
		return;
	store_of(copy)->copied = true;
	copy_columns(copy, from);
	copy->cells = allocate(copy, cells * sizeof(*copy->cells));
	if (!copy->cells)
		return;
	copy->row_count = from->row_count;
	for (size_t i = 0; i < cells; i++)
		table_copy_cell(copy, &copy->cells[i], &from->cells[i]);
}

void table_copy_cell(struct table *table, struct cell *cell, const struct cell *from)
{
	const bool at_least = from->at_least, summed = from->summed;

	if (from->type == CELL_TEXT)
		table_set_text(table, cell, from->text, from->length);
	else if (from->type == CELL_TEXTS)
		table_set_texts(table, cell, from->texts, from->length);
	else if (from->type == CELL_TABLE)
		copy_within(table, cell, from->table);
	else
		*cell = *from;
	cell->at_least = at_least;
	cell->summed = summed;
}

void table_set_note(struct table *table, const char *note)
{
	if (table)
		table->note = copy_text(table, note);
}

void table_append_note(struct table *table, const char *note)
{
	struct strbuf text = { .used = 0 };

	if (!table)
		return;
	if (table->note)
		strbuf_clause(&text, "%s", table->note);
	strbuf_clause(&text, "%s", note);
	table_set_note(table, text.bytes);
}

bool table_absent_if(struct table *table, bool is_absent, const char *why)
{
	table->absent = is_absent;
	if (is_absent)
		table_set_note(table, why);
	return is_absent;
}

void table_set_title(struct table *table, size_t column, const char *title)
{
	table->columns[column].title = copy_text(table, title);
}

void table_take_meanings(struct table *table, const struct table *like)
{
	if (table->absent && !table->column_count)
		table_add_columns(table, like->columns, like->column_count);
	for (size_t i = 0; i < table->column_count; i++) {
		struct table_column *column = &table->columns[i];
		int same = column->meaning ? -1 : table_find_column(like, column->name);

		if (same >= 0)
			column->meaning = copy_text(table, like->columns[same].meaning);
	}
}

int table_find_column(const struct table *table, const char *name)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (!strcmp(table->columns[i].name, name))
			return i;
	return -1;
}
