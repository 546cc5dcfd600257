/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* I/O by a key, with a row for events that belong to no group. */
#include "analysis/totals/groups.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/number.h"

struct groups {
	const struct job *job;
	struct arena *arena;
	struct rollup rollup;
	/* Row for events without a group, so that rows add up to the total; NULL if there are
	 * none. */
	struct groups *rest;
	uint64_t *pauses_ns; /* by group */
	size_t pauses_room;
	struct through_cache *cached; /* by group */
	size_t cached_room;
};

/* Bytes that calls read through the page cache, and how many of them came from storage. */
struct through_cache {
	uint64_t read_bytes, fetched_bytes;
};

/* A group as the columns see it. */
struct groups_row {
	struct table_text name;
	uint64_t time_ns, thread_time_ns, operations, fetched_bytes, created_bytes, pause_ns;
	double from_memory;
	struct tally tallies[MEASURES];
};

static const unsigned int shown[] = { IO_READ, IO_WRITE, IO_METADATA, IO_SYNC, MEASURE_MMAP };
#define SHOWN (sizeof(shown) / sizeof(shown[0]))

static const struct table_column columns[] = {
	COLUMN(groups_row, name, "name", PATH, KEY, "name of the group"),
	COLUMN(groups_row, time_ns, "time", NS, UNION,
	       "time with at least one operation or fault in progress"),
	COLUMN(groups_row, thread_time_ns, "thread time", NS, THREAD,
	       "operation time summed over threads"),
	COLUMN(groups_row, operations, "ops", COUNT, SUM, "calls and faults"),
	COLUMN(groups_row, fetched_bytes, "from storage", BYTES, SUM,
	       "bytes read from storage into the page cache, readahead included", JOB_PAGECACHE),
	COLUMN(groups_row, created_bytes, "newly cached", BYTES, SUM,
	       "bytes of new page-cache pages filled by writes", JOB_PAGECACHE),
	COLUMN(groups_row, from_memory, "from memory", SHARE, DERIVED,
	       "share of the bytes read by calls, O_DIRECT excluded, that came from the page cache",
	       JOB_PAGECACHE),
	COLUMN(groups_row, pause_ns, "throttled", NS, SUM,
	       "time writers were throttled because of too many dirty pages, summed over threads; "
	       "part of the time of their calls and faults",
	       JOB_THROTTLED),
};

struct groups *groups_new(struct arena *arena, const struct job *job, const struct rollup_key *key)
{
	struct groups *groups = arena_alloc(arena, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->job = job;
	groups->arena = arena;
	rollup_init(&groups->rollup, arena, job, key, ROLLUP_ALL | ROLLUP_FAULTS);
	if (key->none)
		groups->rest = groups_new(arena, job, rollup_find_key("job"));
	return groups;
}

/* Throttling is part of the time of operations that are already in the group. */
static void add_pause(struct groups *groups, uint32_t group, const struct event *event)
{
	if (ARENA_GROW(groups->arena, groups->pauses_ns, groups->pauses_room, (size_t)group + 1))
		groups->pauses_ns[group] += event_time_ns(event);
}

static void add_cached(struct groups *groups, uint32_t group, const struct event *event)
{
	if (!ARENA_GROW(groups->arena, groups->cached, groups->cached_room, (size_t)group + 1))
		return;
	groups->cached[group].read_bytes += event->bytes;
	groups->cached[group].fetched_bytes += event->fetched_bytes;
}

static void add_event(struct groups *groups, uint32_t group, const struct event *event)
{
	if (event->class != IO_NONE && rollup_make_room(&groups->rollup, (size_t)group + 1))
		rollup_add(&groups->rollup, group, event);
	if (event->flags & EVENT_THROTTLED)
		add_pause(groups, group, event);
	else if (event->class == IO_READ && !(event->flags & EVENT_DIRECT))
		add_cached(groups, group, event);
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct groups *groups = state;

	for (const struct event *event = events; event < events + count; event++) {
		uint32_t group;

		if (event->class == IO_NONE && !(event->flags & EVENT_THROTTLED))
			continue;
		group = groups->rollup.key->group_of(&groups->rollup, event);
		if (group != ROLLUP_NONE)
			add_event(groups, group, event);
		else if (groups->rest)
			add_event(groups->rest, 0, event);
	}
	return arena_status(groups->arena);
}

const struct walk_calls groups_calls = { .events = add_events, .sums = true };

/* Readahead may fetch more of a file than is read; NAN: nothing was read. */
static double share_from_memory(const struct groups *groups, uint32_t group)
{
	const struct through_cache *cached;

	if (group >= groups->cached_room || !groups->cached[group].read_bytes)
		return NAN;
	cached = &groups->cached[group];
	return (double)number_sub(cached->read_bytes, cached->fetched_bytes) / cached->read_bytes;
}

static struct groups_row line_of(struct groups *groups, uint32_t group)
{
	const struct tally *all = rollup_tally(&groups->rollup, group, MEASURE_IO);
	struct groups_row line = {
		.name = rollup_name(&groups->rollup, group),
		.time_ns = all->time.measure,
		.thread_time_ns = all->thread_time_ns,
		.pause_ns = group < groups->pauses_room ? groups->pauses_ns[group] : 0,
		.from_memory = share_from_memory(groups, group),
	};

	for (size_t i = 0; i < SHOWN; i++) {
		struct tally *tally = &line.tallies[shown[i]];

		*tally = *rollup_tally(&groups->rollup, group, shown[i]);
		line.operations += tally->count;
		line.fetched_bytes += tally->fetched_bytes;
		line.created_bytes += tally->created_bytes;
	}
	return line;
}

static void add_columns(struct table *table)
{
	table_add_columns(table, TABLE_COLUMNS(columns));
	for (size_t i = 0; i < SHOWN; i++)
		measure_add_columns(table, shown[i], ~0u, ~0u,
				    offsetof(struct groups_row, tallies) +
					    shown[i] * sizeof(struct tally));
}

static void add_rest(struct groups *groups, struct table *table)
{
	const struct rollup_key *key = groups->rollup.key;
	struct groups_row line = line_of(groups->rest, 0);
	const char *name = key->none;

	/* Calls aggregated in the kernel do not show whether a span was open. */
	if (groups->job->aggregated && key == rollup_find_key("span"))
		name = "(no span, or unknown)";
	line.name = (struct table_text) { name, strlen(name) };
	table_add(table, &line);
}

/* Keys whose groups have a natural order. */
static bool is_ordered(const struct rollup_key *key)
{
	return key == rollup_find_key("second") || key == rollup_find_key("rank");
}

int groups_fill(struct groups *groups, struct table **table)
{
	const struct rollup *rollup = &groups->rollup;

	*table = table_new(rollup->key->name, rollup->key->meaning, TABLE_LIST);
	if (!*table)
		return -ENOMEM;
	(*table)->recorded = groups->job->layers;
	add_columns(*table);
	for (uint32_t i = 0; i < rollup->count; i++) {
		struct groups_row line;

		if (!rollup_used(rollup, i))
			continue;
		line = line_of(groups, i);
		table_add(*table, &line);
	}
	if (groups->rest && rollup_used(&groups->rest->rollup, 0))
		add_rest(groups, *table);
	if (rollup->others)
		table_set_note(*table, "groups beyond the limit share the row without a name");
	return table_show(*table,
			  "name,time_ns,fetched_bytes,read.bytes,write.bytes,mmap.faults,"
			  "metadata.count,operations,thread_time_ns,pause_ns",
			  is_ordered(rollup->key) ? NULL : "time_ns", NULL, NULL);
}
