/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "lines": which lines of the program took the time of its threads. */
#include "analysis/stacks/lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/processes/threads.h"
#include "analysis/shared/analysis.h"
#include "analysis/shared/results.h"
#include "collections/compare.h"
#include "base/number.h"

#define LINES_MAX (1u << 18) /* further ones share rows, as do those beyond the memory limit */
#define LINE_CELLS 4	     /* of a table, which take as much memory as a line */
#define KEY_WORDS 5
#define USE_WORDS 4

#define STATES (THREAD_STATE_COUNT + 1) /* of threads; SAMPLE_IO */

struct line {
	uint32_t site; /* SITE_NONE: `reason` says why */
	uint8_t state; /* enum thread_state or SAMPLE_IO */
	const char *reason, *kind;
	int64_t rank;
	struct line_sums sums;
};

struct lines {
	const struct job *job;
	struct arena *arena;
	struct sites sites;
	struct line *all;
	size_t count, room;
	struct map numbers; /* keys -> index in `all` */
	struct line_use *uses;
	size_t use_count, use_room;
	struct map use_numbers; /* site, file, class and kind -> index in `uses` */
	bool overflowed;	/* some are missing */
	size_t max;		/* of either */
	struct {
		uint64_t time_ns;
		uint32_t process, thread, site;
	} unfinished;	/* the longest operation */
	uint32_t *rows; /* of the table: index in `all` */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct lines *lines = state;

	lines->job = job;
	lines->arena = arena;
	lines->max = job_rows_max(job, LINE_CELLS);
	lines->max = number_min(lines->max, LINES_MAX);
	sites_init(&lines->sites, arena, job);
	map_init_in(&lines->numbers, arena, KEY_WORDS, 1);
	map_init_in(&lines->use_numbers, arena, USE_WORDS, 1);
}

/* --- samples --- */

#define REASON_ROOM "too many lines"

/* Returns NULL if out of memory. */
static struct line *find_line(struct lines *lines, const struct line *like)
{
	const uint64_t key[KEY_WORDS] = { like->site, like->state, (uintptr_t)like->reason,
					  (uintptr_t)like->kind, like->rank };
	const uint64_t *number = map_find(&lines->numbers, key);
	struct line *line;
	bool added;

	if (number)
		return &lines->all[*number];
	if (lines->count >= lines->max && like->site != SITE_NONE) {
		struct line other = *like;

		other.site = SITE_NONE;
		other.reason = REASON_ROOM;
		return find_line(lines, &other);
	}
	line = MAP_ITEM(&lines->numbers, key, lines->all, lines->room, lines->count, &added);
	if (line)
		*line = *like;
	return line;
}

static void add_use(struct lines *lines, const struct event *event, const struct line *like,
		    const struct line_sums *sums)
{
	const uint32_t site = like->site;
	struct event_unseen as[2];
	uint64_t key[USE_WORDS] = { site == SITE_NONE ? site : lines->sites.all[site].plain,
				    event->file, IO_NONE, (uintptr_t)like->kind };
	struct line_use *use;
	bool added;

	if (event_unseen(&lines->job->operations[event->operation], as))
		key[2] = as[0].class;
	if (key[2] == IO_NONE)
		return;
	lines->overflowed |= lines->use_count >= lines->max;
	if (lines->overflowed)
		return;
	use = MAP_ITEM(&lines->use_numbers, key, lines->uses, lines->use_room, lines->use_count,
		       &added);
	if (!use)
		return;
	if (added)
		*use = (struct line_use) {
			.site = key[0], .file = event->file, .class = key[2], .kind = like->kind
		};
	line_sums_add(&use->sums, sums);
}

static void add_unfinished(struct lines *lines, const struct event *event, uint32_t site)
{
	const uint64_t time_ns = event->end - event->start;

	if (!(event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_UNFINISHED) ||
	    time_ns <= lines->unfinished.time_ns)
		return;
	lines->unfinished.time_ns = time_ns;
	lines->unfinished.process = event->process;
	lines->unfinished.thread = event->thread;
	lines->unfinished.site = site;
}

/* Returns the line of a sample, without sums. */
static struct line line_of(struct lines *lines, const struct event *event)
{
	const int64_t rank = lines->job->processes.processes[event->process].rank;
	struct line like = {
		.site = sites_find(&lines->sites, event->block->trace,
				   event_value(event, SAMPLE_STACK),
				   event_value(event, SAMPLE_FLAGS) & TRACE_SAMPLE_CUT),
		.state = event_sample_state(lines->job, event),
		.kind = thread_kind(lines->job, event->process, event->thread),
		.rank = rank < 0 ? TABLE_NO_INT : rank,
	};

	if (like.site == SITE_NONE)
		like.reason = line_unknown(lines->job, event);
	return like;
}

static int add_sample(struct lines *lines, const struct event *event)
{
	const struct line like = line_of(lines, event);
	const struct line_sums sums = line_sums_of(lines->job, event, like.state);
	struct line *line = find_line(lines, &like);

	if (!line)
		return -ENOMEM;
	line_sums_add(&line->sums, &sums);
	if (like.state == SAMPLE_IO) {
		add_use(lines, event, &like, &sums);
		add_unfinished(lines, event, like.site);
	}
	return 0;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct lines *lines = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++)
		if (event_is_sample(event))
			status = add_sample(lines, event);
	return status ? status : arena_status(lines->arena);
}

/* --- rows --- */

/* A hostile trace may have any numbers. */
static uint64_t whole_of(double value)
{
	return value < 0x1p63 ? llround(value) : INT64_MAX;
}

static void set_numbers(struct lines_row *row, const double *totals)
{
	const struct line_sums *sums = &row->sums;
	unsigned int state = 0; /* STATES: rows of several states in one */

	while (state < STATES && row->state != sample_state_names[state])
		state++;
	row->time_ns = sums->time_ns;
	row->samples = sums->samples;
	row->estimated_ns = sums->estimated_ns;
	row->estimated_samples = sums->estimated_samples;
	row->uncertainty_ns = whole_of(line_sums_error(sums));
	row->count = state == THREAD_CPU ? TABLE_NO_UINT : whole_of(sums->count);
	row->fetched_bytes = state >= SAMPLE_IO ? whole_of(sums->fetched_bytes) : TABLE_NO_UINT;
	row->share = state < STATES && totals[state] > 0 ? sums->time_ns / totals[state] : NAN;
}

/* "loader.py:42 in TokenDataset.__getitem__", "(stack lost)" */
static void set_location(struct lines_row *row, char text[LOCATION_BYTES])
{
	row->location.bytes = text;
	row->location.length =
		row->reason
			? (size_t)snprintf(text, LOCATION_BYTES, "(%s)", row->reason)
			: site_locate(text, row->shown, row->line != TABLE_NO_UINT ? row->line : 0,
				      row->function);
}

COMPARE_BY(compare_rows, struct lines_row,
	   COMPARE(b->sums.time_ns, a->sums.time_ns) ?:
	   COMPARE(b->sums.samples, a->sums.samples) ?:
	   COMPARE(a->line, b->line))

void lines_add_rows(struct table *table, const struct job *job, struct lines_row *rows,
		    size_t count)
{
	size_t max = job_rows_max(job, table->column_count);
	struct lines_row rest = { .line = TABLE_NO_UINT, .rank = TABLE_NO_INT };
	double totals[STATES] = { 0 };
	char text[LOCATION_BYTES];

	for (size_t i = 0; i < count; i++)
		for (unsigned int state = 0; state < STATES; state++)
			if (rows[i].state == sample_state_names[state])
				totals[state] += rows[i].sums.time_ns;
	if (count)
		qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < count && i < max; i++) {
		set_numbers(&rows[i], totals);
		set_location(&rows[i], text);
		table_add(table, &rows[i]);
	}
	if (count <= max)
		return;
	for (size_t i = max; i < count; i++)
		line_sums_add(&rest.sums, &rows[i].sums);
	set_numbers(&rest, totals);
	rest.location.length =
		snprintf(text, sizeof(text), "other (%zu %s)", count - max, table->name);
	rest.location.bytes = text;
	table->folded = count - max;
	table_add(table, &rest);
}

/* --- columns --- */

#define STATE_MEANING                                                                              \
	"io: in operations and faults, on a CPU or blocked; cpu: on a CPU, which overlaps io; "    \
	"otherwise the state of a thread blocked in another call, as in table threads"

static const struct table_column columns[] = {
	COLUMN(lines_row, location, "location", NONE, FIRST,
	       "file, line and function in one text, with directories only where several files "
	       "have the same name; or why they are unknown"),
	COLUMN(lines_row, state, "state", NONE, KEY, STATE_MEANING),
	COLUMN(lines_row, reason, "unknown", NONE, KEY,
	       "why the line is unknown; null: it is known"),
	COLUMN(lines_row, time_ns, "time", NS, THREAD,
	       "time at this line, summed over threads: estimated from samples"),
	COLUMN(lines_row, share, "of state", SHARE, DERIVED,
	       "share of the time of all lines in this state"),
	COLUMN(lines_row, uncertainty_ns, "±", NS, DERIVED,
	       "standard error of the time: estimated_ns / sqrt(estimated_samples)"),
	COLUMN(lines_row, count, "ops", COUNT, SUM,
	       "operations, or waits: estimated from samples; null for time on a CPU"),
	COLUMN(lines_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes that the operations brought into the page cache: estimated from samples",
	       JOB_PAGECACHE),
	COLUMN(lines_row, samples, "samples", COUNT, SUM, "number of samples"),
	COLUMN(lines_row, estimated_ns, NULL, NS, SUM,
	       "part of the time that is estimated: samples of running threads, and samples that "
	       "stand for many operations shorter than 1 ms; longer operations have exact samples"),
	COLUMN(lines_row, estimated_samples, NULL, COUNT, SUM, "number of samples of that part"),
};

void lines_add_columns(struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(columns));
}

static const struct table_column line_columns[] = {
	COLUMN(lines_row, file, "file", PATH, KEY,
	       "source file of the innermost frame of the application: not in Python's standard "
	       "library, site-packages, dist-packages or Faultline's own package; if there is "
	       "none, of the innermost frame of compiled code outside system directories, or of "
	       "the innermost one"),
	COLUMN(lines_row, line, "line", NONE, KEY, "line in the file"),
	COLUMN(lines_row, function, "function", NONE, KEY, "qualified name of its function"),
	COLUMN(lines_row, library, "in library", NONE, KEY,
	       "innermost frame, if this line called into a library: its file and line, such as "
	       "torch/utils.py:7, or for compiled code its function and file, the C library "
	       "excluded; null: none"),
	COLUMN(lines_row, kind, "thread", NONE, KEY, THREAD_KIND_MEANING),
	COLUMN(lines_row, rank, "rank", NONE, KEY, "rank of the process in the job; null: none"),
};

static const char *why_absent(const struct job *job)
{
	if (job->layers & JOB_STACK)
		return NULL;
	return job->filtered & JOB_STACK ? "samples have no method that a filter could select"
					 : "requires layer stack";
}

bool lines_absent(struct table *table, const struct job *job)
{
	const char *why = why_absent(job);

	if (table_absent_if(table, why, why))
		return true;
	table->recorded = job->layers;
	if (job->stacks.overflow)
		table_set_note(table,
			       "some stacks exceed the memory limit: their lines are unknown");
	return false;
}

static struct lines_row row_of(const struct lines *lines, const struct line *line)
{
	struct lines_row row = {
		.line = TABLE_NO_UINT,
		.reason = line->reason,
		.state = sample_state_names[line->state],
		.kind = line->kind,
		.rank = line->rank,
		.site = SITE_NONE,
		.sums = line->sums,
	};

	if (line->site != SITE_NONE) {
		const struct site *site = &lines->sites.all[line->site];

		row.reason = site->reason;
		row.file = site->file;
		if (site->file.bytes)
			row.shown = (struct table_text) { site->file.bytes + site->shown,
							  site->file.length - site->shown };
		row.function = site->function;
		row.library = site->library;
		row.site = site->plain;
		row.line = site->line ? site->line : TABLE_NO_UINT;
	}
	return row;
}

struct lines_row *lines_rows(const struct results *results, size_t *count)
{
	const struct lines *lines = results_state(results, &analysis_lines);
	struct lines_row *rows = calloc(lines->count + 1, sizeof(*rows));

	*count = lines->count;
	for (size_t i = 0; rows && i < lines->count; i++) {
		rows[i] = row_of(lines, &lines->all[i]);
		rows[i].number = i;
	}
	return rows;
}

const struct line_use *lines_uses(const struct results *results, size_t *count, size_t *sites)
{
	const struct lines *lines = results_state(results, &analysis_lines);

	*count = lines->overflowed ? 0 : lines->use_count;
	*sites = lines->sites.count;
	return lines->uses;
}

size_t lines_locate_unfinished(const struct results *results, uint32_t process, uint32_t thread,
			       char text[LOCATION_BYTES])
{
	const struct lines *lines = results_state(results, &analysis_lines);

	if (!lines->unfinished.time_ns || lines->unfinished.process != process ||
	    lines->unfinished.thread != thread || lines->unfinished.site == SITE_NONE)
		return 0;
	lines_locate(results, lines->unfinished.site, text);
	return strlen(text);
}

uint32_t lines_site(const struct results *results, uint32_t trace, uint64_t stack, bool cut)
{
	struct lines *lines = results_state(results, &analysis_lines);
	const uint32_t site = sites_find(&lines->sites, trace, stack, cut);

	return site == SITE_NONE ? site : lines->sites.all[site].plain;
}

void lines_locate(const struct results *results, uint32_t site, char text[LOCATION_BYTES])
{
	const struct lines *lines = results_state(results, &analysis_lines);
	struct lines_row row = row_of(lines, &(struct line) { .site = site });

	set_location(&row, text);
}

static void fill(void *state, struct table *table)
{
	struct lines *lines = state;

	(void)table;
	sites_show(&lines->sites);
}

static void conclude(const struct results *results, struct table *table)
{
	struct lines *lines = results_state(results, &analysis_lines);
	struct lines_row *rows;
	size_t count;

	if (lines_absent(table, results->job))
		return;
	table_add_columns(table, TABLE_COLUMNS(line_columns));
	lines_add_columns(table);
	rows = lines_rows(results, &count);
	if (rows)
		lines_add_rows(table, results->job, rows, count);
	else
		table_fail(table, -ENOMEM);
	lines->rows = arena_alloc(lines->arena, (count + 1) * sizeof(*lines->rows));
	for (size_t i = 0; rows && lines->rows && i < count; i++)
		lines->rows[i] = rows[i].number;
	free(rows);
}

/* --- over time --- */

static void row_numbers(const void *filled, uint64_t *numbers, size_t count)
{
	const struct lines *lines = filled;

	for (size_t i = 0; i < count; i++)
		numbers[i] = lines->rows[i];
	if (count < lines->count) /* the last one sums up those without room */
		numbers[count - 1] = UINT32_MAX;
}

bool lines_add_to_row(void *filled, const struct event *event, struct sampled_sum *sum)
{
	struct lines *lines = filled;
	struct line_sums sums;
	struct line line;
	const struct line *found;

	if (!event_is_sample(event))
		return false;
	line = line_of(lines, event);
	found = find_line(lines, &line);
	if (!found)
		return false;
	sums = line_sums_of(lines->job, event, line.state);
	sum->number = found - lines->all;
	line_interval(lines->job, event, &sums, &sum->start_ns, &sum->end_ns);
	sum->values[0] = sums.time_ns;
	sum->values[1] = whole_of(sums.fetched_bytes);
	sum->values[2] = sums.estimated_ns;
	sum->values[3] = sums.estimated_samples;
	sum->values[4] = sums.samples;
	sum->values[5] = whole_of(sums.count);
	return true;
}

static const struct sampled line_times = {
	.columns = LINES_SAMPLED,
	.spread = LINES_SPREAD,
	.filled = &analysis_lines,
	.numbers = row_numbers,
	.adds = lines_add_to_row,
	.matters = EVENT_THREAD,
};

/* --- merging reports --- */

/* In a summary, any cell may have any type. Returns STATES for the row of the rest. */
static unsigned int state_of_row(const struct table *table, size_t row)
{
	int column = table_find_column(table, "state");
	unsigned int state = 0;

	while (column >= 0 && state < STATES &&
	       !cell_is(&table_row(table, row)[column], sample_state_names[state]))
		state++;
	return column < 0 ? STATES : state;
}

void lines_remake(const struct report *report, struct table *table)
{
	int share = table_find_column(table, "share");
	int uncertainty = table_find_column(table, "uncertainty_ns");
	double totals[STATES + 1] = { 0 };

	(void)report;
	if (share < 0 || uncertainty < 0)
		return;
	/* With rows summed up over states, the totals are not known. */
	for (size_t row = 0; row < table->row_count && !table->folded; row++)
		totals[state_of_row(table, row)] += table_uint(table, row, "time_ns");
	for (size_t row = 0; row < table->row_count; row++) {
		double total = totals[state_of_row(table, row)];
		struct cell *cells = table_row(table, row);

		cells[share] = (struct cell) { .type = CELL_NULL };
		if (total > 0 && state_of_row(table, row) < STATES)
			cell_real(&cells[share], table_uint(table, row, "time_ns") / total);
		cell_uint(&cells[uncertainty],
			  whole_of(line_sums_error(&(struct line_sums) {
				  .estimated_ns = table_uint(table, row, "estimated_ns"),
				  .estimated_samples =
					  table_uint(table, row, "estimated_samples") })));
	}
}

const struct analysis analysis_lines = {
	.name = "lines",
	.meaning = "time at each line of Python: in operations, blocked, and on a CPU",
	.title = "Lines",
	.shown = "location,time_ns,share,uncertainty_ns,state,kind,count,fetched_bytes,"
		 "library,rank",
	.by = "time_ns",
	.merges = true,
	.shape = TABLE_LIST,
	.aggregated_ok = true,
	.state_bytes = sizeof(struct lines),
	.begin = begin,
	.consumer = { .events = add_events, .matters = EVENT_THREAD },
	.columns = { [TRACE_SAMPLE] = 1ull << SAMPLE_WEIGHT | 1ull << SAMPLE_FETCHED |
				      1ull << SAMPLE_STACK | 1ull << SAMPLE_FLAGS |
				      1ull << SAMPLE_STATE },
	.fill = fill,
	.conclude = conclude,
	.sampled = &line_times,
	.merging = { .sorted = "-time_ns", .many = "lines", .label = "location" },
	.remake = lines_remake,
};
