/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Table "trace": what ran, where and for how long, what was recorded and what was lost. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/run/loss.h"
#include "analysis/run/trace_table.h"
#include "analysis/run/header_texts.h"
#include "collections/map.h"
#include "analysis/shared/results.h"
#include "base/number.h"

#define LAYERS_MAX 64
#define NOTES_MAX 32
#define NAME_BYTES_MAX 32 /* bytes of a name that becomes part of a column name */

/* A layer of any trace. Lost events are known only for complete traces. */
struct layer_row {
	const char *name, *attach, *reason;
	const char *state; /* "on" or "off" */
	bool listed;	   /* in a header, so it can be switched, unlike file identities */
	bool on;
	uint64_t lost;
};

struct about {
	struct header_texts texts; /* must come first: its getters use it */
	struct layer_row layers[LAYERS_MAX];
	size_t layer_count;
	struct trace_note notes[NOTES_MAX]; /* counts of complete traces */
	size_t note_count;
	uint64_t rows; /* of incomplete traces, where only rows can be counted */
	int64_t exit_code;
	uint64_t start_ns, duration_ns, events, survivors, lost, unaccounted, processes, ranks;
	uint64_t overwritten; /* by flight recorders */
	double cpu_limit;
	uint64_t cpus, memory_bytes, cgroup_memory_bytes, dirty_bytes;
	bool complete, lower_bounds;
	const char *cause; /* main cause of loss */
};

/* --- layers --- */

/* Layer names become column names: only plausible names are accepted. */
static bool name_fits(const char *name)
{
	size_t length =
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return length && length <= NAME_BYTES_MAX && !name[length];
}

static struct layer_row *layer_of(struct about *about, const char *name)
{
	if (!name_fits(name))
		return NULL;
	for (size_t i = 0; i < about->layer_count; i++)
		if (!strcmp(about->layers[i].name, name))
			return &about->layers[i];
	if (about->layer_count == LAYERS_MAX)
		return NULL;
	about->layers[about->layer_count].name = name;
	return &about->layers[about->layer_count++];
}

/* A layer is on if any trace has it; the reason why it is off in another trace is kept. */
static void take_layers(struct about *about, const struct job_trace *trace)
{
	for (size_t i = 0; i < trace->header->layer_count; i++) {
		const struct trace_layer *from = &trace->header->layers[i];
		struct layer_row *layer = layer_of(about, from->name);

		if (!layer)
			continue;
		layer->listed = true;
		layer->on |= from->on;
		if (!layer->attach)
			layer->attach = from->attach;
		if (!layer->reason)
			layer->reason = from->reason;
	}
	for (size_t i = 0; trace->totals && i < trace->totals->kind_count; i++) {
		const struct trace_kind_total *kind = &trace->totals->kinds[i];
		struct layer_row *layer = kind->events ? layer_of(about, kind->layer) : NULL;

		if (layer)
			layer->lost = number_add(layer->lost, kind->lost);
	}
}

unsigned int trace_layers(const struct table *trace)
{
	static const char begin[] = "layers.", end[] = ".state";
	unsigned int layers = 0;
	char name[NAME_BYTES_MAX];

	for (size_t i = 0; i < trace->column_count && trace->row_count; i++) {
		const char *column = trace->columns[i].name;
		size_t length = strlen(column), ends = strlen(begin) + strlen(end);

		if (length <= ends || length - ends >= sizeof(name) ||
		    strncmp(column, begin, strlen(begin)) != 0 ||
		    strcmp(column + length - strlen(end), end) != 0 ||
		    !cell_is(&trace->cells[i], "on"))
			continue;
		memcpy(name, column + strlen(begin), length - ends);
		name[length - ends] = '\0';
		layers |= job_layer(name);
	}
	return layers | (layers & JOB_FAULT ? JOB_DIRTIED : 0) |
	       (layers & JOB_PAGECACHE ? JOB_THROTTLED : 0);
}

/* --- notes --- */

static void name_note(struct about *about, const char *name)
{
	for (size_t i = 0; i < about->note_count; i++)
		if (!strcmp(about->notes[i].name, name))
			return;
	if (about->note_count == NOTES_MAX || !name_fits(name))
		return;
	about->notes[about->note_count++].name = name;
}

/* NOTE_ALWAYS: has a column even if no trace has it; NOTE_TIME: in ns, others are counts. */
static const struct known_note {
	const char *name, *meaning;
	enum { NOTE_RARE, NOTE_ALWAYS, NOTE_TIME } shape;
} known_notes[] = {
	{ TRACE_NOTE_UNFOLLOWED, "child processes not followed for lack of memory", NOTE_ALWAYS },
	{ TRACE_NOTE_UNTIMED, "page faults whose start, end or both were missed", NOTE_ALWAYS },
	{ TRACE_NOTE_ENDED_UNSEEN,
	  "programs that exited before it was known whether they mark spans", NOTE_ALWAYS },
	{ TRACE_NOTE_ASYNC_BEFORE, "asynchronous operations submitted before the recording began",
	  NOTE_ALWAYS },
	{ TRACE_NOTE_SPANS_BEFORE, "spans that were open when the recording attached",
	  NOTE_ALWAYS },
	{ TRACE_NOTE_SPANS_UNCOUNTED,
	  "traces with too many spans or processes to count lost begins of spans", NOTE_RARE },
	{ TRACE_NOTE_BIOS_UNSEEN, "block I/Os whose completion was missed; they have no events",
	  NOTE_ALWAYS },
	{ TRACE_NOTE_BIOS_UNDER_WAY,
	  "block I/Os in flight at the end, or whose completion was missed", NOTE_ALWAYS },
	{ TRACE_NOTE_PYTHON_WHOLE, "samples whose Python stack is known completely", NOTE_RARE },
	{ TRACE_NOTE_PYTHON_CUT,
	  "samples whose Python stack lacks outer frames: more than 128, or not readable",
	  NOTE_RARE },
	{ TRACE_NOTE_PYTHON_FAILED, "samples whose Python stack could not be read, or was lost",
	  NOTE_RARE },
	{ TRACE_NOTE_NATIVE_WHOLE, "samples whose native stack is known completely", NOTE_RARE },
	{ TRACE_NOTE_NATIVE_CUT, "samples whose native stack is deeper than the copy of it",
	  NOTE_RARE },
	{ TRACE_NOTE_NATIVE_FAILED, "samples whose native stack is incomplete for another reason",
	  NOTE_RARE },
	{ TRACE_NOTE_NATIVE_DROPPED,
	  "samples without native frames because they came faster than they were unwound",
	  NOTE_RARE },
	{ TRACE_NOTE_CPU_THROTTLED,
	  "how long the CPU quota of the command's cgroup held back its threads, summed over CPUs",
	  NOTE_TIME },
	{ TRACE_NOTE_LEFT_OUT, "operations on files excluded from the recording", NOTE_RARE },
	{ TRACE_NOTE_LOST_FULL, "events lost because CPU buffers were full", NOTE_RARE },
	{ TRACE_NOTE_LOST_STOPPED, "events lost while Faultline did not run", NOTE_RARE },
	{ TRACE_NOTE_LOST_NO_ROOM, "events lost because the trace could not be written",
	  NOTE_RARE },
#define UNSEEN(id, name, ...)                                                                      \
	{ TRACE_NOTE_UNSEEN_NS(name),                                                              \
	  "how long the module " name " was loaded without being recorded (≤)", NOTE_TIME },
	TRACE_SERVER_LAYERS(UNSEEN)
};
#define KNOWN_NOTES (sizeof(known_notes) / sizeof(known_notes[0]))

static const struct known_note *known_note(const char *name)
{
	static const struct known_note other = {
		.meaning = "times this limitation of the recording occurred"
	};

	for (size_t i = 0; i < KNOWN_NOTES; i++)
		if (!strcmp(known_notes[i].name, name))
			return &known_notes[i];
	return &other;
}

/* Adds the known notes and any others in the traces. An absent note means 0, but unknown if a trace
 * was truncated. */
static void take_notes(struct about *about)
{
	const struct job *job = about->texts.job;

	for (size_t i = 0; i < KNOWN_NOTES; i++)
		if (known_notes[i].shape == NOTE_ALWAYS)
			name_note(about, known_notes[i].name);
	for (size_t i = 0; i < job->trace_count; i++)
		for (size_t j = 0; job->traces[i].totals && j < job->traces[i].totals->note_count;
		     j++)
			name_note(about, job->traces[i].totals->notes[j].name);
	for (size_t i = 0; i < about->note_count; i++)
		about->notes[i].count =
			job->complete ? job_count_notes(job, about->notes[i].name) : TABLE_NO_UINT;
}

static void add_note_column(struct table *table, const struct about *about, size_t number)
{
	size_t base = offsetof(struct about, notes) + number * sizeof(struct trace_note);
	const struct known_note *known = known_note(about->notes[number].name);
	char name[NAME_BYTES_MAX + sizeof("notes.")], meaning[128];
	const struct table_column column = {
		name,
		NULL,
		known->shape == NOTE_TIME ? UNIT_NS : UNIT_COUNT,
		KIND_SUM,
		meaning,
		.get = table_get_uint,
		.key = base + offsetof(struct trace_note, count),
	};

	snprintf(name, sizeof(name), "notes.%s", about->notes[number].name);
	snprintf(meaning, sizeof(meaning), "%s; null if a trace has no end", known->meaning);
	table_add_column(table, &column);
}

/* --- numbers --- */

/* Returns 0 only if all commands exited with 0; otherwise the first other status. TABLE_NO_INT if
 * any is unknown. */
static int64_t exit_code_of(const struct job *job)
{
	int64_t code = 0;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		if (!totals || totals->exit_code < 0)
			return TABLE_NO_INT;
		if (!code)
			code = totals->exit_code;
	}
	return code;
}

static uint64_t count_events(const struct about *about)
{
	uint64_t events = about->rows;

	for (size_t i = 0; i < about->texts.job->trace_count; i++) {
		const struct trace_totals *totals = about->texts.job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			events = number_add(events, totals->kinds[j].events);
	}
	return events;
}

/* Counts processes, except the placeholder for unknown ones, and their ranks. */
static int count_processes(struct about *about)
{
	const struct process_table *table = &about->texts.job->processes;
	struct map ranks;
	int status = 0;

	map_init(&ranks, 1, 0);
	for (size_t i = 1; i < table->count && !status; i++) {
		uint64_t rank = table->processes[i].rank;
		bool added;

		about->processes++;
		if (table->processes[i].rank >= 0 && !map_add(&ranks, &rank, &added))
			status = -ENOMEM;
	}
	about->ranks = ranks.count;
	map_free(&ranks);
	return status;
}

static uint64_t count_overwritten(const struct job *job)
{
	uint64_t overwritten = TABLE_NO_UINT;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_flight *flight = &job->traces[i].header->flight;

		if (flight->reason)
			overwritten = number_add(overwritten == TABLE_NO_UINT ? 0 : overwritten,
						 flight->overwritten);
	}
	return overwritten;
}

static uint64_t count_survivors(const struct job *job)
{
	uint64_t survivors = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		survivors += job->traces[i].totals ? job->traces[i].totals->survivor_count : 0;
	return survivors;
}

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct about *about = state;

	about->texts.job = job;
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];
		size_t blocks = trace_reader_block_count(trace->reader);

		take_layers(about, trace);
		for (size_t j = 0; j < blocks && !trace->totals; j++)
			about->rows += trace_reader_block_info(trace->reader, j)->rows;
	}
}

/* --- the table --- */

static const struct table_column columns[] = {
	[ABOUT_FILES] = { "files", "files", UNIT_NONE, KIND_LIST, "names of the trace files",
			  .get = header_get_list, .key = HEADER_NAME },
	[ABOUT_HOSTS] = { "hosts", "hosts", UNIT_NONE, KIND_LIST,
			  "hosts on which the traces were recorded", .get = header_get_list,
			  .key = HEADER_HOST },
	[ABOUT_KERNEL] = { "kernel", "kernel", UNIT_NONE, KIND_LIST, "kernel versions of the hosts",
			   .get = header_get_joined, .key = HEADER_KERNEL },
	[ABOUT_COMMAND] = { "command", "command", UNIT_NONE, KIND_FIRST,
			    "command that was run, as a list of arguments; of several traces, the "
			    "first one's",
			    .get = header_get_command },
	[ABOUT_EXIT] = COLUMN(about, exit_code, "exit status", NONE, STATUS,
			      "exit status of the command; of several, the first nonzero one; null "
			      "if any is unknown"),
	[ABOUT_START] = COLUMN_AS("start_unix_ns", about, start_ns, NULL, NONE, MIN,
				  "start of the run, in ns since 1970-01-01 UTC"),
	[ABOUT_DURATION] =
		COLUMN(about, duration_ns, "duration", NS, DURATION, "duration of the run"),
	[ABOUT_MODE] = { "mode", "mode", UNIT_NONE, KIND_LIST,
			 "recording mode: trace (every event), profile (aggregates) or auto "
			 "(aggregates for busy processes only)",
			 .get = header_get_joined, .key = HEADER_MODE },
	[ABOUT_COMPLETE] = COLUMN(about, complete, "complete", NONE, ALL,
				  "whether every trace has its end and is undamaged; damaged parts "
				  "are skipped and counted as lost"),
	[ABOUT_INCOMPLETE] = { "incomplete_reason", "why incomplete", UNIT_NONE, KIND_LIST,
			       "why a trace is incomplete or damaged", .get = header_get_joined,
			       .key = HEADER_INCOMPLETE },
	[ABOUT_EVENTS] = COLUMN(about, events, "events", COUNT, SUM,
				"number of events, lost ones included; of a trace without an end, "
				"only the recorded ones"),
	/* For an incomplete trace it is unknown how many are missing: null, not 0. */
	[ABOUT_SURVIVORS] = COLUMN(
		about, survivors, "processes that outlived the run", COUNT, TOTAL,
		"processes still running when the recording ended; null if a trace has no end"),
	[ABOUT_NOT_FOLLOWED] = { "not_followed", "programs not followed", UNIT_NONE, KIND_LIST,
				 "programs that were not followed, as \"name (pid)\": setuid, "
				 "setgid, with file capabilities, or not readable by their caller; "
				 "at most 64",
				 .get = header_get_not_followed },
	[ABOUT_PROCESSES] =
		COLUMN(about, processes, "processes", COUNT, SUM, "number of processes that ran"),
	[ABOUT_RANKS] = COLUMN(about, ranks, "ranks", COUNT, DERIVED,
			       "number of ranks among the processes"),
	[ABOUT_LOST] = COLUMN_AS("lost.total", about, lost, "lost events", COUNT, TOTAL,
				 "events that were lost; null if a trace has no end"),
	[ABOUT_LOST_CAUSE] = COLUMN_AS(
		"lost.cause", about, cause, "why lost", NONE, LIST,
		"main cause of lost events: buffers (events came too fast), stopped (Faultline was "
		"blocked), disk (trace not written) or damage; null: none or unknown"),
	[ABOUT_BEGUN_BY] = { "start", "start", UNIT_NONE, KIND_LIST,
			     "run: the recording started the command; attach: it attached to "
			     "running processes",
			     .get = header_get_joined, .key = HEADER_START },
	[ABOUT_TARGETS] = { "targets", "attached to", UNIT_NONE, KIND_FIRST,
			    "targets that the recording attached to; empty unless start is attach",
			    .get = header_get_targets },
	{ "flight.reason", "written by a flight recorder", UNIT_NONE, KIND_LIST,
	  "why a flight recorder wrote the trace; null for other traces", .get = header_get_joined,
	  .key = HEADER_FLIGHT },
	COLUMN_AS("flight.overwritten", about, overwritten, "overwritten", COUNT, SUM,
		  "earlier records that a flight recorder overwrote; null for other traces"),
	COLUMN(about, cpus, NULL, COUNT, MIN, "CPUs of the host; of several hosts, the fewest"),
	COLUMN(about, cpu_limit, NULL, NONE, MIN,
	       "CPUs that the command could use at once, by the quota of its cgroups (cpu.max) or "
	       "its CPU affinity; null: all, or unknown; of several traces, the fewest"),
	COLUMN(about, memory_bytes, NULL, BYTES, MIN,
	       "memory of the host; of several hosts, the least"),
	COLUMN(about, cgroup_memory_bytes, NULL, BYTES, MIN,
	       "lowest memory limit of the cgroup that Faultline ran in and its ancestors; null: "
	       "none; of several traces, the lowest"),
	COLUMN(about, dirty_bytes, NULL, BYTES, MIN,
	       "dirty memory above which writers are throttled, at the start; of several hosts, "
	       "the lowest"),
	COLUMN(about, unaccounted, NULL, COUNT, TOTAL,
	       "events that are neither in the traces nor counted as lost, or in the traces but "
	       "not counted; if not 0, the numbers may be wrong"),
	COLUMN_AS(
		"times_are_lower_bounds", about, lower_bounds, NULL, NONE, ANY,
		"whether events are missing, which makes times and shares of the run lower bounds"),
};

static const struct table_column layer_columns[] = {
	COLUMN(layer_row, state, "state", NONE, MAX,
	       "on if any trace recorded the layer, otherwise off"),
	COLUMN(layer_row, attach, "attached by", NONE, FIRST,
	       "how the layer was attached, for example tp_btf; null: off"),
	COLUMN(layer_row, reason, "note", NONE, FIRST, "why the layer is off, or what it lacks"),
};

/* Rows of a layer in unreadable blocks. */
static uint64_t damaged_rows(const struct job *job, const char *layer)
{
	uint64_t rows = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		for (int kind = 0; kind < TRACE_KIND_COUNT; kind++)
			if (trace_kind_has_layer(kind, layer))
				rows += trace_reader_damaged_rows(job->traces[i].reader, kind);
	return rows;
}

static bool is_damaged(const struct job *job)
{
	for (size_t i = 0; i < job->trace_count; i++)
		if (trace_reader_damage(job->traces[i].reader))
			return true;
	return false;
}

/* Adds lost events for every layer, and recording details for layers listed in a header. */
static void add_layer_columns(struct table *table, struct about *about, size_t number)
{
	struct layer_row *layer = &about->layers[number];
	size_t base = offsetof(struct about, layers) + number * sizeof(*layer);
	char name[96], title[96];
	const struct table_column lost = {
		name,
		title,
		UNIT_COUNT,
		KIND_SUM,
		"lost events of the layer; null if it was off or a trace has no end",
		.get = table_get_uint,
		.key = base + offsetof(struct layer_row, lost),
	};
	const struct table_group group = { name, title, 0, TABLE_COLUMNS(layer_columns) };

	snprintf(name, sizeof(name), "lost.by_layer.%s", layer->name);
	snprintf(title, sizeof(title), "lost events of %s", layer->name);
	if ((!layer->on && layer->listed) || !about->texts.job->complete)
		layer->lost = TABLE_NO_UINT;
	else
		layer->lost += damaged_rows(about->texts.job, layer->name);
	table_add_column(table, &lost);
	if (!layer->listed)
		return;
	layer->state = layer->on ? "on" : "off";
	snprintf(name, sizeof(name), "layers.%s", layer->name);
	snprintf(title, sizeof(title), "layer %s", layer->name);
	table_add_group(table, &group, base);
}

/* Keeps the smaller value, ignoring unknown ones (0). */
static void take_min(uint64_t *min, uint64_t value)
{
	if (value && value < *min)
		*min = value;
}

static void emit_limits(struct about *about)
{
	about->cpus = about->memory_bytes = TABLE_NO_UINT;
	about->cgroup_memory_bytes = about->dirty_bytes = TABLE_NO_UINT;
	about->cpu_limit = INFINITY;
	for (size_t i = 0; i < about->texts.job->trace_count; i++) {
		const struct trace_header *header = about->texts.job->traces[i].header;

		take_min(&about->cpus, header->cpus);
		if (header->cpu_milli)
			about->cpu_limit = fmin(about->cpu_limit, header->cpu_milli / 1e3);
		take_min(&about->memory_bytes, header->memory_bytes);
		take_min(&about->cgroup_memory_bytes, header->cgroup_memory_bytes);
		take_min(&about->dirty_bytes, header->dirty_bytes);
	}
}

static void fill(void *state, struct table *table)
{
	struct about *about = state;
	const struct job *job = about->texts.job;

	table_add_columns(table, TABLE_COLUMNS(columns));
	for (size_t i = 0; i < about->layer_count; i++)
		add_layer_columns(table, about, i);
	take_notes(about);
	for (size_t i = 0; i < about->note_count; i++)
		add_note_column(table, about, i);
	emit_limits(about);
	table_fail(table, count_processes(about));
	about->exit_code = exit_code_of(job);
	about->start_ns = job->start_ns;
	/* For a trace with nothing but a header, only the start is known. */
	about->duration_ns = job->complete || job->end_ns > job->start_ns
				     ? number_sub(job->end_ns, job->start_ns)
				     : TABLE_NO_UINT;
	about->complete = job->complete && !is_damaged(job);
	about->events = count_events(about);
	about->overwritten = count_overwritten(job);
	about->survivors = job->complete ? count_survivors(job) : TABLE_NO_UINT;
	about->cause = loss_cause_of(job) ? loss_cause_of(job)->name : NULL;
	about->lost = job->complete ? job->lost : TABLE_NO_UINT;
	about->unaccounted = job->complete ? loss_unaccounted(job) : TABLE_NO_UINT;
	about->lower_bounds = !job->complete || job->lost;
	table_add(table, about);
}

/* --- merging reports --- */

/* If a trace has no end, the total is unknown, and so are counts per layer and notes. They cannot
 * be KIND_TOTAL, which would make them unknown as soon as one trace lacks the layer or the note. */
static void forget_counts(struct table *table)
{
	if (table->cells[ABOUT_LOST].type != CELL_NULL)
		return;
	for (size_t i = sizeof(columns) / sizeof(columns[0]); i < table->column_count; i++)
		if (table->columns[i].kind == KIND_SUM)
			table->cells[i] = (struct cell) { .type = CELL_NULL };
}

/* Several runs may have the same ranks: counts them in the table "processes". */
static int count_ranks(const struct report *report, struct cell *ranks)
{
	const struct table *processes = report_by(report, &analysis_processes);
	int column = table_find_column(processes, "rank"), status = 0;
	struct map known;

	if (column < 0)
		return 0;
	map_init(&known, 1, 0);
	for (size_t row = 0; row < processes->row_count && !status; row++) {
		const struct cell *rank = &table_row(processes, row)[column];
		bool added;

		if (rank->type == CELL_INT && !map_add(&known, &rank->uint, &added))
			status = -ENOMEM;
	}
	cell_uint(ranks, known.count);
	ranks->summed = false;
	ranks->at_least = processes->folded;
	map_free(&known);
	return status;
}

static void remake(const struct report *report, struct table *table)
{
	if (!table->row_count)
		return;
	forget_counts(table);
	table_fail(table, count_ranks(report, &table->cells[ABOUT_RANKS]));
}

const struct analysis analysis_trace = {
	.name = "trace",
	.meaning = "what ran, where and how long, what was recorded and what was lost",
	.title = "Trace",
	.aggregated_ok = true,
	.shape = TABLE_RECORD,
	.state_bytes = sizeof(struct about),
	.begin = begin,
	.fill = fill,
	.merging = { .fixed = columns, .fixed_count = sizeof(columns) / sizeof(columns[0]) },
	.remake = remake,
};
