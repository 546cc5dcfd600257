/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the rule by which each column is merged: from an analysis's lists, or from the column's
 * unit and the end of its name, which means the same in every table.
 */
#include "analysis/table/merging.h"

#include <stddef.h>
#include <string.h>

/* The lists of names, and their rules. */
static const struct {
	size_t list;
	enum merge_rule rule;
} lists[] = {
	{ offsetof(struct merging, keys), MERGE_KEY },
	{ offsetof(struct merging, added), MERGE_ADD },
	{ offsetof(struct merging, unions), MERGE_UNION },
	{ offsetof(struct merging, apart), MERGE_APART },
	{ offsetof(struct merging, most), MERGE_MAX },
	{ offsetof(struct merging, least), MERGE_MIN },
	{ offsetof(struct merging, first), MERGE_FIRST },
	{ offsetof(struct merging, joined), MERGE_JOIN },
	{ offsetof(struct merging, listed), MERGE_LIST },
	{ offsetof(struct merging, any), MERGE_ANY },
	{ offsetof(struct merging, all), MERGE_ALL },
	{ offsetof(struct merging, status), MERGE_STATUS },
	{ offsetof(struct merging, moments), MERGE_MOMENT },
	{ offsetof(struct merging, same), MERGE_SAME },
	{ offsetof(struct merging, unknown), MERGE_UNKNOWN },
	{ offsetof(struct merging, lost), MERGE_LOST },
};
#define LISTS (sizeof(lists) / sizeof(lists[0]))

static const char *list_of(const struct merging *merging, size_t number)
{
	return *(const char *const *)((const char *)merging + lists[number].list);
}

static bool ends_with(const char *name, const char *end, size_t length)
{
	size_t whole = strlen(name);

	return whole >= length && !memcmp(name + whole - length, end, length);
}

/* Returns whether a name matches one from a list; "*" at one end of that matches anything. */
static bool is_meant(const char *name, const char *given, size_t length)
{
	if (length && given[0] == '*')
		return ends_with(name, given + 1, length - 1);
	if (length && given[length - 1] == '*')
		return !strncmp(name, given, length - 1);
	return strlen(name) == length && !memcmp(name, given, length);
}

/* Finds the next name in a list; returns false after the last. */
static bool next_name(const char **at, const char **name, size_t *length)
{
	if (!*at || !**at)
		return false;
	*name = *at;
	*length = strcspn(*at, ",");
	*at += *length + ((*at)[*length] == ',');
	return true;
}

static enum merge_rule rule_by_unit(const struct merging *merging, const char *name,
				    enum table_unit unit)
{
	static const char added[] = "thread_time_ns", most[] = "max_ns";
	static const char *const percentiles[] = { "p50_ns", "p99_ns" };

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		if (ends_with(name, percentiles[i], strlen(percentiles[i])))
			return MERGE_PERCENTILE;
	if (merging->dearest)
		return MERGE_DEAREST;
	if (ends_with(name, added, strlen(added)))
		return MERGE_ADD;
	if (ends_with(name, most, strlen(most)))
		return MERGE_MAX;
	switch (unit) {
	case UNIT_COUNT:
	case UNIT_BYTES:
		return MERGE_ADD;
	case UNIT_NS:
		return MERGE_UNION;
	case UNIT_SHARE:
		return MERGE_UNKNOWN;
	default:
		return MERGE_SAME;
	}
}

enum merge_rule merge_rule_of(const struct merging *merging, const struct table_column *column)
{
	const char *name;
	size_t length;

	for (size_t i = 0; i < LISTS; i++)
		for (const char *at = list_of(merging, i); next_name(&at, &name, &length);)
			if (is_meant(column->name, name, length))
				return lists[i].rule;
	return rule_by_unit(merging, column->name, column->unit);
}

static bool is_column(const struct table *table, const char *name, size_t length)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (is_meant(table->columns[i].name, name, length))
			return true;
	return false;
}

bool merging_fits(const struct merging *merging, const struct table *table, const char **unknown)
{
	size_t length;

	for (size_t i = 0; i < LISTS; i++)
		for (const char *at = list_of(merging, i); next_name(&at, unknown, &length);)
			if (!is_column(table, *unknown, length))
				return false;
	for (const char *at = merging->dearest; next_name(&at, unknown, &length);)
		if (!is_column(table, *unknown, length))
			return false;
	*unknown = merging->sorted;
	if (!merging->sorted)
		return true;
	*unknown += merging->sorted[0] == '-';
	return is_column(table, *unknown, strlen(*unknown));
}
