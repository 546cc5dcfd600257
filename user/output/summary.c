/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The first screen. Picks numbers from the tables by name; makes none of its own but shares of the
 * run's duration. A table or column that is missing shows as "-".
 */
#include "output/summary.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "output/classes.h"
#include "output/escape.h"
#include "output/pick.h"
#include "output/text.h"
#include "output/units.h"

#define FILES_MOST 5
#define DOORS_MOST 7

struct screen {
	struct sink *out;
	size_t width;
	const struct table *trace, *totals, *doors, *files, *findings;
};

static bool is_text(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && cell->length == strlen(text) &&
	       !memcmp(cell->text, text, cell->length);
}

/* One line of at most the screen's width, from a text of any bytes. */
static void write_line(struct screen *screen, struct sink *line)
{
	escape_shortened(screen->out, line->buffer, line->used, screen->width);
	sink_char(screen->out, '\n');
	line->used = 0;
	if (line->error)
		screen->out->error = screen->out->error ? screen->out->error : line->error;
}

static void add_texts(struct sink *line, const struct cell *cell, const char *between)
{
	if (cell->type == CELL_TEXT)
		sink_bytes(line, cell->text, cell->length);
	for (uint32_t i = 0; cell->type == CELL_TEXTS && i < cell->length; i++) {
		if (i)
			sink_text(line, between);
		sink_bytes(line, cell->texts[i].text, cell->texts[i].length);
	}
}

/* --- what ran, and how well it was seen ---------------------------------------------------------
 */

static void write_start(struct sink *line, const struct cell *start)
{
	time_t seconds = pick_number(start) / 1000000000;
	struct tm when;
	char text[64];

	if (start->type == CELL_UINT && localtime_r(&seconds, &when) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %z", &when))
		sink_format(line, ", %s", text);
}

static void write_exit(struct sink *line, const struct cell *code)
{
	int64_t value = code->type == CELL_UINT ? (int64_t)code->uint : code->sint;

	if (code->type == CELL_UINT || code->type == CELL_INT)
		sink_format(line, ", exit status %lld", (long long)value);
	else
		sink_text(line, ", exit status unknown");
}

static void write_job(struct screen *screen, struct sink *line)
{
	const struct cell *command = pick_cell(screen->trace, 0, "command");
	const struct cell *events = pick_cell(screen->trace, 0, "events");
	const struct cell *duration = pick_cell(screen->trace, 0, "duration_ns");
	const struct cell *io = pick_cell(screen->totals, 0, "io.time_ns");
	const struct cell *survivors = pick_cell(screen->trace, 0, "survivors");
	char text[UNITS_TEXT];

	if (command->type == CELL_NULL)
		sink_text(line, "(no command)");
	add_texts(line, command, " ");
	write_line(screen, line);

	sink_text(line, "on ");
	add_texts(line, pick_cell(screen->trace, 0, "hosts"), ", ");
	sink_text(line, ", Linux ");
	add_texts(line, pick_cell(screen->trace, 0, "kernel"), ", ");
	write_start(line, pick_cell(screen->trace, 0, "start_unix_ns"));
	write_exit(line, pick_cell(screen->trace, 0, "exit_code"));
	if (events->type == CELL_UINT)
		sink_format(line, ", %s events", units_count(text, events->uint));
	write_line(screen, line);

	sink_format(line, "ran %s",
		    duration->type == CELL_UINT ? units_ns(text, duration->uint) : "-");
	sink_format(line, ", in I/O for %s of it",
		    io->type == CELL_UINT ? units_ns(text, io->uint) : "-");
	if (io->type == CELL_UINT && pick_number(duration))
		sink_format(line, " (%s)", units_share(text, (double)io->uint / duration->uint));
	if (pick_number(survivors))
		sink_format(line, "; %s %s it, untraced", units_count(text, survivors->uint),
			    survivors->uint == 1 ? "process outlived" : "processes outlived");
	write_line(screen, line);
}

/* The columns "PREFIX.NAME": `name` receives NAME; false for other columns. */
static bool has_prefix(const struct table_column *column, const char *prefix, const char **name)
{
	size_t length = strlen(prefix);

	*name = column->name + length;
	return !strncmp(column->name, prefix, length);
}

static void write_lost(struct screen *screen, struct sink *line)
{
	static const char consequence[] = "; totals are exact, the other tables lack them";
	const struct cell *lost = pick_cell(screen->trace, 0, "lost.total");
	const char *name, *between = " (";
	char text[UNITS_TEXT];

	if (lost->type == CELL_UINT && lost->uint == 0) {
		sink_text(line, "lost: none");
		write_line(screen, line);
		return;
	}
	if (lost->type == CELL_UINT)
		sink_format(line, "LOST: %s events", units_count(text, lost->uint));
	else
		sink_text(line, "LOST: unknown (only the end of a trace tells)");
	for (size_t i = 0; screen->trace && i < screen->trace->column_count; i++) {
		const struct cell *cell =
			pick_cell(screen->trace, 0, screen->trace->columns[i].name);

		if (!has_prefix(&screen->trace->columns[i], "lost.by_layer.", &name) ||
		    !pick_number(cell))
			continue;
		sink_format(line, "%s%s %s", between, name, units_count(text, cell->uint));
		between = ", ";
	}
	if (*between == ',')
		sink_char(line, ')');
	if (lost->type == CELL_UINT && line->used + strlen(consequence) <= screen->width)
		sink_text(line, consequence);
	write_line(screen, line);
}

static bool is_incomplete(const struct screen *screen)
{
	const struct cell *complete = pick_cell(screen->trace, 0, "complete");

	return complete->type == CELL_BOOL && !complete->flag;
}

static void write_incomplete(struct screen *screen, struct sink *line)
{
	const struct cell *reason = pick_cell(screen->trace, 0, "incomplete_reason");

	if (!is_incomplete(screen))
		return;
	sink_text(line, "INCOMPLETE: ");
	add_texts(line, reason, "; ");
	if (reason->type == CELL_NULL)
		sink_text(line, "the trace has no end");
	write_line(screen, line);
}

/* "not recorded: block (reason), async (reason)". Without `line` only tells if there is any. */
static bool write_off(struct screen *screen, struct sink *line)
{
	const char *name, *between = "not recorded: ";
	bool any = false;

	for (size_t i = 0; screen->trace && i < screen->trace->column_count; i++) {
		const struct table_column *column = &screen->trace->columns[i];
		size_t length = strlen(column->name);
		char reason[160];
		const struct cell *cell;

		if (!has_prefix(column, "layers.", &name) || length < 6 ||
		    strcmp(column->name + length - 6, ".state") ||
		    !is_text(pick_cell(screen->trace, 0, column->name), "off"))
			continue;
		any = true;
		if (!line)
			continue;
		snprintf(reason, sizeof(reason), "layers.%.*s.reason", (int)strlen(name) - 6, name);
		cell = pick_cell(screen->trace, 0, reason);
		sink_format(line, "%s%.*s", between, (int)strlen(name) - 6, name);
		between = ", ";
		if (cell->type == CELL_TEXT && cell->length)
			sink_format(line, " (%.*s)", (int)cell->length, cell->text);
	}
	if (any && line)
		write_line(screen, line);
	return any;
}

/* --- how much, through which door, to which files -----------------------------------------------
 */

static void write_table(struct screen *screen, const struct table *table)
{
	const struct text_options options = { .width = screen->width, .bare = true };

	text_table(screen->out, table, &options);
}

/* The report has a row for each door and direction, this a row for each door. */
static int make_doors(struct screen *screen, struct table **table)
{
	static const struct pick_column columns[] = {
		{ "door", UNIT_NONE },		{ "read", UNIT_BYTES },	   { "time", UNIT_NS },
		{ "from storage", UNIT_BYTES }, { "written", UNIT_BYTES }, { "time", UNIT_NS },
	};
	int status = pick_new_list(table, NULL, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; screen->doors && i < screen->doors->row_count && !status; i++) {
		const struct cell *door = pick_cell(screen->doors, i, "door");
		bool write = is_text(pick_cell(screen->doors, i, "op"), "write");
		struct cell *row = NULL;

		if (door->type != CELL_TEXT || !pick_number(pick_cell(screen->doors, i, "count")))
			continue;
		for (size_t j = 0; j < (*table)->row_count && !row; j++) {
			row = &(*table)->cells[j * (*table)->column_count];
			if (row->length != door->length ||
			    memcmp(row->text, door->text, door->length))
				row = NULL;
		}
		if (!row) {
			status = table_add_row(*table, &row);
			if (!status)
				status = table_set_text(*table, &row[0], door->text, door->length);
			if (status)
				break;
		}
		row[write ? 4 : 1] = *pick_cell(screen->doors, i, "bytes");
		row[write ? 5 : 2] = *pick_cell(screen->doors, i, "time_ns");
		if (!write)
			row[3] = *pick_cell(screen->doors, i, "fetched_bytes");
	}
	return status;
}

static void add_number(struct cell *sum, const struct cell *cell)
{
	if (cell->type == CELL_UINT)
		cell_uint(sum, pick_number(sum) + cell->uint);
}

static int make_files(struct screen *screen, struct table **table, size_t most)
{
	static const struct pick_column columns[] = {
		{ "file", UNIT_NONE },		{ "time", UNIT_NS },
		{ "read", UNIT_BYTES },		{ "faults", UNIT_COUNT },
		{ "from storage", UNIT_BYTES }, { "written", UNIT_BYTES },
	};
	static const char *const groups[] = { "read", "write", "mmap" };
	int status = pick_new_list(table, NULL, columns, sizeof(columns) / sizeof(columns[0]));

	for (size_t i = 0; screen->files && i < screen->files->row_count && i < most && !status;
	     i++) {
		const struct cell *path = pick_cell(screen->files, i, "path");
		struct cell *row;

		status = table_add_row(*table, &row);
		if (status)
			break;
		for (size_t j = 0; j < sizeof(groups) / sizeof(groups[0]); j++) {
			add_number(&row[1], pick_in(screen->files, i, groups[j], "time_ns"));
			add_number(&row[4], pick_in(screen->files, i, groups[j], "fetched_bytes"));
		}
		row[2] = *pick_cell(screen->files, i, "read.bytes");
		row[3] = *pick_cell(screen->files, i, "mmap.faults");
		row[5] = *pick_cell(screen->files, i, "write.bytes");
		if (path->type == CELL_TEXT)
			status = table_set_text(*table, &row[0], path->text, path->length);
	}
	return status;
}

/* Lines that the parts may take, what matters more first. */
struct budget {
	size_t left;
};

static size_t take(struct budget *budget, size_t wanted)
{
	size_t taken = wanted < budget->left ? wanted : budget->left;

	budget->left -= taken;
	return taken;
}

static void write_gap(struct screen *screen, size_t *gaps)
{
	if (*gaps) {
		sink_char(screen->out, '\n');
		--*gaps;
	}
}

int summary_write(struct sink *out, const struct table *const *tables, size_t count, size_t width)
{
	struct screen screen = { out,
				 width,
				 pick_table(tables, count, "trace"),
				 pick_table(tables, count, "totals"),
				 pick_table(tables, count, "doors"),
				 pick_table(tables, count, "files"),
				 pick_table(tables, count, "findings") };
	struct table *classes = NULL, *doors = NULL, *files = NULL;
	struct budget budget = { SUMMARY_LINES };
	bool finding = screen.findings && screen.findings->row_count;
	size_t file_rows, gaps;
	struct sink line;
	int status;

	sink_open_memory(&line);
	status = classes_make(&classes, screen.trace, screen.totals, true);
	if (!status)
		status = make_doors(&screen, &doors);
	if (status)
		goto out;
	take(&budget, 4 + is_incomplete(&screen) + write_off(&screen, NULL) + finding);
	take(&budget, 1 + classes->row_count + 1); /* with their heading, and that of the files */
	if (doors->row_count > DOORS_MOST)
		doors->row_count = DOORS_MOST;
	if (doors->row_count)
		take(&budget, 1 + doors->row_count);
	file_rows = take(&budget, FILES_MOST - 2);
	gaps = take(&budget, 3);
	file_rows += take(&budget, 2);
	status = make_files(&screen, &files, file_rows);
	if (status)
		goto out;

	write_job(&screen, &line);
	write_incomplete(&screen, &line);
	write_lost(&screen, &line);
	write_off(&screen, &line);
	write_gap(&screen, &gaps);
	write_table(&screen, classes);
	if (doors->row_count) {
		write_gap(&screen, &gaps);
		write_table(&screen, doors);
	}
	if (files->row_count) {
		write_gap(&screen, &gaps);
		write_table(&screen, files);
	}
	if (finding) {
		sink_text(&line, "finding: ");
		add_texts(&line, pick_cell(screen.findings, 0, "title"), " ");
		write_line(&screen, &line);
	}
out:
	table_free(classes);
	table_free(doors);
	table_free(files);
	sink_close(&line);
	return status;
}
