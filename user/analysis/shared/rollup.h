/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Rolls up measures of I/O over groups of events, for any key: job, method, process, program, rank,
 * file, directory, device, filesystem, host, second, span.
 *
 *	struct rollup rollup;
 *	rollup_init(&rollup, arena, job, rollup_find_key("rank"), ROLLUP_ALL);
 *	rollup_event(&rollup, event);                 during the walk, in order of start time
 *	for (uint32_t group = 0; group < rollup.count; group++)
 *		if (rollup_used(&rollup, group))
 *			... rollup_name(&rollup, group),
 *			    rollup_tally(&rollup, group, IO_READ)->bytes ...
 *
 * Excludes lost events; totals.c and methods.c add them where they belong.
 */
#pragma once

#include "analysis/events/series.h"
#include "analysis/shared/measure.h"
#include "analysis/events/path.h"
#include "collections/arena.h"

#define ROLLUP_NONE UINT32_MAX /* an event that belongs to no group */

/* Options, as bits. */
#define ROLLUP_ALL (1u << 0)	/* also MEASURE_IO: the union of a group's I/O */
#define ROLLUP_FAULTS (1u << 1) /* all faults in MEASURE_MMAP, not in two classes */

struct rollup;

struct rollup_key {
	const char *name;    /* "rank" */
	const char *meaning; /* one line for --help */
	/* Returns the group of an event, from 0, or ROLLUP_NONE, also after an error; NULL: the
	 * caller knows the group. */
	uint32_t (*group_of)(struct rollup *rollup, const struct event *event);
	/* Returns a group's name; empty if it has none. Valid until the next call. */
	struct table_text (*name_of)(struct rollup *rollup, uint32_t group);
	const char *none; /* name for events without a group; NULL: there are none */
};

/* Most groups see one or two measures. */
struct rollup_group {
	struct tally *tallies;	 /* allocated when needed, in order of first use */
	uint8_t place[MEASURES]; /* of each measure in `tallies`, plus 1; 0: none yet */
};

struct rollup {
	const struct job *job;
	struct arena *arena; /* of everything below */
	const struct rollup_key *key;
	unsigned int options;
	struct rollup_group *groups;
	size_t count, room; /* groups; some may have no events */
	/* For keys that find groups by name or number: */
	struct map numbers; /* name hash or number -> group */
	struct map devices; /* number of a device -> instance of the first one */
	struct rollup_name {
		const char *bytes;
		size_t length;
		uint64_t number;
	} * names; /* by group */
	size_t name_count, name_room;
	uint32_t *known; /* per file or process: group + 1; 0: unknown so far */
	size_t known_count;
	struct path_memory paths; /* ... and per path */
	uint64_t others; /* events of groups beyond the maximum, which share the last one */
	char text[64];
};

/* Maximum of directories, seconds and the like; further ones share a group without a name. */
#define ROLLUP_GROUPS_MAX (1u << 16)

/* Returns NULL for an unknown name; rollup_keys ends with a row without a name. */
const struct rollup_key *rollup_find_key(const char *name);
extern const struct rollup_key rollup_keys[];

/* Without a key the caller passes the group of each event to rollup_add. The job must outlive
 * it. */
void rollup_init(struct rollup *rollup, struct arena *arena, const struct job *job,
		 const struct rollup_key *key, unsigned int options);

/* Errors are left in the arena. */

/* Adds an event to its group; ignores one without a class. Returns 0 or -ENOMEM. A callback for
 * path_memory_emit. */
int rollup_event(void *rollup, const struct event *event);
/* Ensures that there are at least `count` groups. Returns false after an error. */
bool rollup_make_room(struct rollup *rollup, size_t count);
/* Returns a group's tally, added if there is none; NULL after an error. Valid until the next
 * tally of the group is added. */
struct tally *rollup_make_tally(struct rollup *rollup, uint32_t group, unsigned int measure);

/* The same for a group that exists already. */
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

/* Whether the event's time counts for MEASURE_IO too. */
static inline bool rollup_has_time(const struct rollup *rollup, const struct event *event)
{
	return rollup->options & ROLLUP_ALL && event->flags & EVENT_TIMED;
}

/* Adds an event with a class to a group that exists already. */
static inline void rollup_add(struct rollup *rollup, uint32_t group, const struct event *event)
{
	struct tally *tally = rollup_tally_of(rollup, group, rollup_measure(rollup, event));

	if (tally)
		tally_add(tally, event);
	if (!rollup_has_time(rollup, event))
		return;
	tally = rollup_tally_of(rollup, group, MEASURE_IO);
	if (tally)
		tally_add_time(tally, event);
}

/* Same as rollup_add for each event. */
void rollup_add_series(struct rollup *rollup, uint32_t group, const struct event_series *series);

/* Whether anything was added to a group. */
bool rollup_used(const struct rollup *rollup, uint32_t group);
/* Returns a group's tally; an empty one if nothing was added or there is no such group. */
const struct tally *rollup_tally(const struct rollup *rollup, uint32_t group, unsigned int measure);
/* Returns a group's name. */
struct table_text rollup_name(struct rollup *rollup, uint32_t group);
