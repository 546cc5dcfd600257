/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first lines of the text report: what ran, and how complete the recording is. */
#include "output/text/headline.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#include "analysis/totals/access.h"
#include "analysis/totals/caveats.h"
#include "analysis/run/trace_table.h"
#include "output/base/escape.h"
#include "output/text/wrap.h"
#include "base/number.h"
#include "base/units.h"

#define HOSTS_NAMED 3  /* more hosts are only counted */
#define COMMAND_MIN 30 /* minimum columns for the command next to host and time */

static bool is_newline(char byte)
{
	return byte == '\n' || byte == '\r';
}

/* Adds a text's first line that is not empty, and "…" if there are more. */
static void add_first_line(struct sink *line, const char *text, size_t length)
{
	size_t first = 0, end;

	while (length && is_newline(text[length - 1]))
		length--;
	while (first < length && is_newline(text[first]))
		first++;
	for (end = first; end < length && !is_newline(text[end]);)
		end++;
	sink_bytes(line, text + first, end - first);
	if (end < length)
		sink_text(line, "…");
}

static void add_texts(struct sink *line, const struct cell *cell, const char *between)
{
	if (cell->type == CELL_TEXT)
		add_first_line(line, cell->text, cell->length);
	for (uint32_t i = 0; cell->type == CELL_TEXTS && i < cell->length; i++) {
		if (i)
			sink_text(line, between);
		add_first_line(line, cell->texts[i].text, cell->texts[i].length);
	}
}

static void add_count(struct sink *line, const struct cell *cell, const char *one, const char *many)
{
	char text[UNITS_TEXT];

	if (cell->type == CELL_UINT && cell->uint)
		sink_format(line, ", %s %s", units_count(text, cell->uint),
			    cell->uint == 1 ? one : many);
}

static bool is_attached(const struct cell *about)
{
	const struct cell *targets = &about[ABOUT_TARGETS];

	return targets->type == CELL_TEXTS && targets->length;
}

/* "python3 train.py", "attached to process 4711 (python3 train.py)" */
static void add_command(struct sink *line, const struct cell *about)
{
	if (is_attached(about)) {
		sink_text(line, "attached to ");
		add_texts(line, &about[ABOUT_TARGETS], ", ");
	} else if (about[ABOUT_COMMAND].type == CELL_NULL) {
		sink_text(line, "(no command)");
	}
	add_texts(line, &about[ABOUT_COMMAND], " ");
}

/* The same without directories: "python3 train.py …/tokens.bin". */
static void add_brief_command(struct sink *line, const struct cell *command)
{
	for (uint32_t i = 0; i < command->length; i++) {
		const struct cell *word = &command->texts[i];
		size_t base = word->length;

		while (base && word->text[base - 1] != '/')
			base--;
		sink_text(line, i ? " " : "");
		if (base > 1 && base < word->length && word->text[0] == '/') {
			sink_text(line, i ? "…/" : "");
			add_first_line(line, word->text + base, word->length - base);
		} else {
			add_first_line(line, word->text, word->length);
		}
	}
}

static void add_trace_count(struct sink *line, const struct cell *about)
{
	const struct cell *files = &about[ABOUT_FILES];

	if (files->type == CELL_TEXTS && files->length > 1)
		sink_format(line, " (%u traces)", files->length);
}

/* ", 2026-11-20 18:11" */
static void add_time(struct sink *line, const struct cell *start)
{
	time_t seconds = start->type == CELL_UINT ? start->uint / 1000000000 : 0;
	struct tm when;
	char text[64];

	if (start->type == CELL_UINT && localtime_r(&seconds, &when) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &when))
		sink_format(line, ", %s", text);
}

/* "node01, Linux 6.18.0, 2026-11-20 18:11" */
static void add_origin(struct sink *line, const struct cell *about)
{
	const struct cell *hosts = &about[ABOUT_HOSTS];

	if (hosts->type == CELL_TEXTS && hosts->length > HOSTS_NAMED)
		sink_format(line, "%u hosts", hosts->length);
	else
		add_texts(line, hosts, ", ");
	sink_text(line, ", Linux ");
	add_texts(line, &about[ABOUT_KERNEL], ", ");
	add_time(line, &about[ABOUT_START]);
}

/* Adds the command as far as there is room. */
static void add_fitting_command(struct sink *line, const struct cell *about, size_t columns)
{
	struct sink command, count;
	size_t left;

	sink_open_memory(&command);
	sink_open_memory(&count);
	add_trace_count(&count, about);
	left = count.used < columns ? columns - count.used : 1;
	add_command(&command, about);
	if (escape_columns(command.buffer, command.used) > left && !is_attached(about) &&
	    about[ABOUT_COMMAND].type == CELL_TEXTS) {
		command.used = 0;
		add_brief_command(&command, &about[ABOUT_COMMAND]);
	}
	escape_cut(line, command.buffer, command.used, left);
	sink_bytes(line, count.buffer, count.used);
	if (!line->error)
		line->error = command.error ? command.error : count.error;
	sink_close(&command);
	sink_close(&count);
}

/* Writes the command and where it ran, on one line if there is room. */
static void write_job(struct sink *out, const struct cell *about, const struct style *style)
{
	struct sink command, origin;
	size_t width, left = style->width;

	sink_open_memory(&command);
	sink_open_memory(&origin);
	add_origin(&origin, about);
	width = escape_columns(origin.buffer, origin.used);
	if (width + 2 + COMMAND_MIN <= style->width)
		left -= width + 2;
	add_fitting_command(&command, about, left);
	style_mark(out, style, STYLE_TITLE);
	sink_bytes(out, command.buffer, command.used);
	style_mark(out, style, STYLE_PLAIN);
	if (left < style->width) {
		size_t taken = escape_columns(command.buffer, command.used);

		sink_repeat(out, ' ', 2 + number_sub(left, taken));
	} else {
		sink_char(out, '\n');
	}
	style_mark(out, style, STYLE_QUIET);
	escape_shortened(out, origin.buffer, origin.used, style->width);
	style_mark(out, style, STYLE_PLAIN);
	sink_char(out, '\n');
	if (!out->error)
		out->error = command.error ? command.error : origin.error;
	sink_close(&command);
	sink_close(&origin);
}

void headline_write_run(struct sink *out, const char *label, const struct table *trace,
			const struct style *style)
{
	const struct cell *about = table_row(trace, 0);
	struct sink line;

	sink_open_memory(&line);
	sink_format(&line, "%s  ", label);
	add_texts(&line, &about[ABOUT_FILES], ", ");
	add_time(&line, &about[ABOUT_START]);
	sink_text(&line, ": ");
	add_command(&line, about);
	add_trace_count(&line, about);
	escape_shortened(out, line.buffer, line.used, style->width);
	sink_char(out, '\n');
	if (!out->error)
		out->error = line.error;
	sink_close(&line);
}

/* Whether the report merges summaries of several runs, so that sums are over runs, too. */
static bool is_put_together(const struct table *caveats)
{
	for (size_t i = 0; i < caveats->row_count; i++) {
		if (cell_is(&table_row(caveats, i)[CAVEAT_ID], SUM_CAVEAT))
			return true;
	}
	return false;
}

/* As in a shell: 128 + N after signal N. */
static void write_exit(struct sink *line, long long code)
{
	const char *signal = code > 128 && code <= 128 + SIGRTMAX ? sigabbrev_np(code - 128) : NULL;

	sink_format(line, ", exit %lld", code);
	if (signal)
		sink_format(line, " (SIG%s)", signal);
}

/* Writes duration, exit code, processes, ranks and I/O time, and whether events were lost. */
static void write_run(struct sink *out, const struct cell *about, const struct table *caveats,
		      const struct table *access, const struct style *style)
{
	const struct cell *duration = &about[ABOUT_DURATION], *code = &about[ABOUT_EXIT];
	const struct cell *io = access->row_count ? &table_row(access, 0)[ACCESS_TIME] : NULL;
	const struct cell *lost = &about[ABOUT_LOST];
	char text[UNITS_TEXT];
	struct sink line;

	sink_open_memory(&line);
	sink_text(&line, is_attached(about) ? "Recorded " : "Ran ");
	if (duration->type != CELL_UINT)
		sink_text(&line, "for an unknown time");
	else
		sink_text(&line, units_ns(text, duration->uint));
	add_count(&line, &about[ABOUT_PROCESSES], "process", "processes");
	add_count(&line, &about[ABOUT_RANKS], "rank", "ranks");
	if (code->type == CELL_INT)
		write_exit(&line, code->sint);
	else if (!is_attached(about))
		sink_text(&line, ", exit unknown");
	sink_char(&line, '.');
	if (io && io->type == CELL_UINT && duration->type == CELL_UINT && duration->uint) {
		const char *bound = io->at_least ? "≥" : "";

		sink_format(&line, " I/O %s%s", bound, units_ns(text, io->uint));
		if (io->summed)
			sink_format(&line, " (thread time%s).",
				    is_put_together(caveats) ? " of all runs" : "");
		else
			sink_format(
				&line, " (%s).",
				units_share_bound(text, bound, (double)io->uint / duration->uint));
	}
	if (lost->type == CELL_UINT && !lost->uint)
		sink_text(&line, " No events lost.");
	sink_bytes(&line, "", 1);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		wrap_text(out, line.buffer, style->width);
	sink_close(&line);
}

static void write_caveat(struct sink *out, const struct cell *caveat, const struct style *style)
{
	const struct cell *weight = &caveat[CAVEAT_WEIGHT], *text = &caveat[CAVEAT_TEXT];
	bool warning = cell_is(weight, "warning");
	struct sink line;

	if (text->type != CELL_TEXT)
		return;
	sink_open_memory(&line);
	sink_text(&line, warning ? "!  " : "   ");
	sink_bytes(&line, text->text, text->length);
	sink_bytes(&line, "", 1);
	style_mark(out, style, warning ? STYLE_BAD : STYLE_QUIET);
	if (line.error)
		out->error = out->error ? out->error : line.error;
	else
		wrap_indented(out, line.buffer, style->width, 3);
	style_mark(out, style, STYLE_PLAIN);
	sink_close(&line);
}

void headline_write(struct sink *out, const struct table *trace, const struct table *caveats,
		    const struct table *access, const struct style *style)
{
	write_job(out, trace->cells, style);
	write_run(out, trace->cells, caveats, access, style);
	for (size_t i = 0; i < caveats->row_count; i++)
		write_caveat(out, table_row(caveats, i), style);
}
