/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges cells as the kinds of their columns say. */
#include "analysis/table/merging_cells.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collections/grow.h"
#include "base/number.h"

#define JOINED_MAX 1024 /* bytes of texts separated by commas */

bool merge_is_number(const struct cell *cell)
{
	return cell->type == CELL_UINT || cell->type == CELL_INT || cell->type == CELL_REAL;
}

static bool same_text(const struct cell *a, const struct cell *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static bool same_texts(const struct cell *a, const struct cell *b)
{
	for (uint32_t i = 0; i < a->length && a->length == b->length; i++)
		if (!same_text(&a->texts[i], &b->texts[i]))
			return false;
	return a->length == b->length;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case CELL_NULL:
		return true;
	case CELL_BOOL:
		return a->flag == b->flag;
	case CELL_TEXT:
		return same_text(a, b);
	case CELL_TEXTS:
		return same_texts(a, b);
	case CELL_TABLE:
		return false;
	default:
		return a->uint == b->uint;
	}
}

/* Negative if a is less than b; unknown sorts first. */
int merge_compare(const struct cell *a, const struct cell *b)
{
	uint32_t shorter = number_min(a->length, b->length);
	int order;

	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	switch (a->type) {
	case CELL_UINT:
		return a->uint < b->uint ? -1 : a->uint > b->uint;
	case CELL_INT:
		return a->sint < b->sint ? -1 : a->sint > b->sint;
	case CELL_REAL:
		return a->real < b->real ? -1 : a->real > b->real;
	case CELL_TEXT:
		order = memcmp(a->text, b->text, shorter);
		return order ? order : a->length < b->length ? -1 : a->length > b->length;
	default:
		return 0;
	}
}

/* --- merging by kind --- */

/* Marks a cell permanently unknown: CELL_NULL and summed. */
void merge_forget(struct cell *cell)
{
	*cell = (struct cell) { .type = CELL_NULL, .summed = true };
}

static bool is_forgotten(const struct cell *cell)
{
	return cell->type == CELL_NULL && cell->summed;
}

static void add_number(struct cell *into, const struct cell *from)
{
	if (into->type == CELL_UINT && from->type == CELL_UINT)
		into->uint = number_add(into->uint, from->uint);
	else
		merge_forget(into);
}

/* Unions of times add up if they do not overlap or one is empty. */
static void add_union(struct cell *into, const struct cell *from, bool disjoint)
{
	bool alone =
		into->type == CELL_UINT && from->type == CELL_UINT && (!into->uint || !from->uint);

	add_number(into, from);
	if (!disjoint && !alone && into->type == CELL_UINT)
		into->summed = true;
}

static bool is_joined(const struct cell *list, const char *item, size_t length)
{
	for (size_t at = 0; at + length <= list->length; at++)
		if ((!at || list->text[at - 1] == ' ') && !memcmp(list->text + at, item, length) &&
		    (at + length == list->length || list->text[at + length] == ','))
			return true;
	return false;
}

/* "6.1.0" and "6.1.0, 6.18.0" become "6.1.0, 6.18.0". */
static void join(struct table *table, struct cell *into, const struct cell *from)
{
	char text[JOINED_MAX];
	size_t used = into->length < sizeof(text) ? into->length : sizeof(text) - 1;

	memcpy(text, into->text, used);
	for (size_t at = 0; at < from->length;) {
		const char *item = from->text + at, *end = memmem(item, from->length - at, ", ", 2);
		size_t length = end ? (size_t)(end - item) : from->length - at;

		at += length + (end ? 2 : 0);
		if (is_joined(into, item, length) || used + length + 3 > sizeof(text))
			continue;
		used += snprintf(text + used, sizeof(text) - used, ", %.*s", (int)length, item);
	}
	if (used != into->length)
		table_set_text(table, into, text, used);
}

static bool is_listed(const struct cell *list, const struct cell *text)
{
	for (uint32_t i = 0; i < list->length; i++)
		if (same_text(&list->texts[i], text))
			return true;
	return false;
}

static void list(struct table *table, struct cell *into, const struct cell *from)
{
	for (uint32_t i = 0; i < from->length; i++)
		if (!is_listed(into, &from->texts[i]))
			table_append_text(table, into, &from->texts[i]);
}

/* Merges two known cells. */
static void merge_known(struct table *table, struct cell *into, const struct cell *from,
			enum table_kind kind, bool disjoint)
{
	if (into->type != from->type) { /* never in a recorded trace */
		merge_forget(into);
		return;
	}
	switch (kind) {
	case KIND_SUM:
	case KIND_THREAD:
	case KIND_TOTAL:
		add_number(into, from);
		break;
	case KIND_UNION:
	case KIND_COVERED:
		add_union(into, from, disjoint);
		break;
	case KIND_UNOVERLAPPED:
	case KIND_REMAINDER:
		add_number(into, from);
		into->summed |= !disjoint;
		break;
	case KIND_MAX:
		if (merge_compare(from, into) > 0)
			table_copy_cell(table, into, from);
		break;
	case KIND_MIN:
	case KIND_MOMENT:
		if (merge_compare(from, into) < 0)
			table_copy_cell(table, into, from);
		break;
	case KIND_LIST:
		if (into->type == CELL_TEXT)
			join(table, into, from);
		else if (into->type == CELL_TEXTS)
			list(table, into, from);
		break;
	case KIND_ANY:
		if (into->type == CELL_BOOL)
			into->flag |= from->flag;
		break;
	case KIND_ALL:
		if (into->type == CELL_BOOL)
			into->flag &= from->flag;
		break;
	case KIND_STATUS:
		if (merge_is_number(into) && !into->uint)
			table_copy_cell(table, into, from);
		break;
	case KIND_FACT:
	case KIND_DURATION:
		if (!is_same(into, from))
			merge_forget(into);
		break;
	case KIND_FIRST:
	case KIND_SHARED:
		break;
	default:
		merge_forget(into);
	}
}

/* Returns whether a number of this kind is unknown if it is unknown for any run. */
static bool needs_all(enum table_kind kind)
{
	return kind == KIND_STATUS || kind == KIND_UNOVERLAPPED || kind == KIND_REMAINDER ||
	       kind == KIND_TOTAL;
}

void merge_cell(struct table *table, struct cell *into, const struct cell *from,
		enum table_kind kind, bool disjoint)
{
	const bool at_least = into->at_least || from->at_least;
	const bool summed = into->summed || from->summed;

	if (is_forgotten(into))
		return;
	if (needs_all(kind) && into->type != from->type)
		merge_forget(into);
	else if (is_forgotten(from) && kind != KIND_FIRST)
		merge_forget(into);
	else if (from->type == CELL_NULL)
		return;
	else if (into->type == CELL_NULL)
		table_copy_cell(table, into, from);
	else
		merge_known(table, into, from, kind, disjoint);
	into->at_least |= at_least && merge_is_number(into);
	into->summed |= summed && merge_is_number(into);
}

/* --- percentiles --- */

int merge_copy_percentile(struct table *table, size_t row, size_t column,
			  const struct table_percentile *from)
{
	struct table_percentile *added;

	if (!GROW(table->percentiles, table->percentile_room, table->percentile_count + 1))
		return -ENOMEM;
	/* Rows are appended, but an earlier cell may gain one: keep them sorted. */
	added = &table->percentiles[table->percentile_count++];
	while (added > table->percentiles &&
	       (added[-1].row > row || (added[-1].row == row && added[-1].column > column))) {
		added[0] = added[-1];
		added--;
	}
	*added = (struct table_percentile) { .row = row,
					     .column = column,
					     .percent = from->percent };
	return sparse_histogram_merge(&added->of, &from->of);
}

/* Merges both histograms, as if all values had been in one. */
int merge_percentile(struct table *table, size_t row, size_t column, const struct cell *from,
		     const struct table_percentile *more)
{
	struct cell *into = &table_row(table, row)[column];
	struct table_percentile *of = table_find_percentile(table, row, column);
	int status;

	if (!more && from->type == CELL_NULL && !from->summed)
		return 0;
	if (!of && into->type == CELL_NULL && !into->summed) {
		table_copy_cell(table, into, from);
		return more ? merge_copy_percentile(table, row, column, more) : 0;
	}
	if (!of || !more || of->percent != more->percent) {
		merge_forget(into);
		return 0;
	}
	status = sparse_histogram_merge(&of->of, &more->of);
	if (!is_forgotten(into))
		cell_uint(into, sparse_histogram_percentile(&of->of, of->percent));
	return status;
}
