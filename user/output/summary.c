/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first screen. Picks numbers from the tables by name; makes none of its own but sums over what
 * was done to a file. A table or column that is missing shows as "-".
 */
#include "output/summary.h"

#include <errno.h>
#include <string.h>

#include "output/classes.h"
#include "output/escape.h"
#include "output/headline.h"
#include "output/phases.h"
#include "output/pick.h"
#include "output/text.h"

#define DOORS_MOST 7

struct screen {
	struct sink *out;
	size_t width, file_rows;
	const struct table *trace, *totals, *doors, *files, *spans, *overlap, *findings;
};

static int write_head(struct screen *screen)
{
	headline_write(screen->out, screen->trace, screen->totals, screen->width);
	phases_line(screen->out, screen->trace, screen->spans, screen->overlap, screen->width);
	return 0;
}

/* Takes the table; `status` is that of making it. */
static int write_table(struct screen *screen, struct table *table, int status)
{
	const struct text_options options = { .width = screen->width };

	if (!status && table->row_count)
		text_table(screen->out, table, &options);
	table_free(table);
	return status;
}

static int write_classes(struct screen *screen)
{
	struct table *table;
	int status = classes_make(&table, screen->trace, screen->totals, true);

	return write_table(screen, table, status);
}

static void add_number(struct cell *sum, const struct cell *cell)
{
	if (cell->type == CELL_UINT)
		cell_uint(sum, pick_number(sum) + cell->uint);
}

/* The row of a door, new or not; NULL when memory is out. */
static struct cell *door_row(struct table *table, const struct cell *door)
{
	struct cell *row;

	for (size_t i = 0; i < table->row_count; i++) {
		row = &table->cells[i * table->column_count];
		if (row->length == door->length && !memcmp(row->text, door->text, door->length))
			return row;
	}
	if (table_add_row(table, &row) || table_set_text(table, row, door->text, door->length))
		return NULL;
	return row;
}

/* The report has a row for each door and direction, this a row for each door. */
static int write_doors(struct screen *screen)
{
	enum { DOOR, READ, READ_TIME, FETCHED, WRITTEN, WRITE_TIME, CREATED };
	static const struct pick_column columns[] = {
		[DOOR] = { "door", UNIT_NONE },
		[READ] = { "read", UNIT_BYTES },
		[READ_TIME] = { "time", UNIT_NS },
		[FETCHED] = { "from storage", UNIT_BYTES },
		[WRITTEN] = { "written", UNIT_BYTES },
		[WRITE_TIME] = { "time", UNIT_NS },
		[CREATED] = { "created by writes", UNIT_BYTES },
	};
	struct table *table;
	int status = pick_new_list(&table, NULL, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; screen->doors && i < screen->doors->row_count && !status; i++) {
		const struct cell *door = pick_cell(screen->doors, i, "door");
		const struct cell *op = pick_cell(screen->doors, i, "op");
		bool write =
			op->type == CELL_TEXT && op->length == 5 && !memcmp(op->text, "write", 5);
		struct cell *row;

		/* Bytes can come without a call or fault of that door: populate, mlock. */
		if (door->type != CELL_TEXT ||
		    (!pick_number(pick_cell(screen->doors, i, "count")) &&
		     !pick_number(pick_cell(screen->doors, i, "bytes"))))
			continue;
		row = door_row(table, door);
		if (!row) {
			status = -ENOMEM;
			break;
		}
		row[write ? WRITTEN : READ] = *pick_cell(screen->doors, i, "bytes");
		row[write ? WRITE_TIME : READ_TIME] = *pick_cell(screen->doors, i, "time_ns");
		add_number(&row[FETCHED], pick_cell(screen->doors, i, "fetched_bytes"));
		add_number(&row[CREATED], pick_cell(screen->doors, i, "created_bytes"));
	}
	if (!status && table->row_count > DOORS_MOST)
		table->row_count = DOORS_MOST;
	return write_table(screen, table, status);
}

static int write_files(struct screen *screen)
{
	enum { PATH, TIME, READ, FAULTS, FETCHED, WRITTEN };
	static const struct pick_column columns[] = {
		[PATH] = { "file", UNIT_NONE },
		[TIME] = { "time", UNIT_NS },
		[READ] = { "read", UNIT_BYTES },
		[FAULTS] = { "faults", UNIT_COUNT },
		[FETCHED] = { "from storage", UNIT_BYTES },
		[WRITTEN] = { "written", UNIT_BYTES },
	};
	static const char *const groups[] = { "read", "write", "mmap" };
	const struct table *files = screen->files;
	size_t rows = files && files->row_count < screen->file_rows ? files->row_count
								    : screen->file_rows;
	struct table *table;
	int status = pick_new_list(&table, NULL, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; files && i < rows && !status; i++) {
		const struct cell *path = pick_cell(files, i, "path");
		struct cell *row;

		status = table_add_row(table, &row);
		if (status)
			break;
		for (size_t j = 0; j < sizeof(groups) / sizeof(groups[0]); j++) {
			add_number(&row[TIME], pick_in(files, i, groups[j], "time_ns"));
			add_number(&row[FETCHED], pick_in(files, i, groups[j], "fetched_bytes"));
		}
		row[READ] = *pick_cell(files, i, "read.bytes");
		row[FAULTS] = *pick_cell(files, i, "mmap.faults");
		row[WRITTEN] = *pick_cell(files, i, "write.bytes");
		if (path->type == CELL_TEXT)
			status = table_set_text(table, &row[PATH], path->text, path->length);
	}
	return write_table(screen, table, status);
}

static int write_finding(struct screen *screen)
{
	const struct cell *title = pick_cell(screen->findings, 0, "title");
	static const char word[] = "finding: ";

	if (title->type != CELL_TEXT)
		return 0;
	sink_text(screen->out, word);
	escape_shortened(screen->out, title->text, title->length, screen->width - strlen(word));
	sink_char(screen->out, '\n');
	return 0;
}

/* --- one screen ----------------------------------------------------------------------------------
 */

/* Each part is written to memory first: how many lines it takes depends on the width. */
enum { HEAD, CLASSES, DOORS, FILES, FINDING, PART_COUNT };

static int (*const writers[PART_COUNT])(struct screen *screen) = {
	[HEAD] = write_head,   [CLASSES] = write_classes, [DOORS] = write_doors,
	[FILES] = write_files, [FINDING] = write_finding,
};

static size_t count_lines(const struct sink *parts)
{
	size_t lines = 0;

	for (size_t i = 0; i < PART_COUNT; i++)
		for (size_t j = 0; j < parts[i].used; j++)
			lines += parts[i].buffer[j] == '\n';
	return lines;
}

static int write_part(struct screen *screen, struct sink *parts, size_t number)
{
	int status;

	parts[number].used = 0;
	screen->out = &parts[number];
	status = writers[number](screen);
	return status ? status : parts[number].error;
}

/* The files take the lines that are left: up to five, three rather than empty lines between the
 * parts, one in any case. *gaps tells if there is room for the empty lines. */
static int fit_files(struct screen *screen, struct sink *parts, bool *gaps)
{
	static const struct {
		size_t rows, gaps;
	} choices[] = { { 5, 3 }, { 4, 3 }, { 3, 3 }, { 3, 0 }, { 2, 0 }, { 1, 0 } };
	int status = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]) && !status; i++) {
		screen->file_rows = choices[i].rows;
		*gaps = choices[i].gaps > 0;
		status = write_part(screen, parts, FILES);
		if (count_lines(parts) + choices[i].gaps <= SUMMARY_LINES)
			break;
	}
	return status;
}

int summary_write(struct sink *out, const struct table *const *tables, size_t count, size_t width)
{
	struct screen screen = {
		.width = width,
		.trace = pick_table(tables, count, "trace"),
		.totals = pick_table(tables, count, "totals"),
		.doors = pick_table(tables, count, "doors"),
		.files = pick_table(tables, count, "files"),
		.spans = pick_table(tables, count, "spans"),
		.overlap = pick_table(tables, count, "overlap"),
		.findings = pick_table(tables, count, "findings"),
	};
	struct sink parts[PART_COUNT];
	bool gaps = false;
	int status = 0;

	for (size_t i = 0; i < PART_COUNT; i++)
		sink_open_memory(&parts[i]);
	for (size_t i = 0; i < PART_COUNT && !status; i++)
		if (i != FILES)
			status = write_part(&screen, parts, i);
	if (!status)
		status = fit_files(&screen, parts, &gaps);
	for (size_t i = 0; i < PART_COUNT && !status; i++) {
		if (gaps && i != HEAD && i != FINDING && parts[i].used)
			sink_char(out, '\n');
		sink_bytes(out, parts[i].buffer, parts[i].used);
	}
	for (size_t i = 0; i < PART_COUNT; i++)
		sink_close(&parts[i]);
	return status;
}
