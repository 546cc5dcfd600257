/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the first screen, part by part. */
#include "output/text/screen.h"

#include <ctype.h>

#include "analysis/totals/access.h"
#include "analysis/totals/caveats.h"
#include "analysis/finding/finding.h"
#include "analysis/run/trace_table.h"
#include "output/text/bars.h"
#include "output/text/grid.h"
#include "output/text/wrap.h"
#include "output/text/headline.h"
#include "output/text/slow_lines.h"
#include "output/text/thread_lines.h"
#include "base/units.h"

#define FINDINGS_MAX 5
#define INDENT 3
#define WAITS_SHOWN_MIN 0.1 /* for CPUs, relative to the CPU work */

struct screen {
	struct sink *out;
	const struct style *style;
	const struct table *trace, *caveats, *findings, *access;
	const struct report *report;
};

/* --- findings --- */

static void write_text(struct screen *screen, struct sink *line, enum style_mark mark)
{
	sink_bytes(line, "", 1);
	style_mark(screen->out, screen->style, mark);
	if (line->error)
		screen->out->error = screen->out->error ? screen->out->error : line->error;
	else
		wrap_indented(screen->out, line->buffer, screen->style->width, INDENT);
	style_mark(screen->out, screen->style, STYLE_PLAIN);
	line->used = 0;
}

/* "HIGH  ", "LOW, startup  " */
static void add_severity(struct sink *line, const struct cell *finding)
{
	const struct finding_rule *rule = finding_rule_of(&finding[FINDING_ID]);
	const struct cell *severity = &finding[FINDING_SEVERITY];

	for (uint32_t i = 0; severity->type == CELL_TEXT && i < severity->length; i++)
		sink_char(line, toupper((unsigned char)severity->text[i]));
	if (rule && rule->startup)
		sink_text(line, ", startup");
	sink_text(line, "  ");
}

/* What a cost is: a bound, or an estimate; "" if it was measured. */
static const char *mark_of_cost(const struct cell *finding)
{
	const struct cell *ns = &finding[FINDING_COST_NS], *is = &finding[FINDING_COST_IS];

	if (ns->summed || cell_is(is, "at most"))
		return "≤";
	if (ns->at_least || cell_is(is, "at least"))
		return "≥";
	return cell_is(is, "estimated") ? "~" : "";
}

/* "505 ms (6.3%)  ", "~505 ms (~6.3%)  ", or "254 MiB  " if the time is unknown */
static void add_cost(struct sink *line, const struct screen *screen, const struct cell *finding)
{
	const struct cell *ns = &finding[FINDING_COST_NS], *bytes = &finding[FINDING_COST_BYTES];
	const struct cell *duration = &screen->trace->cells[ABOUT_DURATION];
	const char *bound = mark_of_cost(finding);
	char text[UNITS_TEXT];

	if (ns->type == CELL_UINT) {
		sink_format(line, "%s%s", bound, units_ns(text, ns->uint));
		if (duration->type == CELL_UINT && duration->uint)
			sink_format(
				line, " (%s)",
				units_share_bound(text, bound, (double)ns->uint / duration->uint));
		sink_text(line, "  ");
	} else if (bytes->type == CELL_UINT) {
		sink_format(line, "%s  ", units_bytes(text, bytes->uint));
	}
}

static enum style_mark mark_of(const struct cell *severity)
{
	return cell_is(severity, "high") ? STYLE_BAD : STYLE_TITLE;
}

static const struct cell *finding_at(const struct screen *screen, size_t number)
{
	return table_row(screen->findings, number);
}

/* Whether a caveat above already covers the finding. */
static bool is_reported(const struct screen *screen, const struct cell *finding)
{
	const struct finding_rule *rule = finding_rule_of(&finding[FINDING_ID]);
	const struct table *caveats = screen->caveats;
	const char *caveat = rule ? rule->caveat : NULL;

	for (size_t i = 0; caveat && i < caveats->row_count; i++)
		if (cell_is(&table_row(caveats, i)[CAVEAT_ID], caveat))
			return true;
	return false;
}

/* In a summary, any cell may have any type. */
static void add_text(struct sink *line, const struct cell *cell)
{
	if (cell->type == CELL_TEXT)
		sink_bytes(line, cell->text, cell->length);
}

/* "; in 12 runs, most on node7" */
static void add_runs(struct sink *line, const struct cell *finding)
{
	const struct cell *runs = &finding[FINDING_RUNS], *host = &finding[FINDING_HOST];
	char count[UNITS_TEXT];

	if (runs->type != CELL_UINT || runs->uint < 2)
		return;
	sink_format(line, "; in %s runs", units_count(count, runs->uint));
	if (host->type == CELL_TEXT)
		sink_text(line, ", most on ");
	add_text(line, host);
}

/* "; of the cost, 2.10 s is CPU work at the same lines and 1.05 s is waiting for a CPU to do it" */
static void add_cpu_work(struct sink *line, const struct cell *finding)
{
	const struct cell *ns = &finding[FINDING_COST_CPU_NS];
	const struct cell *waits = &finding[FINDING_COST_CPU_WAIT_NS];
	char text[UNITS_TEXT];

	if (ns->type != CELL_UINT)
		return;
	sink_format(line, "; of the cost, %s is CPU work at the same lines",
		    units_ns(text, ns->uint));
	if (waits->type == CELL_UINT && waits->uint >= WAITS_SHOWN_MIN * ns->uint)
		sink_format(line, " and %s is waiting for a CPU to do it",
			    units_ns(text, waits->uint));
}

static void write_finding(struct screen *screen, const struct cell *finding, size_t number)
{
	struct sink line;

	sink_open_memory(&line);
	sink_format(&line, "%zu. ", number);
	add_severity(&line, finding);
	add_cost(&line, screen, finding);
	add_text(&line, &finding[FINDING_TITLE]);
	write_text(screen, &line, mark_of(&finding[FINDING_SEVERITY]));
	sink_repeat(&line, ' ', INDENT);
	add_text(&line, &finding[FINDING_SAYS]);
	add_cpu_work(&line, finding);
	add_runs(&line, finding);
	write_text(screen, &line, STYLE_PLAIN);
	if (finding[FINDING_WHERE].type == CELL_TEXT) {
		sink_repeat(&line, ' ', INDENT);
		sink_text(&line, "At ");
		add_text(&line, &finding[FINDING_WHERE]);
		write_text(screen, &line, STYLE_PLAIN);
	}
	sink_repeat(&line, ' ', INDENT);
	sink_text(&line, "Try: ");
	add_text(&line, &finding[FINDING_ADVICE]);
	write_text(screen, &line, STYLE_PLAIN);
	sink_repeat(&line, ' ', INDENT);
	sink_text(&line, "Why: faultline report --explain ");
	add_text(&line, &finding[FINDING_ID]);
	write_text(screen, &line, STYLE_QUIET);
	sink_close(&line);
}

static void write_findings(struct screen *screen)
{
	size_t count = 0;

	sink_char(screen->out, '\n');
	if (screen->findings->absent) {
		wrap_text(screen->out,
			  "Findings unavailable: this trace has no individual operations",
			  screen->style->width);
		return;
	}
	for (size_t i = 0; i < screen->findings->row_count; i++) {
		const struct cell *finding = finding_at(screen, i);

		if (!is_reported(screen, finding) && ++count <= FINDINGS_MAX)
			write_finding(screen, finding, count);
	}
	if (count > FINDINGS_MAX)
		sink_format(screen->out, "   and %zu more (--table findings)\n",
			    count - FINDINGS_MAX);
	if (!count)
		wrap_text(screen->out, report_why_no_findings(screen->report),
			  screen->style->width);
}

/* --- the screen --- */

static void write_list(struct screen *screen, const struct table *table, size_t rows)
{
	const struct grid_options options = { .style = screen->style,
					      .top = rows,
					      .io_ns = access_io_ns(screen->access) };

	if (!table->row_count)
		return;
	sink_char(screen->out, '\n');
	grid_write(screen->out, table, &options);
	if (table->note)
		wrap_text(screen->out, table->note, screen->style->width);
}

/* Whether there were operations, as far as that is known. */
static bool has_io(const struct table *access)
{
	if (!access->row_count)
		return false;
	return access->cells[ACCESS_COUNT].type != CELL_UINT || access->cells[ACCESS_COUNT].uint;
}

void screen_write(struct sink *out, const struct report *report, const struct style *style)
{
	struct screen screen = {
		.out = out,
		.style = style,
		.report = report,
		.trace = report_by(report, &analysis_trace),
		.caveats = report_by(report, &analysis_caveats),
		.findings = report_by(report, &analysis_findings),
		.access = report_by(report, &analysis_access),
	};
	const struct table *access = screen.access;

	headline_write(out, screen.trace, screen.caveats, access, style);
	write_findings(&screen);
	bars_write(out, report_by(report, &analysis_timeline), style);
	thread_lines_write(out, report_by(report, &analysis_thread_kinds), SCREEN_THREAD_KINDS,
			   style);
	slow_lines_write(out, report_by(report, &analysis_lines), SCREEN_LINES, style);
	if (has_io(access))
		write_list(&screen, access, 0);
	write_list(&screen, report_by(report, &analysis_paths), SCREEN_PLACES);
}
