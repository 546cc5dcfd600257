/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * One roll-up of the measures of I/O over groups of events, whatever the key that tells the groups
 * apart: job, method, process, program, rank, file, directory, device, filesystem, host,
 * second, span.
 *
 *	struct rollup rollup;
 *	rollup_init(&rollup, job, rollup_find_key("rank"), ROLLUP_ALL);
 *	rollup_events(&rollup, events, count);        in passing, in the order of their starts
 *	for (uint32_t group = 0; group < rollup.count; group++)
 *		if (rollup_used(&rollup, group))
 *			... rollup_name(&rollup, group, &text),
 *			    rollup_tally(&rollup, group, IO_READ)->bytes ...
 *	rollup_free(&rollup);
 *
 * Sums are of rows; what was lost is added by who knows where it belongs (totals.c, methods.c).
 */
#ifndef FAULTLINE_ROLLUP_H
#define FAULTLINE_ROLLUP_H

#include "analysis/model/series.h"
#include "analysis/measure.h"
#include "analysis/model/path.h"
#include "arena.h"

#define ROLLUP_NONE UINT32_MAX /* an event of no group */

/* Options, as bits. */
#define ROLLUP_ALL (1u << 0)	/* MEASURE_IO, too: the union of all I/O of a group */
#define ROLLUP_FAULTS (1u << 1) /* all faults in MEASURE_MMAP, in place of their two classes */

struct rollup;

struct rollup_key {
	const char *name;    /* "rank" */
	const char *meaning; /* a line for --help */
	/* The group of an event, a number from 0, or ROLLUP_NONE; NULL: the caller knows it. */
	int (*group_of)(struct rollup *rollup, const struct event *event, uint32_t *group);
	/* What a group is called; no bytes where it has no name. Valid until the next call. */
	struct table_text (*name_of)(struct rollup *rollup, uint32_t group);
	const char *none; /* what events of no group are called; NULL: there are none */
};

/* Most groups see one or two measures. */
struct rollup_group {
	struct tally *tallies;	 /* those that were needed, in the order of their first use */
	uint8_t place[MEASURES]; /* of each measure among them, plus 1; 0: none yet */
};

struct rollup {
	const struct job *job;
	const struct rollup_key *key;
	unsigned int options;
	struct rollup_group *groups;
	size_t count, room; /* groups; not all of them need have events */
	/* For keys whose groups are found by name or number: */
	struct map numbers; /* what tells a group apart -> group */
	struct rollup_name {
		const char *bytes;
		size_t length;
		uint64_t number;
	} * names; /* by group */
	size_t name_count, name_room;
	struct arena texts;
	uint32_t *known; /* of each file or process: its group + 1, 0 for not yet known */
	size_t known_count;
	struct path_memory paths; /* ... and of paths */
	uint64_t others;	  /* groups beyond the most there may be: they share the last one */
	char text[64];
};

/* Groups of directories, seconds and the like; further ones share a group of no name. */
#define ROLLUP_GROUPS_MOST (1u << 16)

/* NULL for a name that is none; rollup_keys ends with a row without a name. */
const struct rollup_key *rollup_find_key(const char *name);
extern const struct rollup_key rollup_keys[];

/* Without a key the caller names the group of each event: rollup_add. The job must outlive it. */
void rollup_init(struct rollup *rollup, const struct job *job, const struct rollup_key *key,
		 unsigned int options);
void rollup_free(struct rollup *rollup);
/* `begin` and `end` of an analysis whose state is a rollup by directories. */
int rollup_begin_directories(const struct job *job, void **state);
void rollup_end(void *state);

/* Functions return 0 or -ENOMEM. */

/* Adds events to their groups; those of no class are passed over. */
int rollup_events(struct rollup *rollup, const struct event *events, size_t count);
/* The same of one, to be told by path_memory_tell. */
int rollup_event(void *rollup, const struct event *event);
/* Sees that there are groups up to a number. */
int rollup_make_room(struct rollup *rollup, size_t count);
/* The tally of a group, made if there is none; NULL when memory is out. Valid until the next one of
 * the group is made. */
struct tally *rollup_make_tally(struct rollup *rollup, uint32_t group, unsigned int measure);

/* The same of a group that there is room for. */
static inline struct tally *rollup_tally_of(struct rollup *rollup, uint32_t group,
					    unsigned int measure)
{
	const struct rollup_group *to = &rollup->groups[group];

	if (to->place[measure])
		return &to->tallies[to->place[measure] - 1];
	return rollup_make_tally(rollup, group, measure);
}

static inline unsigned int rollup_measure(const struct rollup *rollup, const struct event *event)
{
	return rollup->options & ROLLUP_FAULTS && event->class >= IO_MMAP_READ ? MEASURE_MMAP
									       : event->class;
}

/* Whether it is time of MEASURE_IO, too. */
static inline bool rollup_has_time(const struct rollup *rollup, const struct event *event)
{
	return rollup->options & ROLLUP_ALL && event->flags & EVENT_TIMED;
}

/* Adds an event of a class to a group that there is room for. */
static inline int rollup_add(struct rollup *rollup, uint32_t group, const struct event *event)
{
	struct tally *tally = rollup_tally_of(rollup, group, rollup_measure(rollup, event));

	if (!tally)
		return -1;
	tally_add(tally, event);
	if (!rollup_has_time(rollup, event))
		return 0;
	tally = rollup_tally_of(rollup, group, MEASURE_IO);
	if (!tally)
		return -1;
	tally_add_time(tally, event);
	return 0;
}

/* As rollup_add of each. */
int rollup_add_series(struct rollup *rollup, uint32_t group, const struct event_series *series);

/* Whether anything was added to a group. */
bool rollup_used(const struct rollup *rollup, uint32_t group);
/* What was added; an empty one if nothing was, or there is no such group. */
const struct tally *rollup_tally(const struct rollup *rollup, uint32_t group, unsigned int measure);
/* What a group is called. */
struct table_text rollup_name(struct rollup *rollup, uint32_t group);

#endif
