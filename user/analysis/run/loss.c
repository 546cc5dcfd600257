/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Causes of loss: noted while recording, or damage found when reading a trace. Events that are not
 * accounted for.
 */
#include "analysis/run/loss.h"

#include <string.h>

#include "base/number.h"
#include "base/units.h"

static const struct {
	struct loss_cause cause;
	const char *note; /* from the recording; NULL: found when reading */
} causes[] = {
	{ { "buffers", "events arrived faster than Faultline read them",
	    "record with a larger --buffer, or with fewer --layers" },
	  TRACE_NOTE_LOST_FULL },
	{ { "stopped",
	    "Faultline was blocked for 1 s or more (stopped, without a CPU, or waiting for the "
	    "trace's disk)",
	    "do not stop Faultline while the job runs, leave it a CPU, and write the trace to a "
	    "fast disk" },
	  TRACE_NOTE_LOST_STOPPED },
	{ { "disk", "the trace could not be written",
	    "write the trace (-o) to a file system with more space" },
	  TRACE_NOTE_LOST_NO_ROOM },
	{ { "damage", "part of the trace is damaged", "copy the trace again from an intact copy" },
	  NULL },
};
#define CAUSES (sizeof(causes) / sizeof(causes[0]))

const struct loss_cause *loss_cause_of(const struct job *job)
{
	const struct loss_cause *worst = NULL;
	uint64_t max = 0;

	for (size_t i = 0; i < CAUSES; i++) {
		uint64_t lost =
			causes[i].note ? job_count_notes(job, causes[i].note) : job->damaged;

		if (lost <= max)
			continue;
		max = lost;
		worst = &causes[i].cause;
	}
	return worst;
}

const struct loss_cause *loss_cause_named(const char *name, size_t length)
{
	const char *end = memchr(name, ',', length);

	if (end)
		length = end - name;
	for (size_t i = 0; i < CAUSES; i++)
		if (strlen(causes[i].cause.name) == length &&
		    !memcmp(causes[i].cause.name, name, length))
			return &causes[i].cause;
	return NULL;
}

void loss_say(struct strbuf *text, const struct job *job)
{
	const struct loss_cause *cause = loss_cause_of(job);
	const char *between = " (";
	char count[UNITS_TEXT];

	if (!job->lost)
		return;
	strbuf_add(text, "%s events were lost", units_count(count, job->lost));
	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		for (size_t j = 0; totals && j < totals->kind_count && job->trace_count == 1; j++) {
			if (!totals->kinds[j].lost)
				continue;
			strbuf_add(text, "%s%s %s", between, totals->kinds[j].kind,
				   units_count(count, totals->kinds[j].lost));
			between = ", ";
		}
	}
	strbuf_add(text,
		   "%s%s%s: times and shares of the run are lower bounds (≥), and tables of files "
		   "and processes exclude these events; counts and bytes in the totals are exact",
		   *between == ',' ? ")" : "", cause ? " because " : "", cause ? cause->why : "");
	strbuf_add(text, "; to avoid this, %s",
		   cause ? cause->remedy : "record with a larger --buffer");
}

/* --- events that are not accounted for --- */

/* Returns the number of rows of a kind in the trace. */
static uint64_t count_rows(const struct job_trace *trace, const char *kind)
{
	size_t blocks = trace_reader_block_count(trace->reader);
	uint64_t rows = 0;

	for (size_t i = 0; i < blocks; i++) {
		const struct trace_block_info *info = trace_reader_block_info(trace->reader, i);

		if (!strcmp(trace_schemas[info->kind].kind, kind))
			rows += info->rows;
	}
	return rows;
}

static bool has_rows(const char *kind)
{
	for (int i = 0; i < TRACE_KIND_COUNT; i++)
		if (!strcmp(trace_schemas[i].kind, kind))
			return true;
	return false;
}

/* Sums the totals of a kind, which may have some for each of several layers, into `sum`. Returns
 * false if an earlier entry is of the same kind. */
static bool sum_kind(const struct trace_totals *totals, size_t number, struct trace_kind_total *sum)
{
	*sum = (struct trace_kind_total) { .kind = totals->kinds[number].kind };
	for (size_t i = 0; i < totals->kind_count; i++) {
		const struct trace_kind_total *kind = &totals->kinds[i];

		if (strcmp(kind->kind, sum->kind))
			continue;
		if (i < number)
			return false;
		sum->events = number_add(sum->events, kind->events);
		sum->written = number_add(sum->written, kind->written);
		sum->lost = number_add(sum->lost, kind->lost);
	}
	return true;
}

uint64_t loss_unaccounted(const struct job *job)
{
	uint64_t unaccounted = 0;

	for (size_t i = 0; i < job->trace_count; i++) {
		const struct trace_totals *totals = job->traces[i].totals;

		if (trace_reader_damage(job->traces[i].reader))
			continue; /* rows lost to damage are counted elsewhere */
		for (size_t j = 0; totals && j < totals->kind_count; j++) {
			struct trace_kind_total sum;
			uint64_t there, reported;

			if (!sum_kind(totals, j, &sum))
				continue;
			there = has_rows(sum.kind) ? count_rows(&job->traces[i], sum.kind)
						   : sum.written;
			reported = number_add(there, sum.lost);
			unaccounted = number_add(unaccounted, reported > sum.events
								      ? reported - sum.events
								      : sum.events - reported);
		}
	}
	return unaccounted;
}
