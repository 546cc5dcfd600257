/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes texts from templates. */
#include "analysis/finding/finding_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define NAME_BYTES_MAX 64

static void write_number(FILE *out, uint64_t value, enum table_unit unit)
{
	char text[UNITS_TEXT];

	switch (unit) {
	case UNIT_BYTES:
		fputs(units_bytes(text, value), out);
		break;
	case UNIT_NS:
		fputs(units_ns(text, value), out);
		break;
	case UNIT_COUNT:
		fputs(units_count(text, value), out);
		break;
	default:
		fprintf(out, "%llu", (unsigned long long)value);
	}
}

static void write_cell(FILE *out, const struct cell *cell, enum table_unit unit)
{
	char text[UNITS_TEXT];

	switch (cell->type) {
	case CELL_UINT:
		write_number(out, cell->uint, unit);
		break;
	case CELL_INT:
		fprintf(out, "%lld", (long long)cell->sint);
		break;
	case CELL_REAL:
		if (unit == UNIT_SHARE)
			fputs(units_share(text, cell->real), out);
		else
			fprintf(out, "%.3g", cell->real);
		break;
	case CELL_TEXT:
		fwrite(cell->text, 1, cell->length, out);
		break;
	default:
		fputc('-', out);
	}
}

/* Returns the column named by "{NAME}" or "{NAME:ONE|MANY}" at `at`, or a negative number; *length
 * receives the length between the braces. */
static int find_name(const char *at, const struct table *record, size_t *length)
{
	size_t name_length = strcspn(at + 1, ":}");
	char name[NAME_BYTES_MAX];

	*length = strcspn(at + 1, "}");
	if (name_length >= sizeof(name) || !at[1 + *length])
		return -1;
	memcpy(name, at + 1, name_length);
	name[name_length] = '\0';
	return table_find_column(record, name);
}

/* Writes the word after a number, from "ONE|MANY" in `words`. */
static void write_word(FILE *out, const struct cell *cell, const char *words, size_t length)
{
	const char *bar = memchr(words, '|', length);
	size_t one = bar ? (size_t)(bar - words) : length;

	fputc(' ', out);
	if ((cell->type == CELL_UINT && cell->uint == 1) || !bar)
		fwrite(words, 1, one, out);
	else
		fwrite(bar + 1, 1, length - one - 1, out);
}

/* Writes the value of "{NAME}" at `at`; returns the number of bytes consumed. */
static size_t write_name(FILE *out, const char *at, const struct table *record,
			 const char **unknown)
{
	size_t length, name_length = strcspn(at + 1, ":}");
	int column = find_name(at, record, &length);

	if (column >= 0) {
		const struct cell *cell = &record->cells[column];

		write_cell(out, cell, record->columns[column].unit);
		if (name_length < length)
			write_word(out, cell, at + 1 + name_length + 1, length - name_length - 1);
		return length + 2;
	}
	if (unknown)
		*unknown = at;
	fputc('{', out);
	return 1;
}

/* Returns where a clause ends, or its alternative begins. */
static const char *clause_end(const char *at)
{
	const char *end = strchr(at, ']'), *other = strstr(at, "||");

	return other && end && other < end ? other : end;
}

/* Returns whether no cell named in the clause "[...]" at `at` is null. */
static bool clause_is_known(const char *at, const struct table *record)
{
	const char *end = clause_end(at);

	for (const char *name = strchr(at, '{'); name && end && name < end;
	     name = strchr(name + 1, '{')) {
		size_t length;
		int column = find_name(name, record, &length);

		if (column >= 0 && record->cells[column].type == CELL_NULL)
			return false;
	}
	return true;
}

/* Returns the start of a clause's alternative, or else its end. */
static const char *skip_clause(const char *at)
{
	const char *end = clause_end(at);

	if (!end)
		return at + strlen(at);
	return *end == '|' ? end + strlen("||") : end;
}

const char *finding_text(struct arena *arena, const char *pattern, const struct table *record,
			 const char **unknown)
{
	char *bytes = NULL;
	const char *text;
	size_t length;
	bool whole;
	FILE *out = open_memstream(&bytes, &length);

	if (!out)
		return NULL;
	while (*pattern) {
		size_t plain = strcspn(pattern, "{[]|");

		fwrite(pattern, 1, plain, out);
		pattern += plain;
		if (*pattern == '{')
			pattern += write_name(out, pattern, record, unknown);
		else if (*pattern == '[' && !clause_is_known(pattern, record))
			pattern = skip_clause(pattern);
		else if (!strncmp(pattern, "||", 2)) /* of a clause that was written */
			pattern += strcspn(pattern, "]");
		else if (*pattern == '|')
			fputc(*pattern++, out);
		else if (*pattern)
			pattern++;
	}
	whole = !fflush(out) && !ferror(out);
	fclose(out);
	text = whole && bytes ? arena_text(arena, bytes, length) : NULL;
	free(bytes);
	return text;
}

/* --- without a particular finding --- */

static const struct table_column *column_named(const struct table_column *columns, size_t count,
					       const char *name, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(columns[i].name) == length && !memcmp(columns[i].name, name, length))
			return &columns[i];
	return NULL;
}

/* Writes a placeholder for "{NAME}" or "{NAME:ONE|MANY}" at `at`; returns the bytes consumed. */
static size_t write_placeholder(FILE *out, const char *at, const struct table_column *columns,
				size_t count)
{
	size_t length = strcspn(at + 1, "}"), name = strcspn(at + 1, ":}");
	const struct table_column *column = column_named(columns, count, at + 1, name);
	const char *bar = memchr(at + 1, '|', length);

	if (column && column->unit != UNIT_NONE)
		fputc('N', out);
	else
		for (size_t i = 0; i < name; i++)
			fputc(at[1 + i] == '_' ? ' ' : toupper((unsigned char)at[1 + i]), out);
	if (bar)
		fprintf(out, " %.*s", (int)(at + 1 + length - bar - 1), bar + 1);
	return 1 + length + (at[1 + length] == '}');
}

const char *finding_text_general(struct arena *arena, const char *pattern,
				 const struct table_column *columns, size_t count)
{
	char *bytes = NULL;
	const char *text;
	size_t length;
	bool whole;
	FILE *out = open_memstream(&bytes, &length);

	if (!out)
		return NULL;
	while (*pattern) {
		size_t plain = strcspn(pattern, "{[]");

		fwrite(pattern, 1, plain, out);
		pattern += plain;
		if (*pattern == '{')
			pattern += write_placeholder(out, pattern, columns, count);
		else if (*pattern == '[')
			pattern = skip_clause(pattern);
		else if (*pattern)
			pattern++;
	}
	whole = !fflush(out) && !ferror(out);
	fclose(out);
	text = whole && bytes ? arena_text(arena, bytes, length) : NULL;
	free(bytes);
	return text;
}
