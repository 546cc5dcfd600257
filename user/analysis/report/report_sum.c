/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Merges reports of several runs. Runs are put on one clock like traces of a job (clock.h). */
#include "analysis/report/report_sum.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/totals/caveats.h"
#include "analysis/run/clocks.h"
#include "base/clock.h"
#include "analysis/report/report_parts.h"
#include "analysis/run/trace_table.h"
#include "collections/grow.h"
#include "base/number.h"
#include "base/units.h"
#include "base/strbuf.h"

/* Limit on rows that belong to a single run, divided among all summaries, so that memory for a
 * thousand of them is bounded. */
#define SINGLE_ROWS_MAX (1u << 17)
#define UNKNOWN_NAME_BYTES 41 /* of a table's name, in a note; NUL included */

/* State of an analysis's table. */
struct summand {
	struct merged merged;
	bool started;
	size_t lacking; /* runs without the table */
	char *why;	/* the first reason for that */
	char *note;	/* of the tables, if all have the same one */
	bool notes_differ;
};

/* Clocks of one boot are shifted by what its first run says. */
struct boot {
	char *id, *host;
	struct clock_shift clock;
	uint64_t first_ns, last_ns; /* of its runs; 0: none yet */
};

struct report_sum {
	size_t summaries, traces; /* for messages */
	const struct analysis *const *analyses;
	struct summand *summands; /* one for each analysis */
	size_t count;
	size_t runs; /* so far */
	uint64_t start_ns, end_ns;
	uint64_t first_ns, last_ns; /* between which all events are */
	struct boot *boots;
	size_t boot_count, boot_room;
	struct strbuf unknown; /* names of tables of a newer version */
};

int report_sum_new(struct report_sum **result, size_t summaries, size_t traces)
{
	struct report_sum *sum = calloc(1, sizeof(*sum));

	*result = sum;
	if (!sum)
		return -ENOMEM;
	sum->summaries = summaries;
	sum->traces = traces;
	sum->analyses = report_analyses(&sum->count);
	sum->summands = calloc(sum->count, sizeof(*sum->summands));
	return sum->summands ? 0 : -ENOMEM;
}

void report_sum_free(struct report_sum *sum)
{
	if (!sum)
		return;
	for (size_t i = 0; sum->summands && i < sum->count; i++) {
		if (sum->summands[i].started)
			merged_free(&sum->summands[i].merged);
		free(sum->summands[i].why);
		free(sum->summands[i].note);
	}
	for (size_t i = 0; i < sum->boot_count; i++) {
		free(sum->boots[i].id);
		free(sum->boots[i].host);
	}
	free(sum->boots);
	free(sum->summands);
	free(sum);
}

/* --- time and host of a run --- */

static const struct table *named(struct table *const *tables, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(tables[i]->name, name))
			return tables[i];
	return NULL;
}

static const struct cell *cell_named(const struct table *table, const char *name)
{
	int column = table_find_column(table, name);

	return column < 0 || !table->row_count ? NULL : &table->cells[column];
}

static struct boot *find_boot(const struct report_sum *sum, const struct trace_header *like)
{
	for (size_t i = 0; i < sum->boot_count && like->boot_id[0]; i++)
		if (!strcmp(sum->boots[i].id, like->boot_id))
			return &sum->boots[i];
	return NULL;
}

/* Converts a time of a run to the clock of the first run of its boot. A run of several hosts is
 * shifted like its first trace. */
static uint64_t moved(const struct report_sum *sum, const struct trace_header *like,
		      uint64_t time_ns)
{
	const struct clock_shift own =
		clock_shift_of(like->clock_monotonic_ns, like->clock_realtime_ns);
	const struct boot *boot = find_boot(sum, like);

	if (!boot)
		return time_ns;
	time_ns = number_sub(number_add(time_ns, own.back), own.forward);
	return clock_shifted(boot->clock, time_ns);
}

int report_sum_expect(struct report_sum *sum, const struct trace_header *like)
{
	const struct clock_shift own =
		clock_shift_of(like->clock_monotonic_ns, like->clock_realtime_ns);
	struct boot *boot;

	if (find_boot(sum, like))
		return 0;
	if (!GROW(sum->boots, sum->boot_room, sum->boot_count + 1))
		return -ENOMEM;
	boot = &sum->boots[sum->boot_count++];
	*boot = (struct boot) { strdup(like->boot_id), strdup(like->host), own, 0, 0 };
	return boot->id && boot->host ? 0 : -ENOMEM;
}

/* Moves the origin of times that were added so far to an earlier start. */
static void begin_earlier(struct report_sum *sum, uint64_t start_ns)
{
	for (size_t i = 0; i < sum->count; i++)
		if (sum->summands[i].started)
			merged_shift(&sum->summands[i].merged, sum->start_ns - start_ns);
	sum->start_ns = start_ns;
}

/* check_run must have accepted `trace`. */
static void place_run(struct report_sum *sum, const struct table *trace,
		      const struct report_run *run, struct merge_source *source)
{
	const struct cell *start = cell_named(trace, "start_unix_ns");
	const struct cell *duration = cell_named(trace, "duration_ns");
	struct boot *boot = find_boot(sum, run->header);
	uint64_t start_ns, end_ns, first_ns, last_ns;

	start_ns = moved(sum, run->header, start->uint);
	end_ns = number_add(start_ns, duration->uint);
	first_ns = moved(sum, run->header, run->first_ns);
	last_ns = moved(sum, run->header, run->last_ns);
	source->disjoint = !sum->runs || first_ns >= sum->last_ns || last_ns <= sum->first_ns;
	if (!sum->runs || first_ns < sum->first_ns)
		sum->first_ns = first_ns;
	if (last_ns > sum->last_ns)
		sum->last_ns = last_ns;
	if (!sum->runs)
		sum->start_ns = start_ns;
	else if (start_ns < sum->start_ns)
		begin_earlier(sum, start_ns);
	source->shift = start_ns - sum->start_ns;
	if (end_ns > sum->end_ns)
		sum->end_ns = end_ns;
	if (boot && (!boot->last_ns || first_ns < boot->first_ns))
		boot->first_ns = first_ns;
	if (boot && last_ns > boot->last_ns)
		boot->last_ns = last_ns;
	sum->runs++;
}

static int check_run(const struct table *trace, struct trace_error *error)
{
	const struct cell *start = trace ? cell_named(trace, "start_unix_ns") : NULL;
	const struct cell *duration = trace ? cell_named(trace, "duration_ns") : NULL;

	if (start && duration && start->type == CELL_UINT && duration->type == CELL_UINT)
		return 0;
	snprintf(error->text, sizeof(error->text),
		 "the summary is damaged: the time of the run is missing");
	return -EINVAL;
}

/* --- tables --- */

/* Returns the type of cells that a getter fills, CELL_NULL for any. */
static enum cell_type type_of(table_getter *get)
{
	static const struct {
		table_getter *get;
		enum cell_type type;
	} types[] = {
		{ table_get_uint, CELL_UINT }, { table_get_int, CELL_INT },
		{ table_get_real, CELL_REAL }, { table_get_bool, CELL_BOOL },
		{ table_get_text, CELL_TEXT }, { table_get_literal, CELL_TEXT },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].get == get)
			return types[i].type;
	return CELL_NULL;
}

/* Code that takes a column by its number takes its type for granted. */
static int check_types(const struct analysis *analysis, const struct table *table,
		       struct trace_error *error)
{
	for (size_t i = 0; i < analysis->merging.fixed_count; i++) {
		const struct table_column *fixed = &analysis->merging.fixed[i];
		enum cell_type type = type_of(fixed->get);
		int column = table_find_column(table, fixed->name);

		for (size_t row = 0; column >= 0 && type && row < table->row_count; row++) {
			const struct cell *cell = &table_row(table, row)[column];

			if (cell->type == CELL_NULL || cell->type == type)
				continue;
			snprintf(error->text, sizeof(error->text),
				 "the summary is damaged: %.40s.%.40s has the wrong type",
				 analysis->name, fixed->name);
			return -EINVAL;
		}
	}
	return 0;
}

static int check_table(const struct analysis *analysis, const struct table *table,
		       struct trace_error *error)
{
	if (table->absent)
		return 0;
	if (table->shape == analysis->shape)
		return check_types(analysis, table, error);
	snprintf(error->text, sizeof(error->text),
		 "the summary is damaged: %.40s has the wrong shape", analysis->name);
	return -EINVAL;
}

/* Must run before anything of it is added. */
static int check_all(const struct report_sum *sum, struct table *const *tables, size_t count,
		     struct trace_error *error)
{
	int status = check_run(named(tables, count, "trace"), error);

	for (size_t i = 0; i < sum->count && !status; i++) {
		const struct table *table = named(tables, count, sum->analyses[i]->name);

		status = table ? check_table(sum->analyses[i], table, error) : 0;
	}
	return status;
}

static int keep_note(struct summand *summand, const char *note)
{
	const char *known = summand->note ? summand->note : "";

	if (summand->started) {
		summand->notes_differ |= strcmp(known, note ? note : "") != 0;
		return 0;
	}
	summand->note = note ? strdup(note) : NULL;
	return note && !summand->note ? -ENOMEM : 0;
}

static int add_table(struct report_sum *sum, size_t number, const struct table *table,
		     const struct merge_source *source)
{
	const struct analysis *analysis = sum->analyses[number];
	struct summand *summand = &sum->summands[number];
	struct table like = *table;
	int status;

	if (table->absent) {
		summand->lacking++;
		if (!summand->why && table->note)
			summand->why = strdup(table->note);
		return 0;
	}
	status = keep_note(summand, table->note);
	if (!status && !summand->started) {
		like.title = analysis->title;
		like.meaning = analysis->meaning;
		like.note = NULL;
		summand->started = true;
		status = merged_begin(&summand->merged, &analysis->merging, &like);
	}
	return status ? status : merged_add(&summand->merged, table, source);
}

int report_sum_bound(struct report_sum *sum, struct table **tables, size_t count)
{
	size_t max = SINGLE_ROWS_MAX / (sum->summaries ? sum->summaries : 1);
	int status = 0;

	for (size_t i = 0; i < sum->count && !status; i++) {
		const struct analysis *analysis = sum->analyses[i];
		const bool bounded = analysis->merging.single || analysis->merging.many_single;

		for (size_t j = 0; bounded && j < count && !status; j++) {
			int by = table_find_column(tables[j], analysis->by);

			if (strcmp(tables[j]->name, analysis->name) ||
			    tables[j]->shape != TABLE_LIST)
				continue;
			tables[j]->view.by = by < 0 ? TABLE_NO_COLUMN : (size_t)by;
			status = merging_fold(&analysis->merging, &tables[j], max ? max : 1);
		}
	}
	return status;
}

/* Adds a name to a list "a, b", once. */
static void add_unknown(struct strbuf *list, const char *name)
{
	char cut[UNKNOWN_NAME_BYTES];
	size_t length;

	snprintf(cut, sizeof(cut), "%s", name);
	length = strlen(cut);
	for (const char *at = list->bytes; length && (at = strstr(at, cut)); at++)
		if ((at == list->bytes || at[-1] == ' ') && (!at[length] || at[length] == ','))
			return;
	strbuf_join(list, ", ", "%s", cut);
}

int report_sum_add(struct report_sum *sum, struct table *const *tables, size_t count,
		   const struct report_run *run, struct trace_error *error)
{
	struct merge_source source = { .shift = 0 };
	int status = check_all(sum, tables, count, error);

	if (!status)
		place_run(sum, named(tables, count, "trace"), run, &source);
	for (size_t i = 0; i < sum->count && !status; i++) {
		const struct table *table = named(tables, count, sum->analyses[i]->name);

		if (table)
			status = add_table(sum, i, table, &source);
		else
			sum->summands[i].lacking++;
	}
	for (size_t i = 0; i < count && !status; i++) {
		size_t known = 0;

		while (known < sum->count && strcmp(sum->analyses[known]->name, tables[i]->name))
			known++;
		if (known == sum->count)
			add_unknown(&sum->unknown, tables[i]->name);
	}
	return status;
}

/* --- finishing --- */

/* "1 of 3 runs has no such data (no spans were marked); 12 files did not fit ..." */
static void set_note(struct report_sum *sum, size_t number, struct table *table)
{
	const struct summand *summand = &sum->summands[number];
	const struct merging *merging = &sum->analyses[number]->merging;
	struct strbuf note = { .used = 0 };
	char count[UNITS_TEXT];

	if (summand->note && !summand->notes_differ)
		strbuf_add(&note, "%s", summand->note);
	if (summand->lacking && sum->runs > 1)
		strbuf_clause(&note, "%zu of %zu runs %s no such data%s%.200s%s", summand->lacking,
			      sum->runs, summand->lacking == 1 ? "has" : "have",
			      summand->why ? " (" : "", summand->why ? summand->why : "",
			      summand->why ? ")" : "");
	if (table->folded)
		strbuf_clause(&note, "%s %s did not fit in a summary and share the last row",
			      units_count(count, table->folded),
			      merging->many ? merging->many : "rows");
	if (table->cut)
		strbuf_clause(&note, "%s further %s did not fit in a summary",
			      units_count(count, table->cut),
			      merging->many ? merging->many : "rows");
	if (note.used)
		table_set_note(table, note.bytes);
}

static void set_absent(struct report_sum *sum, size_t number, struct table *table)
{
	const struct summand *summand = &sum->summands[number];
	struct strbuf note = { .used = 0 };

	table->absent = true;
	if (summand->started && sum->analyses[number]->merging.alone)
		strbuf_add(&note,
			   "requires the events of all runs, but some runs have only summaries");
	else if (summand->started)
		strbuf_add(&note, "%zu of %zu runs %s no such data%s%.200s%s", summand->lacking,
			   sum->runs, summand->lacking == 1 ? "has" : "have",
			   summand->why ? " (" : "", summand->why ? summand->why : "",
			   summand->why ? ")" : "");
	else
		strbuf_add(&note, "%s", summand->why ? summand->why : "not in any summary");
	table_set_note(table, note.bytes);
}

/* Where sums replace unknown unions, the title says so. */
static void mark_sums(struct table *table)
{
	for (size_t i = 0; i < table->column_count; i++) {
		const char *title = table->columns[i].title;
		bool summed = false;
		char text[160];

		for (size_t row = 0; row < table->row_count && !summed; row++) {
			const struct cell *cell = &table_row(table, row)[i];

			summed = cell->summed && cell->type != CELL_NULL;
		}
		if (!summed || !title || strstr(title, "thread time") || strstr(title, ", summed"))
			continue;
		snprintf(text, sizeof(text), "%.120s, summed", title);
		table_set_title(table, i, text);
	}
}

static int finish_table(struct report_sum *sum, size_t number, struct report *report)
{
	const struct merging *merging = &sum->analyses[number]->merging;
	struct summand *summand = &sum->summands[number];
	int status;

	if (!summand->started || (merging->alone && sum->runs > 1) ||
	    (merging->whole && summand->lacking)) {
		set_absent(sum, number, report->tables[number]);
		return table_status(report->tables[number]);
	}
	status = merged_finish(&summand->merged);
	if (status)
		return status;
	table_free(report->tables[number]);
	report->tables[number] = merged_take(&summand->merged);
	set_note(sum, number, report->tables[number]);
	if (sum->runs > 1)
		mark_sums(report->tables[number]);
	return table_status(report->tables[number]);
}

static void set_run(struct report_sum *sum, struct report *report)
{
	const struct table *trace = report_by(report, &analysis_trace);

	if (!trace->row_count)
		return;
	trace->cells[ABOUT_START] = (struct cell) { .type = CELL_UINT, .uint = sum->start_ns };
	trace->cells[ABOUT_DURATION] =
		(struct cell) { .type = CELL_UINT, .uint = number_sub(sum->end_ns, sum->start_ns) };
	report->first_ns = sum->first_ns;
	report->last_ns = sum->last_ns;
	report->all_aggregated = cell_is(&trace->cells[ABOUT_MODE], "profile");
}

static void add_caveat(struct table *caveats, const char *id, const char *weight, const char *text)
{
	struct cell *cells = table_add_row(caveats);

	if (!cells)
		return;
	table_set_literal(caveats, &cells[CAVEAT_ID], id);
	table_set_literal(caveats, &cells[CAVEAT_WEIGHT], weight);
	table_set_literal(caveats, &cells[CAVEAT_TEXT], text);
}

static void say_clocks(const struct report_sum *sum, struct table *caveats)
{
	struct host_time *hosts = calloc(sum->boot_count + 1, sizeof(*hosts));
	struct strbuf text = { .used = 0 };
	size_t count = 0;

	for (size_t i = 0; hosts && i < sum->boot_count; i++) {
		const struct boot *boot = &sum->boots[i];

		if (boot->last_ns)
			hosts[count++] =
				(struct host_time) { boot->host, boot->first_ns, boot->last_ns };
	}
	table_fail(caveats, hosts ? 0 : -ENOMEM);
	clocks_write_gap(&text, hosts, count);
	free(hosts);
	if (text.used)
		add_caveat(caveats, CLOCKS_CAVEAT, "note", text.bytes);
}

static int say_summaries(struct report_sum *sum, struct report *report)
{
	struct table *caveats = NULL;
	struct strbuf text = { .used = 0 };

	for (size_t i = 0; i < sum->count; i++)
		if (sum->analyses[i] == &analysis_caveats)
			caveats = report->tables[i];
	if (!caveats || caveats->absent)
		return 0;
	strbuf_add(&text, "merged from %zu %s", sum->summaries,
		   sum->summaries == 1 ? "summary" : "summaries");
	if (sum->traces)
		strbuf_add(&text, " and %zu %s", sum->traces,
			   sum->traces == 1 ? "trace" : "traces");
	if (sum->runs > 1)
		strbuf_add(&text, ": times to which several of them contribute are sums, because "
				  "their overlap is unknown; findings on files, writes, queues, "
				  "lookups, epochs and ranks cover all runs together (unless some "
				  "computed and others did not), other findings single runs");
	add_caveat(caveats, SUM_CAVEAT, "note", text.bytes);
	if (sum->unknown.used) {
		text = (struct strbuf) { .used = 0 };
		strbuf_add(
			&text,
			"summaries of a newer version: their tables %.300s are unknown to this one",
			sum->unknown.bytes);
		add_caveat(caveats, "newer", "warning", text.bytes);
	}
	say_clocks(sum, caveats);
	return table_status(caveats);
}

/* A summary of another version may lack columns: then all existing ones are shown. */
static int show(const struct analysis *analysis, const struct report *report, struct table *table,
		struct trace_error *error)
{
	int status = report_show(analysis, report->all_aggregated, table, error);

	if (status != -EINVAL)
		return status;
	table->view.shown_count = 0;
	table->view.by = table->view.only = TABLE_NO_COLUMN;
	return 0;
}

int report_sum_finish(struct report_sum *sum, struct report **report, struct trace_error *error)
{
	int status = report_new(report);

	for (size_t i = 0; i < sum->count && !status; i++)
		status = finish_table(sum, i, *report);
	if (!status) {
		set_run(sum, *report);
		(*report)->runs = sum->runs;
	}
	for (size_t i = 0; i < sum->count && !status && sum->runs > 1; i++)
		if (sum->analyses[i]->remake && !(*report)->tables[i]->absent) {
			sum->analyses[i]->remake(*report, (*report)->tables[i]);
			status = table_status((*report)->tables[i]);
		}
	if (!status)
		status = say_summaries(sum, *report);
	for (size_t i = 0; i < sum->count && !status; i++)
		status = show(sum->analyses[i], *report, (*report)->tables[i], error);
	return status;
}
