/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What ran and how well it was seen, line by line, from the table "trace". Makes no numbers of its
 * own but the share of I/O in the run.
 */
#include "output/headline.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "output/escape.h"
#include "output/grid.h"
#include "output/pick.h"
#include "units.h"

#define HOSTS_NAMED 4 /* more are counted */

struct headline {
	struct sink *out;
	struct sink line; /* being put together, of any bytes */
	size_t width;
	const struct table *trace, *totals;
};

/* Writes the line, at most as wide as the screen. */
static void end_line(struct headline *head)
{
	escape_shortened(head->out, head->line.buffer, head->line.used, head->width);
	sink_char(head->out, '\n');
	head->line.used = 0;
}

/* The same in up to three lines, for what must be read whole. */
static void end_lines(struct headline *head)
{
	struct sink text;

	sink_open_memory(&text);
	escape_shortened(&text, head->line.buffer, head->line.used, 3 * head->width - 40);
	sink_bytes(&text, "", 1);
	if (text.error)
		head->out->error = head->out->error ? head->out->error : text.error;
	else
		grid_wrapped(head->out, text.buffer, head->width);
	sink_close(&text);
	head->line.used = 0;
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

static bool is_text(const struct cell *cell, const char *text)
{
	return cell->type == CELL_TEXT && cell->length == strlen(text) &&
	       !memcmp(cell->text, text, cell->length);
}

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

static void write_job(struct headline *head)
{
	const struct cell *files = pick_cell(head->trace, 0, "files");
	const struct cell *hosts = pick_cell(head->trace, 0, "hosts");
	const struct cell *command = pick_cell(head->trace, 0, "command");
	const struct cell *events = pick_cell(head->trace, 0, "events");
	const struct cell *duration = pick_cell(head->trace, 0, "duration_ns");
	const struct cell *io = pick_cell(head->totals, 0, "io.time_ns");
	const struct cell *survivors = pick_cell(head->trace, 0, "survivors");
	char text[UNITS_TEXT];

	if (command->type == CELL_NULL)
		sink_text(&head->line, "(no command)");
	add_texts(&head->line, command, " ");
	if (files->type == CELL_TEXTS && files->length > 1)
		sink_format(&head->line, " (%u traces)", files->length);
	end_line(head);

	sink_text(&head->line, "on ");
	if (hosts->type == CELL_TEXTS && hosts->length > HOSTS_NAMED)
		sink_format(&head->line, "%u hosts", hosts->length);
	else
		add_texts(&head->line, hosts, ", ");
	sink_text(&head->line, ", Linux ");
	add_texts(&head->line, pick_cell(head->trace, 0, "kernel"), ", ");
	write_start(&head->line, pick_cell(head->trace, 0, "start_unix_ns"));
	write_exit(&head->line, pick_cell(head->trace, 0, "exit_code"));
	if (events->type == CELL_UINT)
		sink_format(&head->line, ", %s events", units_count(text, events->uint));
	end_lines(head);

	sink_format(&head->line, "ran %s",
		    duration->type == CELL_UINT ? units_ns(text, duration->uint) : "-");
	sink_format(&head->line, ", in I/O for %s of it",
		    io->type == CELL_UINT ? units_ns(text, io->uint) : "-");
	if (io->type == CELL_UINT && pick_number(duration))
		sink_format(&head->line, " (%s)",
			    units_share(text, (double)io->uint / duration->uint));
	if (pick_number(survivors))
		sink_format(&head->line, "; %s %s it, untraced", units_count(text, survivors->uint),
			    survivors->uint == 1 ? "process outlived" : "processes outlived");
	end_line(head);
}

/* The columns "PREFIX.NAME": `name` receives NAME; false for other columns. */
static bool has_prefix(const struct table_column *column, const char *prefix, const char **name)
{
	size_t length = strlen(prefix);

	if (strncmp(column->name, prefix, length))
		return false;
	*name = column->name + length;
	return true;
}

static void write_lost(struct headline *head)
{
	const struct cell *lost = pick_cell(head->trace, 0, "lost.total");
	const char *name, *between = " (";
	char text[UNITS_TEXT];

	if (lost->type == CELL_UINT && lost->uint == 0) {
		sink_text(&head->line, "lost: none");
		end_line(head);
		return;
	}
	if (lost->type == CELL_UINT)
		sink_format(&head->line, "LOST: %s events", units_count(text, lost->uint));
	else
		sink_text(&head->line, "LOST: unknown (only the end of a trace tells)");
	for (size_t i = 0; head->trace && i < head->trace->column_count; i++) {
		const struct cell *cell = pick_cell(head->trace, 0, head->trace->columns[i].name);

		if (!has_prefix(&head->trace->columns[i], "lost.by_layer.", &name) ||
		    !pick_number(cell))
			continue;
		sink_format(&head->line, "%s%s %s", between, name, units_count(text, cell->uint));
		between = ", ";
	}
	if (*between == ',')
		sink_char(&head->line, ')');
	if (lost->type == CELL_UINT)
		sink_text(&head->line, "; totals are exact, the other tables lack them");
	end_lines(head);
}

/* Programs that gained rights which the owner of the trace does not have. */
static void write_not_followed(struct headline *head)
{
	const struct cell *programs = pick_cell(head->trace, 0, "not_followed");

	if (programs->type != CELL_TEXTS || !programs->length)
		return;
	sink_text(&head->line,
		  "NOT FOLLOWED, for they run with other rights (root may trace them): ");
	add_texts(&head->line, programs, ", ");
	end_lines(head);
}

static bool is_incomplete(const struct headline *head)
{
	const struct cell *complete = pick_cell(head->trace, 0, "complete");

	return complete->type == CELL_BOOL && !complete->flag;
}

static void write_incomplete(struct headline *head)
{
	const struct cell *reason = pick_cell(head->trace, 0, "incomplete_reason");

	if (!is_incomplete(head))
		return;
	sink_text(&head->line, "INCOMPLETE: ");
	add_texts(&head->line, reason, "; ");
	if (reason->type == CELL_NULL)
		sink_text(&head->line, "the trace has no end");
	end_lines(head);
}

/* "not recorded: block (reason), async (reason)" */
static void write_off(struct headline *head)
{
	static const char suffix[] = ".state";
	const char *name, *between = "not recorded: ";

	for (size_t i = 0; head->trace && i < head->trace->column_count; i++) {
		const struct table_column *column = &head->trace->columns[i];
		const struct cell *reason;
		char layer[64];
		int length;

		if (!has_prefix(column, "layers.", &name))
			continue;
		length = (int)strlen(name) - (int)strlen(suffix);
		if (length <= 0 || length >= (int)sizeof(layer) || strcmp(name + length, suffix) ||
		    !is_text(pick_cell(head->trace, 0, column->name), "off"))
			continue;
		snprintf(layer, sizeof(layer), "layers.%.*s", length, name);
		reason = pick_in(head->trace, 0, layer, "reason");
		sink_format(&head->line, "%s%.*s", between, length, name);
		between = ", ";
		if (reason->type == CELL_TEXT && reason->length)
			sink_format(&head->line, " (%.*s)", (int)reason->length, reason->text);
	}
	if (head->line.used)
		end_line(head);
}

void headline_write(struct sink *out, const struct table *trace, const struct table *totals,
		    size_t width)
{
	struct headline head = { .out = out, .width = width, .trace = trace, .totals = totals };

	sink_open_memory(&head.line);
	write_job(&head);
	write_incomplete(&head);
	write_lost(&head);
	write_not_followed(&head);
	write_off(&head);
	if (head.line.error)
		out->error = out->error ? out->error : head.line.error;
	sink_close(&head.line);
}
