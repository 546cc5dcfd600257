/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes texts from templates. */
#include "analysis/finding/finding_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

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

/* The values that fill in a template. */
struct filling {
	const struct table_column *columns;
	size_t count;
	const struct cell *cells; /* NULL: placeholders, without a particular finding */
};

/* "{NAME}" or "{NAME:ONE|MANY}" in a template. */
struct name {
	const char *words; /* "ONE|MANY" */
	size_t words_length, length;
	const struct table_column *column; /* NULL: none of that name */
	const struct cell *cell;	   /* NULL: no such column, or placeholders */
};

static struct name name_at(const char *at, const struct filling *filling)
{
	const size_t length = strcspn(at + 1, ":}"), all = strcspn(at + 1, "}");
	struct name name = { .words = at + 1 + length, .length = all + 1 + (at[1 + all] == '}') };

	if (length < all) {
		name.words++;
		name.words_length = all - length - 1;
	}
	for (size_t i = 0; i < filling->count && !name.column && at[1 + all]; i++) {
		if (strlen(filling->columns[i].name) != length ||
		    memcmp(filling->columns[i].name, at + 1, length) != 0)
			continue;
		name.column = &filling->columns[i];
		name.cell = filling->cells ? &filling->cells[i] : NULL;
	}
	return name;
}

static bool is_one(const struct cell *cell)
{
	return cell->type == CELL_REAL ? cell->real == 1
				       : cell->type == CELL_UINT && cell->uint == 1;
}

/* Writes the word after a number. */
static void write_word(FILE *out, const struct name *name, bool one)
{
	const char *bar = memchr(name->words, '|', name->words_length);
	size_t first = bar ? (size_t)(bar - name->words) : name->words_length;

	fputc(' ', out);
	if (one || !bar)
		fwrite(name->words, 1, first, out);
	else
		fwrite(bar + 1, 1, name->words_length - first - 1, out);
}

/* Names FILE or DEVICE, numbers N. */
static void write_placeholder(FILE *out, const char *at, const struct name *name)
{
	if (name->column && name->column->unit != UNIT_NONE)
		fputc('N', out);
	else
		for (size_t i = 1; i <= strcspn(at + 1, ":}"); i++)
			fputc(at[i] == '_' ? ' ' : toupper((unsigned char)at[i]), out);
}

/* Writes the value of "{NAME}" at `at`; returns the number of bytes consumed. */
static size_t write_name(FILE *out, const char *at, const struct filling *filling,
			 const char **unknown)
{
	const struct name name = name_at(at, filling);

	if (!name.column && filling->cells) {
		if (unknown)
			*unknown = at;
		fputc('{', out);
		return 1;
	}
	if (name.cell)
		write_cell(out, name.cell, name.column->unit);
	else
		write_placeholder(out, at, &name);
	if (name.words_length)
		write_word(out, &name, name.cell && is_one(name.cell));
	return name.length;
}

/* Returns where a clause ends, or its alternative begins. */
static const char *clause_end(const char *at)
{
	const char *end = strchr(at, ']'), *other = strstr(at, "||");

	return other && end && other < end ? other : end;
}

/* Returns whether no cell named in the clause "[...]" at `at` is null. */
static bool clause_is_known(const char *at, const struct filling *filling)
{
	const char *end = clause_end(at);

	for (const char *name = strchr(at, '{'); name && end && name < end;
	     name = strchr(name + 1, '{')) {
		const struct cell *cell = name_at(name, filling).cell;

		if (cell && cell->type == CELL_NULL)
			return false;
	}
	return filling->cells;
}

/* Returns the start of a clause's alternative, or else its end. */
static const char *skip_clause(const char *at)
{
	const char *end = clause_end(at);

	if (!end)
		return at + strlen(at);
	return *end == '|' ? end + strlen("||") : end;
}

static const char *fill(struct arena *arena, const char *pattern, const struct filling *filling,
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
			pattern += write_name(out, pattern, filling, unknown);
		else if (*pattern == '[' && !clause_is_known(pattern, filling))
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

const char *finding_text(struct arena *arena, const char *pattern, const struct table *record,
			 const char **unknown)
{
	const struct filling filling = { record->columns, record->column_count, record->cells };

	return fill(arena, pattern, &filling, unknown);
}

const char *finding_text_general(struct arena *arena, const char *pattern,
				 const struct table_column *columns, size_t count)
{
	const struct filling filling = { columns, count, NULL };

	return fill(arena, pattern, &filling, NULL);
}
