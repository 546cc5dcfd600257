/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums over events, and columns of tables made from them. Knows nothing of which events they are.
 */
#ifndef FAULTLINE_TALLY_H
#define FAULTLINE_TALLY_H

#include "analysis/event.h"
#include "analysis/interval.h"
#include "analysis/table.h"

/* All zeros is empty. Sums of hostile numbers wrap around. */
struct tally {
	uint64_t count, errors;
	uint64_t bytes, fetched_bytes;
	uint64_t major;
	uint64_t thread_time_ns;
	struct interval_union time; /* its measure is the merged time */
};

/* Events must come in the order of their starts. */
static inline void tally_add(struct tally *tally, const struct event *event)
{
	if (event->flags & EVENT_COUNTED) {
		tally->count++;
		tally->errors += event->flags & EVENT_FAILED ? 1 : 0;
	}
	tally->bytes += event->bytes;
	tally->fetched_bytes += event->fetched_bytes;
	tally->major += event->major;
	if (event->flags & EVENT_TIMED) {
		tally->thread_time_ns += event->end - event->start;
		interval_add(&tally->time, event->start, event->end);
	}
}

/* What the kernel counted beyond the rows. It says nothing of merged time. */
void tally_add_unseen(struct tally *tally, const struct trace_operation_total *unseen,
		      const struct event_unseen *place);

/* A column of a table: a sum of a tally. */
struct tally_field {
	const char *name, *title; /* title NULL: only in JSON */
	enum table_unit unit;
	size_t offset;	    /* of a uint64_t in struct tally */
	unsigned int needs; /* JOB_*: null without them */
};

/* Columns "NAME.FIELD" of one tally; a single column NAME that is null when a layer is missing. */
struct tally_group {
	const char *name,
		*title;	    /* title: goes in front of those of the fields; NULL: only in JSON */
	unsigned int needs; /* JOB_* */
	const struct tally_field *fields;
	size_t field_count;
};

#define TALLY_FIELDS(fields) (fields), sizeof(fields) / sizeof((fields)[0])

/* Returns 0 or -ENOMEM. */
int tally_add_columns(struct table *table, const struct job *job, const struct tally_group *group);
/* Fills the group's cells, the first of which is given, and returns the cell after them. A NULL
 * tally is an empty one. */
struct cell *tally_fill(struct cell *cell, const struct job *job, const struct tally_group *group,
			const struct tally *tally);

#endif
