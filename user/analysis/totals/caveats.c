/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "caveats". The first screen shows all of them: caveats that make numbers wrong come before
 * caveats that only leave something out.
 */
#include "analysis/totals/caveats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/run/barriers.h"
#include "analysis/run/clocks.h"
#include "analysis/processes/deaths.h"
#include "analysis/run/loss.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/results.h"
#include "analysis/totals/mounts.h"
#include "analysis/totals/totals.h"
#include "analysis/run/trace_table.h"
#include "collections/compare.h"
#include "base/number.h"
#include "base/units.h"
#include "base/strbuf.h"

/* --- conditions: each writes its caveat, or nothing --- */

/* Adds "5 processes ...", unless it is 0. `one` is the text for 1; NULL: the same. */
static void say_count(struct strbuf *text, uint64_t count, const char *one, const char *many)
{
	char number[UNITS_TEXT];

	if (count)
		strbuf_clause(text, "%s %s", units_count(number, count),
			      one && count == 1 ? one : many);
}

static void say_time(struct strbuf *text, uint64_t time_ns, const char *before, const char *after)
{
	char time[UNITS_TEXT];

	if (time_ns)
		strbuf_add(text, "%s%s%s", before, units_ns(time, time_ns), after);
}

static void say_lost(struct strbuf *text, const struct results *results)
{
	loss_say(text, results->job);
}

static void say_incomplete(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;

	for (size_t i = 0; i < job->trace_count && !text->used; i++) {
		const char *why = trace_reader_incomplete(job->traces[i].reader);

		if (why)
			strbuf_add(text,
				   "incomplete: %s; the number of lost events is unknown, as are "
				   "counts taken at the end",
				   why);
	}
}

static void say_damaged(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;

	for (size_t i = 0; i < job->trace_count && !text->used; i++)
		strbuf_add(text, "%s", trace_reader_damage(job->traces[i].reader) ?: "");
}

/* Files listed in tables without their names. */
static void say_names(struct strbuf *text, const struct results *results)
{
	const struct file_table *files = &results->job->files;
	char count[UNITS_TEXT];

	if (files->lost_count)
		strbuf_add(text,
			   "the names of %s %s were lost: tables identify %s by device and inode",
			   units_count(count, files->lost_count),
			   files->lost_count == 1 ? "file" : "files",
			   files->lost_count == 1 ? "it" : "them");
	say_count(text, files->lost_rows, "row that named files is lost: these files share one row",
		  "rows that named files are lost: these files share one row");
}

static void say_header(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	size_t copies = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		copies += trace_reader_header_is_copy(job->traces[i].reader);
	if (copies)
		strbuf_add(text,
			   "%s damaged at the start: a copy of the header replaces it, and nothing "
			   "is missing",
			   job->trace_count == 1 ? "the trace is" : "traces are");
}

/* Events of one kind, or of the whole layer if `kind` is NULL. */
static uint64_t count_events(const struct trace_totals *totals, const char *layer, const char *kind)
{
	uint64_t events = 0;

	for (size_t i = 0; i < totals->kind_count; i++)
		if (!strcmp(totals->kinds[i].layer, layer) &&
		    (!kind || !strcmp(totals->kinds[i].kind, kind)))
			events += totals->kinds[i].events;
	return events;
}

static bool is_on(const struct trace_header *header, const char *layer)
{
	for (size_t i = 0; i < header->layer_count; i++)
		if (!strcmp(header->layers[i].name, layer))
			return header->layers[i].on;
	return false;
}

/* Every program that starts opens its libraries and faults in its own pages: a layer that saw none
 * of that may not be working. */
static void say_unseen(struct strbuf *text, const struct results *results)
{
	static const struct {
		const char *layer, *what;
	} seen[] = { { "syscall", "system call on a file" }, { "fault", "page fault on a file" } };
	const struct job *job = results->job;

	if (job_count_notes(job, TRACE_NOTE_LEFT_OUT))
		return;
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_header *header = job->traces[i].header;
		const struct trace_totals *totals = job->traces[i].totals;

		if (!totals || strcmp(header->mode, "trace") || strcmp(header->start, "run") ||
		    !count_events(totals, "task", "exec"))
			continue;
		for (size_t j = 0; j < sizeof(seen) / sizeof(seen[0]); j++)
			if (is_on(header, seen[j].layer) &&
			    !count_events(totals, seen[j].layer, NULL))
				strbuf_clause(text, "no %s was recorded", seen[j].what);
		if (text->used) {
			strbuf_add(text,
				   ": either the programs made none, which is possible if "
				   "they are static, or this build's probes do not work here; "
				   "check with strace -c");
			return;
		}
	}
}

static void say_not_followed(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	size_t count = 0;

	for (size_t i = 0; i < job->processes.count; i++) {
		const struct process *process = &job->processes.processes[i];
		struct trace_string comm;

		if (!process->not_followed || count++ >= 3)
			continue;
		comm = job_comm(job, i);
		strbuf_add(text, "%s%.*s (%u)",
			   count == 1 ? "setuid programs not followed: " : ", ", (int)comm.length,
			   comm.bytes, process->pid);
	}
	if (count > 3)
		strbuf_add(text, " and %zu more", count - 3);
}

static void say_survivors(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	uint64_t count = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		count += job->traces[i].totals ? job->traces[i].totals->survivor_count : 0;
	say_count(text, count, "process outlived the run; later activity was not traced",
		  "processes outlived the run; later activity was not traced");
}

static void say_spans(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	uint64_t unheard = 0;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			if (!strcmp(totals->kinds[j].kind, "unheard_program"))
				unheard += totals->kinds[j].lost;
	}
	say_count(text, job->spans.refused, "span is missing: too many were open at once",
		  "spans are missing: too many were open at once");
	say_count(text, unheard,
		  "time a program may have marked spans before Faultline attached to it",
		  "times a program may have marked spans before Faultline attached to it");
	if (job_count_notes(job, TRACE_NOTE_SPANS_UNCOUNTED))
		strbuf_clause(text, "how many spans are missing because their begins were lost is "
				    "unknown: there were too many spans or processes");
}

/* I/O through interfaces that are not traced. */
static void say_async(struct strbuf *text, const struct results *results)
{
	const struct submissions submissions = totals_submissions(results);
	char count[UNITS_TEXT];

	if (submissions.uring)
		strbuf_add(text, "io_uring: %s submissions, not traced",
			   units_count(count, submissions.uring));
	if (submissions.libaio)
		strbuf_clause(text, "libaio: %s submissions, not traced",
			      units_count(count, submissions.libaio));
	if (submissions.polled_rings)
		strbuf_clause(text,
			      "io_uring: %s %s polled by the kernel (submissions not counted)",
			      units_count(count, submissions.polled_rings),
			      submissions.polled_rings == 1 ? "ring was" : "rings were");
	if (text->used)
		strbuf_add(text, ": this I/O is not included");
}

static void say_unaccounted(struct strbuf *text, const struct results *results)
{
	say_count(text, results->job->complete ? loss_unaccounted(results->job) : 0,
		  "event is neither in the trace nor counted as lost: these numbers may be wrong; "
		  "this is a bug in Faultline, please report it",
		  "events are neither in the trace nor counted as lost: these numbers may be "
		  "wrong; this is a bug in Faultline, please report it");
}

/* Operations whose calls are counted but not decoded. */
static void say_undecoded(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	char count[UNITS_TEXT];

	for (size_t i = 0; i < job->operation_count; i++) {
		const struct operation *operation = &job->operations[i];
		uint64_t calls = operation->seen.count + operation->unseen.count;

		if (operation->family == TRACE_UNDECODED && calls)
			strbuf_clause(text, "%s calls of %s were counted but not decoded",
				      units_count(count, calls), operation->name);
	}
}

/* Share of completed bios. A smaller one changes no conclusion and is reported elsewhere. */
#define UNSEEN_SHARE 0.01

static uint64_t count_bios(const struct job *job)
{
	uint64_t bios = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		if (job->traces[i].totals)
			bios += count_events(job->traces[i].totals, "block", "bio");
	return bios;
}

static void say_bios(struct strbuf *text, const struct results *results)
{
	uint64_t bios = job_count_notes(results->job, TRACE_NOTE_BIOS_UNSEEN);

	if (bios >= UNSEEN_SHARE * count_bios(results->job))
		say_count(text, bios,
			  "block I/O has no completion event; storage totals and request tables "
			  "exclude it",
			  "block I/Os have no completion event; storage totals and request "
			  "tables exclude them");
}

/* With --stacks native. */
static void say_native(struct strbuf *text, const struct results *results)
{
	static const struct {
		const char *note, *says;
	} rows[] = {
		{ TRACE_NOTE_NATIVE_WHOLE, "complete" },
		{ TRACE_NOTE_NATIVE_CUT, "deeper than the part that was copied" },
		{ TRACE_NOTE_NATIVE_FAILED, "incomplete for another reason" },
		{ TRACE_NOTE_NATIVE_DROPPED, "left out because samples came too fast" },
	};
	uint64_t counts[sizeof(rows) / sizeof(rows[0])], all = 0;
	char count[UNITS_TEXT];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		all += counts[i] = job_count_notes(results->job, rows[i].note);
	if (all == counts[0])
		return;
	strbuf_add(text, "%s native stacks: ", units_count(count, all));
	for (size_t i = 0, n = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (counts[i])
			strbuf_add(text, "%s%s %s", n++ ? ", " : "", units_count(count, counts[i]),
				   rows[i].says);
}

/* Faults whose start or end was missed, and faults whose mapping was not found. */
static void say_faults(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	uint64_t unknown = 0;

	for (size_t i = 0; i < job->operation_count && job->complete; i++)
		if (job->operations[i].family == TRACE_ANONFAULT &&
		    !strcmp(job->operations[i].name, "unknown_fault"))
			unknown += job->operations[i].unseen.count;
	say_count(
		text, job_count_notes(job, TRACE_NOTE_UNTIMED),
		"fault has no duration because its start or end was missed: fault times are lower "
		"bounds",
		"faults have no duration because their start or end was missed: fault times are "
		"lower bounds");
	say_count(text, unknown,
		  "fault is on an unknown mapping: it may be on a file, and file tables exclude it",
		  "faults are on unknown mappings: some may be on files, and file tables exclude "
		  "them");
}

/* Earlier records are gone; reports why the recorder was dumped at that moment. */
static void say_flight(struct strbuf *text, const struct job *job)
{
	const struct trace_flight *flight = &job->traces[0].header->flight;
	char time[UNITS_TEXT];

	strbuf_add(text, "the last %s of a flight recorder, written because of: %s",
		   units_ns(time, number_sub(job->end_ns, job->start_ns)), flight->reason);
	say_count(text, flight->overwritten, "earlier record was overwritten",
		  "earlier records were overwritten");
}

/* Processes that were already running have a past that was not recorded. */
static void say_attached(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	uint64_t async = job_count_notes(job, TRACE_NOTE_ASYNC_BEFORE);
	char count[UNITS_TEXT];
	size_t attached = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		attached += !strcmp(job->traces[i].header->start, "attach");
	if (!attached)
		return;
	if (job->trace_count == 1 && job->traces[0].header->flight.reason) {
		say_flight(text, job);
		return;
	}
	strbuf_add(text, "attached to running processes: earlier activity is not included");
	if (async)
		strbuf_add(text, ", nor %s %s io_uring operation%s already in flight",
			   async == 1 ? "is" : "are", units_count(count, async),
			   async == 1 ? "" : "s");
	say_count(text, job_count_notes(job, TRACE_NOTE_SPANS_BEFORE),
		  "span that was already open is not included",
		  "spans that were already open are not included");
}

static void say_clocks(struct strbuf *text, const struct results *results)
{
	const struct job *job = results->job;
	struct host_time *hosts;
	size_t count = 0;

	if (!job->many_hosts)
		return;
	hosts = calloc(job->trace_count, sizeof(*hosts));
	for (size_t i = 0; hosts && i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];
		struct host_time *host = &hosts[trace->host]; /* index of its host's first trace */

		if (!host->host)
			*host = (struct host_time) { trace->header->host, trace->start_ns, 0 };
		if (trace->start_ns < host->start_ns)
			host->start_ns = trace->start_ns;
		if (trace->end_ns > host->end_ns)
			host->end_ns = trace->end_ns;
	}
	for (size_t i = 0; hosts && i < job->trace_count; i++)
		if (hosts[i].host)
			hosts[count++] = hosts[i];
	clocks_write_gap(text, hosts, count);
	free(hosts);
}

/* Aggregated data gives amounts by process and file, but no times and no overlap. */
static void say_summed(struct strbuf *text, const struct results *results)
{
	const struct processes_sums sums = processes_sums(results);
	const struct job *job = results->job;
	char count[UNITS_TEXT], other[UNITS_TEXT];

	if (!job->aggregated)
		return;
	strbuf_add(text, "aggregated in the kernel: ");
	if (job->all_aggregated)
		strbuf_add(text, "all operations (mode profile)");
	else if (sums.processes == 1)
		strbuf_add(text, "%s operations of process %u, too many to record individually",
			   units_count(count, sums.operations),
			   (unsigned int)job->processes.processes[sums.first].pid);
	else
		strbuf_add(text, "%s operations of %llu processes, too many to record individually",
			   units_count(count, sums.operations), (unsigned long long)sums.processes);
	strbuf_add(
		text,
		"; times are thread times; overlap with compute, I/O by span, access patterns, the "
		"slowest operations and who waits for whom are unknown, and findings that need "
		"them are not checked");
	if (sums.other)
		strbuf_add(text,
			   "; %s of %s operations are not broken down by file (increase "
			   "--profile-slots)",
			   units_count(other, sums.other), units_count(count, sums.operations));
}

/* Caveats that make numbers wrong, and the death of a process, are warnings. */
static const struct caveat {
	const char *id, *weight;
	void (*say)(struct strbuf *text, const struct results *results);
	/* Without it, how often a limitation of the recording occurred: see say_count(); or for how
	 * long, with the text before and after the time. */
	const char *note, *one, *many;
	bool time;
} caveats[] = {
	{ "killed", "warning", .say = deaths_say },
	{ "incomplete", "warning", .say = say_incomplete },
	{ "damaged", "warning", .say = say_damaged },
	{ "names", "warning", .say = say_names },
	{ "lost", "warning", .say = say_lost },
	{ "unaccounted", "warning", .say = say_unaccounted },
	{ "unseen", "warning", .say = say_unseen },
	{ "not-followed", "warning", .say = say_not_followed },
	{ "async", "warning", .say = say_async },
	{ "undecoded", "warning", .say = say_undecoded },
	{ "spans", "warning", .say = say_spans },
	{ "unfollowed", "warning", .note = TRACE_NOTE_UNFOLLOWED,
	  .one = "child process could not be followed: its activity is missing",
	  .many = "child processes could not be followed: their activity is missing" },
	{ "faults", "warning", .say = say_faults },
	{ "bios", "warning", .say = say_bios },
	{ CLOCKS_CAVEAT, "note", .say = say_clocks },
	{ "skew", "warning", .say = barriers_say },
	{ "attached", "note", .say = say_attached },
	{ "left-out", "note", .note = TRACE_NOTE_LEFT_OUT,
	  .many = "operations on files that --include and --exclude filter out are not counted, "
		  "except in device numbers" },
	{ "header", "note", .say = say_header },
	{ "survivors", "note", .say = say_survivors },
	{ "bios-under-way", "note", .note = TRACE_NOTE_BIOS_UNDER_WAY,
	  .one = "block I/O was known to be in flight when the recording ended; storage totals "
		 "exclude that I/O",
	  .many = "block I/Os were known to be in flight when the recording ended; storage totals "
		  "exclude "
		  "that I/O" },
	{ "summed", "note", .say = say_summed },
	{ "native-stacks", "note", .say = say_native },
	{ "mounts", "note", .say = mounts_say_unrecorded },
	{ "servers", "note", .say = mounts_say_servers },
/* A module was loaded during the recording. */
#define UNSEEN(id, name, also, mounts, requests, servers)                                          \
	{ name "-unseen",                                                                          \
	  "note",                                                                                  \
	  .note = TRACE_NOTE_UNSEEN_NS(name),                                                      \
	  .time = true,                                                                            \
	  .one = "requests to " mounts " " servers " are missing for up to ",                      \
	  .many = ": the module " name " was loaded during the recording, and only later "         \
		  "requests can be recorded" },
	TRACE_SERVER_LAYERS(UNSEEN)
};
#define CAVEATS (sizeof(caveats) / sizeof(caveats[0]))

/* A table row. */
struct caveats_row {
	const char *id, *weight;
	struct table_text text;
};

static const struct table_column columns[CAVEAT_COLUMNS] = {
	[CAVEAT_ID] = COLUMN(caveats_row, id, "caveat", NONE, KEY, "name of the caveat"),
	[CAVEAT_WEIGHT] = COLUMN(caveats_row, weight, "weight", NONE, FACT,
				 "warning: numbers are incomplete, or processes were killed; note: "
				 "for information only"),
	[CAVEAT_TEXT] = COLUMN(caveats_row, text, "what", NONE, KEY, "text of the caveat"),
};

static void conclude(const struct results *results, struct table *table)
{
	table_add_columns(table, columns, CAVEAT_COLUMNS);
	for (size_t i = 0; i < CAVEATS; i++) {
		const struct caveat *caveat = &caveats[i];
		struct strbuf text = { .used = 0 };
		struct caveats_row line = { caveat->id, caveat->weight, { text.bytes, 0 } };

		if (caveat->say)
			caveat->say(&text, results);
		else if (caveat->time)
			say_time(&text, job_count_notes(results->job, caveat->note), caveat->one,
				 caveat->many);
		else
			say_count(&text, job_count_notes(results->job, caveat->note), caveat->one,
				  caveat->many);
		line.text.length = text.used;
		if (text.used)
			table_add(table, &line);
	}
}

/* --- merging reports --- */

static size_t weight_of(const struct cell *id)
{
	size_t i = 0;

	while (i < CAVEATS && (id->type != CELL_TEXT || strcmp(id->text, caveats[i].id)))
		i++;
	return i;
}

static int compare_caveats(const struct table *table, size_t a, size_t b, const void *context)
{
	const struct cell *id = &table->cells[a * CAVEAT_COLUMNS + CAVEAT_ID];
	const struct cell *other = &table->cells[b * CAVEAT_COLUMNS + CAVEAT_ID];
	size_t first = weight_of(id), second = weight_of(other);

	/* Caveats of a newer version come last, by name. */
	if (first == second && id->type == CELL_TEXT && other->type == CELL_TEXT)
		return strcmp(id->text, other->text);
	return COMPARE(first, second);
}

/* Keeps the first of each kind and adds the number of others; the sum of lost events comes from the
 * table "trace". */
static void emit_alike(const struct report *report, struct table *table, struct cell *row,
		       size_t others)
{
	const struct cell *lost = &report_by(report, &analysis_trace)->cells[ABOUT_LOST];
	struct strbuf text = { .used = 0 };
	char count[UNITS_TEXT];

	if (!strcmp(row[CAVEAT_ID].text, "lost") && lost->type == CELL_UINT)
		strbuf_add(&text,
			   "%s events were lost in total: times and shares of the run are lower "
			   "bounds (≥); counts and bytes in the totals are exact",
			   units_count(count, lost->uint));
	else if (others)
		strbuf_add(&text, "%.400s; and %zu more like this", row[CAVEAT_TEXT].text, others);
	if (text.used)
		table_set_literal(table, &row[CAVEAT_TEXT], text.bytes);
}

static void remake(const struct report *report, struct table *table)
{
	size_t kept = 0, next;

	if (table->column_count != CAVEAT_COLUMNS)
		return;
	table_sort(table, compare_caveats, NULL);
	for (size_t row = 0; row < table->row_count; row = next) {
		struct cell *cells = &table->cells[row * CAVEAT_COLUMNS];

		for (next = row + 1; next < table->row_count; next++)
			if (compare_caveats(table, row, next, NULL))
				break;
		if (cells[CAVEAT_ID].type != CELL_TEXT || cells[CAVEAT_TEXT].type != CELL_TEXT)
			continue;
		emit_alike(report, table, cells, next - row - 1);
		memmove(&table->cells[kept++ * CAVEAT_COLUMNS], cells,
			CAVEAT_COLUMNS * sizeof(*cells));
	}
	table->row_count = kept;
}

const struct analysis analysis_caveats = {
	.name = "caveats",
	.meaning = "known gaps and errors in the other tables",
	.aggregated_ok = true,
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct barriers),
	.begin = barriers_begin,
	.consumer.span_ended = barriers_span_ended,
	.conclude = conclude,
	.merging = { .many = "caveats", .fixed = columns, .fixed_count = CAVEAT_COLUMNS },
	.remake = remake,
};
