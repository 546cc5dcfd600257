/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "caveats". Knows nothing of how they are shown: all of them on the first screen, those
 * that make numbers wrong before those that only leave something out.
 */
#include "analysis/caveats.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/clocks.h"
#include "analysis/deaths.h"
#include "analysis/loss.h"
#include "analysis/processes.h"
#include "analysis/measured.h"
#include "analysis/totals.h"
#include "analysis/trace_table.h"
#include "units.h"
#include "words.h"

/* --- conditions: each writes what there is to say, or nothing --- */

static void say_lost(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	const struct loss_cause *cause = loss_cause_of(job);
	const char *between = " (";
	char count[UNITS_TEXT];

	if (!job->lost)
		return;
	words_add(text, "%s events were lost", units_count(count, job->lost));
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count && job->trace_count == 1; j++) {
			if (!totals->kinds[j].lost)
				continue;
			words_add(text, "%s%s %s", between, totals->kinds[j].kind,
				  units_count(count, totals->kinds[j].lost));
			between = ", ";
		}
	}
	words_add(text,
		  "%s%s%s: times, and shares of the run, are at least (≥) what is told; "
		  "tables of files and processes lack them; counts and bytes of the totals "
		  "are exact",
		  *between == ',' ? ")" : "", cause ? " because " : "", cause ? cause->why : "");
	words_add(text, "; to lose less: %s",
		  cause ? cause->remedy : "record with a larger --buffer");
}

static void say_incomplete(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;

	for (size_t i = 0; i < job->trace_count; i++) {
		const char *why = trace_reader_incomplete(job->traces[i].reader);

		if (!why)
			continue;
		words_add(text,
			  "incomplete: %s; what was lost is not known, nor what is counted at the "
			  "end "
			  "alone",
			  why);
		return;
	}
}

static void say_damaged(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;

	for (size_t i = 0; i < job->trace_count; i++) {
		const char *what = trace_reader_damage(job->traces[i].reader);

		if (!what)
			continue;
		words_add(text, "%s", what);
		return;
	}
}

/* Files that stand in tables without the name that they have. */
static void say_names(struct words *text, const struct measured *measured)
{
	const struct file_table *files = &measured->job->files;
	char count[UNITS_TEXT];

	if (files->lost_count)
		words_add(text, "the names of %s %s are lost: tables tell %s by device and inode",
			  units_count(count, files->lost_count),
			  files->lost_count == 1 ? "file" : "files",
			  files->lost_count == 1 ? "it" : "them");
	if (files->lost_rows)
		words_clause(text, "%s %s that named files %s lost: these files share one row",
			     units_count(count, files->lost_rows),
			     files->lost_rows == 1 ? "row" : "rows",
			     files->lost_rows == 1 ? "is" : "are");
}

static void say_header(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	size_t copies = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		copies += trace_reader_header_is_copy(job->traces[i].reader);
	if (copies)
		words_add(text,
			  "%s damaged at the start: the copy of the header was read, nothing is "
			  "missing by that",
			  job->trace_count == 1 ? "the trace is" : "traces are");
}

/* Of a kind, or of all of the layer. */
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

/* A program that is begun opens its libraries and touches itself: a layer that has seen nothing of
 * one may be blind. */
static void say_unseen(struct words *text, const struct measured *measured)
{
	static const struct {
		const char *layer, *what;
	} seen[] = { { "syscall", "system call on a file" }, { "fault", "page fault on a file" } };
	const struct job *job = measured->job;

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
				words_clause(text, "not one %s was seen", seen[j].what);
		if (text->used) {
			words_add(text, ": the programs made none, as static ones may, or the "
					"kernel side of this build is blind here; strace -c tells");
			return;
		}
	}
}

static void say_not_followed(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	size_t count = 0;

	for (size_t i = 0; i < job->processes.count; i++) {
		const struct process *process = &job->processes.processes[i];
		struct trace_string comm;

		if (!process->not_followed || count++ >= 3)
			continue;
		comm = job_comm(job, i);
		words_add(text, "%s%.*s (%u)",
			  count == 1 ? "not followed, for it gained rights: " : ", ",
			  (int)comm.length, comm.bytes, process->pid);
	}
	if (count > 3)
		words_add(text, " and %zu more", count - 3);
}

/* "2 of 5 processes died: SIGBUS, python3 at 3.0 MiB of /dev/shm/torch_0 (tmpfs); ..." */
static void say_killed(struct words *text, const struct measured *measured)
{
	const struct file_table *files = &measured->job->files;
	char died[UNITS_TEXT], processes[UNITS_TEXT], offset[UNITS_TEXT], size[UNITS_TEXT];
	struct death death;

	for (size_t i = 0; deaths_by_signal(measured, i, &death); i++) {
		struct trace_string comm = job_comm(measured->job, death.first);

		words_clause(text, "%s of %s %s died: %s, %.*s", units_count(died, death.died),
			     units_count(processes, death.processes),
			     death.processes == 1 ? "process" : "processes", death.signal,
			     (int)comm.length, comm.bytes);
		if (death.file != FILE_UNKNOWN) {
			struct trace_string path = file_table_name(files, death.file);
			struct trace_string kind = file_table_filesystem(files, death.file);

			words_add(text, " at %s of %.*s", units_bytes(offset, death.offset),
				  (int)path.length, path.bytes);
			if (kind.length)
				words_add(text, " (%.*s%s%s)", (int)kind.length, kind.bytes,
					  death.capacity_bytes ? " of " : "",
					  death.capacity_bytes
						  ? units_bytes(size, death.capacity_bytes)
						  : "");
		}
		words_add(text, "; %s", death.hint);
	}
}

static void say_survivors(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	size_t count = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		count += job->traces[i].totals ? job->traces[i].totals->survivor_count : 0;
	if (count)
		words_add(text, "%zu %s the run, untraced from then on", count,
			  count == 1 ? "process outlived" : "processes outlived");
}

static void say_spans(struct words *text, const struct measured *measured)
{
	const struct open_spans *spans = &measured->job->spans;
	uint64_t unheard = 0;
	char count[UNITS_TEXT];

	if (spans->refused)
		words_add(text, "%s spans are missing, too many were open at once",
			  units_count(count, spans->refused));
	for (size_t i = 0; i < measured->job->trace_count; i++) {
		const struct trace_totals *totals = measured->job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count; j++)
			if (!strcmp(totals->kinds[j].kind, "unheard_program"))
				unheard += totals->kinds[j].lost;
	}
	if (unheard)
		words_clause(text,
			     "%s times a program may have marked spans before it was listened to",
			     units_count(count, unheard));
}

/* I/O that goes by ways that are not traced. */
static void say_async(struct words *text, const struct measured *measured)
{
	const struct submissions submissions = totals_submissions(measured);
	char count[UNITS_TEXT];

	if (submissions.uring)
		words_add(text, "io_uring: %s submissions, not traced",
			  units_count(count, submissions.uring));
	if (submissions.libaio)
		words_clause(text, "libaio: %s submissions, not traced",
			     units_count(count, submissions.libaio));
	if (submissions.polled_rings)
		words_clause(text,
			     "io_uring: %s %s submitted to without a call, which nobody counts",
			     units_count(count, submissions.polled_rings),
			     submissions.polled_rings == 1 ? "ring was" : "rings were");
	if (text->used)
		words_add(text, ": this I/O is not in these numbers");
}

static void say_unaccounted(struct words *text, const struct measured *measured)
{
	uint64_t events = measured->job->complete ? trace_unaccounted(measured->job) : 0;
	char count[UNITS_TEXT];

	if (events)
		words_add(text,
			  "%s events are neither in the trace nor counted as lost: these numbers "
			  "may be wrong, and Faultline is; please report it",
			  units_count(count, events));
}

/* What an operation is known to be missing of. */
static void say_undecoded(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	char count[UNITS_TEXT];

	for (size_t i = 0; i < job->operation_count; i++) {
		const struct operation *operation = &job->operations[i];
		uint64_t calls = operation->seen.count + operation->unseen.count;

		if (operation->family == TRACE_UNDECODED && calls)
			words_clause(text, "%s calls of %s were counted, not decoded",
				     units_count(count, calls), operation->name);
	}
}

#define UNSEEN_SHARE                                                                               \
	0.01 /* of the bios that ended: fewer change no answer, and stand elsewhere                \
	      */

static uint64_t count_bios(const struct job *job)
{
	uint64_t bios = 0;

	for (size_t i = 0; i < job->trace_count; i++)
		if (job->traces[i].totals)
			bios += count_events(job->traces[i].totals, "block", "bio");
	return bios;
}

static void say_bios(struct words *text, const struct measured *measured)
{
	uint64_t bios = job_count_notes(measured->job, TRACE_NOTE_BIOS_UNSEEN);
	char count[UNITS_TEXT];

	if (bios && bios >= UNSEEN_SHARE * count_bios(measured->job))
		words_add(
			text,
			"the ends of %s bios were not seen: they are in no sum of storage, and no "
			"table of requests",
			units_count(count, bios));
}

static void say_bios_under_way(struct words *text, const struct measured *measured)
{
	uint64_t bios = job_count_notes(measured->job, TRACE_NOTE_BIOS_UNDER_WAY);
	char count[UNITS_TEXT];

	if (bios)
		words_add(text,
			  "%s %s not ended when the recording did, as far as was seen: what was on "
			  "its way then is in no sum of storage",
			  units_count(count, bios), bios == 1 ? "bio had" : "bios had");
}

/* By --include and --exclude. */
static void say_left_out(struct words *text, const struct measured *measured)
{
	uint64_t operations = job_count_notes(measured->job, TRACE_NOTE_LEFT_OUT);
	char count[UNITS_TEXT];

	if (operations)
		words_add(text,
			  "%s operations on files that --include and --exclude leave out are not "
			  "counted here, except in the numbers of devices",
			  units_count(count, operations));
}

static void say_unfollowed(struct words *text, const struct measured *measured)
{
	uint64_t children = job_count_notes(measured->job, TRACE_NOTE_UNFOLLOWED);
	char count[UNITS_TEXT];

	if (children)
		words_add(text, "%s children could not be followed: what they did is missing",
			  units_count(count, children));
}

/* Faults whose start or end was passed over, and those whose mapping could not be found. */
static void say_faults(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	uint64_t untimed = job_count_notes(job, TRACE_NOTE_UNTIMED), unknown = 0;
	char count[UNITS_TEXT];

	for (size_t i = 0; i < job->operation_count && job->complete; i++)
		if (job->operations[i].family == TRACE_ANONFAULT &&
		    !strcmp(job->operations[i].name, "unknown_fault"))
			unknown += job->operations[i].unseen.count;
	if (untimed)
		words_add(
			text,
			"%s faults have no duration, for their start or end was not seen: times of "
			"faults are lower bounds",
			units_count(count, untimed));
	if (unknown)
		words_clause(text,
			     "%s faults are on no known mapping: they may be on files, whose "
			     "tables lack them",
			     units_count(count, unknown));
}

/* What came before is gone, and why it was written at that moment. */
static void say_flight(struct words *text, const struct job *job)
{
	const struct trace_flight *flight = &job->traces[0].header->flight;
	char time[UNITS_TEXT], count[UNITS_TEXT];

	words_add(text, "the last %s that a flight recorder had, written for: %s",
		  units_ns(time, clock_subtract(job->end_ns, job->start_ns)), flight->reason);
	if (flight->overwritten)
		words_add(text, "; %s records of before were overwritten",
			  units_count(count, flight->overwritten));
}

/* What ran already has a past that nobody saw. */
static void say_attached(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	uint64_t async = job_count_notes(job, TRACE_NOTE_ASYNC_BEFORE);
	uint64_t spans = job_count_notes(job, TRACE_NOTE_SPANS_BEFORE);
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
	words_add(text, "attached to what ran already: what it did before is not in these numbers");
	if (async)
		words_add(text, "; neither are %s operations of io_uring that were under way",
			  units_count(count, async));
	if (spans)
		words_add(text, "; %s spans were open then and are not told",
			  units_count(count, spans));
}

static void say_clocks(struct words *text, const struct measured *measured)
{
	const struct job *job = measured->job;
	struct host_time *hosts;
	size_t count = 0;

	if (!job->many_hosts)
		return;
	hosts = calloc(job->trace_count, sizeof(*hosts));
	for (size_t i = 0; hosts && i < job->trace_count; i++) {
		const struct job_trace *trace = &job->traces[i];
		struct host_time *host = &hosts[trace->host]; /* of its first trace: not after it */

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
	clocks_say_apart(text, hosts, count);
	free(hosts);
}

/* Sums tell how much, of which process and file; not when, nor beside what. */
static void say_summed(struct words *text, const struct measured *measured)
{
	const struct processes_sums sums = processes_sums(measured);
	const struct job *job = measured->job;
	char count[UNITS_TEXT], other[UNITS_TEXT];

	if (!job->summed)
		return;
	words_add(text, "summed up in the kernel: ");
	if (job->all_summed)
		words_add(text, "all operations (mode profile)");
	else if (sums.processes == 1)
		words_add(text, "%s operations of process %u, which did many",
			  units_count(count, sums.operations),
			  (unsigned int)job->processes.processes[sums.first].pid);
	else
		words_add(text, "%s operations of %llu processes that did many",
			  units_count(count, sums.operations), (unsigned long long)sums.processes);
	words_add(text,
		  "; times are sums over threads, and overlap with compute, I/O of spans, access "
		  "patterns and the slowest operations are not known, and findings that need "
		  "them are not looked for");
	if (sums.other)
		words_add(text,
			  "; there was no room for the files of %s of %s one by one (a larger "
			  "--profile-slots has)",
			  units_count(other, sums.other), units_count(count, sums.operations));
}

/* Rows: those that make numbers wrong are warnings, and so is the death of a process. */
static const struct caveat {
	const char *id;
	const char *weight;
	void (*say)(struct words *text, const struct measured *measured);
} caveats[] = {
	{ "killed", "warning", say_killed },	{ "incomplete", "warning", say_incomplete },
	{ "damaged", "warning", say_damaged },	{ "names", "warning", say_names },
	{ "lost", "warning", say_lost },	{ "unaccounted", "warning", say_unaccounted },
	{ "unseen", "warning", say_unseen },	{ "not-followed", "warning", say_not_followed },
	{ "async", "warning", say_async },	{ "undecoded", "warning", say_undecoded },
	{ "spans", "warning", say_spans },	{ "unfollowed", "warning", say_unfollowed },
	{ "faults", "warning", say_faults },	{ "bios", "warning", say_bios },
	{ CLOCKS_CAVEAT, "note", say_clocks },	{ "attached", "note", say_attached },
	{ "left-out", "note", say_left_out },	{ "header", "note", say_header },
	{ "survivors", "note", say_survivors }, { "bios-under-way", "note", say_bios_under_way },
	{ "summed", "note", say_summed },
};

/* A row of the table. */
struct line {
	const char *id, *weight;
	struct table_text text;
};

static const struct table_column columns[CAVEAT_COLUMNS] = {
	[CAVEAT_ID] = { "id", "caveat", UNIT_NONE, "name of the caveat",
			TABLE_LITERAL(struct line, id), 0 },
	[CAVEAT_WEIGHT] = { "weight", "weight", UNIT_NONE,
			    "warning: numbers lack something, or processes were killed; or note",
			    TABLE_LITERAL(struct line, weight), 0 },
	[CAVEAT_TEXT] = { "text", "what", UNIT_NONE, "in words", TABLE_TEXT(struct line, text), 0 },
};

static int conclude(const struct measured *measured, struct table *table)
{
	int status = table_add_columns(table, columns, CAVEAT_COLUMNS);

	for (size_t i = 0; i < sizeof(caveats) / sizeof(caveats[0]) && !status; i++) {
		struct words text = { .used = 0 };
		struct line line = { caveats[i].id, caveats[i].weight, { text.bytes, 0 } };

		caveats[i].say(&text, measured);
		line.text.length = text.used;
		if (text.used)
			status = table_add(table, &line);
	}
	return status;
}

/* --- of several reports --- */

static size_t weight_of(const struct cell *id)
{
	size_t i = 0;

	while (i < sizeof(caveats) / sizeof(caveats[0]) &&
	       (id->type != CELL_TEXT || strcmp(id->text, caveats[i].id)))
		i++;
	return i;
}

static int compare_caveats(const struct table *table, size_t a, size_t b, const void *context)
{
	const struct cell *id = &table->cells[a * CAVEAT_COLUMNS + CAVEAT_ID];
	const struct cell *other = &table->cells[b * CAVEAT_COLUMNS + CAVEAT_ID];
	size_t first = weight_of(id), second = weight_of(other);

	/* Those of a newer version are last, by name. */
	if (first == second && id->type == CELL_TEXT && other->type == CELL_TEXT)
		return strcmp(id->text, other->text);
	return first < second ? -1 : first > second;
}

/* The first of its kind tells of how many others there are; of lost events the trace knows. */
static int tell_alike(const struct report *report, struct table *table, struct cell *row,
		      size_t alike)
{
	const struct cell *lost = &report_by(report, &analysis_trace)->cells[ABOUT_LOST];
	struct words text = { .used = 0 };
	char count[UNITS_TEXT];

	if (!strcmp(row[CAVEAT_ID].text, "lost") && lost->type == CELL_UINT)
		words_add(&text,
			  "%s events were lost in all: times, and shares of the run, are at least "
			  "(≥) what is told; counts and bytes of the totals are exact",
			  units_count(count, lost->uint));
	else if (alike)
		words_add(&text, "%.400s; and %zu more such", row[CAVEAT_TEXT].text, alike);
	return text.used ? table_set_literal(table, &row[CAVEAT_TEXT], text.bytes) : 0;
}

static int remake(const struct report *report, struct table *table)
{
	size_t kept = 0, next;
	int status = 0;

	if (table->column_count != CAVEAT_COLUMNS)
		return 0;
	status = table_sort(table, compare_caveats, NULL);
	for (size_t row = 0; row < table->row_count && !status; row = next) {
		struct cell *cells = &table->cells[row * CAVEAT_COLUMNS];

		for (next = row + 1; next < table->row_count; next++)
			if (compare_caveats(table, row, next, NULL))
				break;
		if (cells[CAVEAT_ID].type != CELL_TEXT || cells[CAVEAT_TEXT].type != CELL_TEXT)
			continue;
		status = tell_alike(report, table, cells, next - row - 1);
		memmove(&table->cells[kept++ * CAVEAT_COLUMNS], cells,
			CAVEAT_COLUMNS * sizeof(*cells));
	}
	table->row_count = kept;
	return status;
}

const struct analysis analysis_caveats = {
	.name = "caveats",
	.meaning = "what a reader must know before believing the rest",
	.of_sums = true,
	.shape = TABLE_LIST,
	.conclude = conclude,
	.merging = { .keys = "id,text",
		     .same = "weight",
		     .many = "caveats",
		     .fixed = columns,
		     .fixed_count = CAVEAT_COLUMNS },
	.remake = remake,
};
