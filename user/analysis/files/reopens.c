/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "reopens". Few files are opened often: what a process reads after an open is learned only
 * once a file has been opened often enough. Several opens are learned, because some libraries try
 * one format after another: Python's tarfile opens an archive four times.
 */
#include "analysis/files/reopens.h"

#include <math.h>
#include <stdlib.h>

#include "collections/compare.h"
#include "collections/intervals.h"
#include "collections/map.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"

#define HEADER_READS 128       /* more are one only if they go on in order: they scan the file */
#define LEARN_AFTER 8	       /* opens by any process; and then ... */
#define LEARN_OPENS 4	       /* ... these by each process are learned */
#define PAIRS_MAX 4096	       /* of a process and a file; further ones are ignored */
#define OFFSETS_MAX (1u << 18) /* learned reads in all; a tar archive needs one for each member */

#define NO_DATA UINT8_MAX /* in place of an open count: loaded to run */

enum stage { LEARNING, OPENED, PAST };

struct pair {
	uint32_t file;
	enum stage stage;
	uint64_t begun_ns, until_ns; /* latest open: start, and end of its last known read */
	uint64_t learned;	     /* opens */
	uint64_t reads, offset;	     /* since the latest open: known ones, and that of the last */
	bool shuffled;		     /* ... and whether one went backward */
};

/* A table row. */
struct reopened {
	uint32_t file;
	uint64_t opens, time_ns;
	struct table_text path;
};

struct reopens {
	const struct job *job;
	struct arena *arena;
	uint8_t *opens;	    /* per file, at most LEARN_AFTER */
	struct map numbers; /* process, file -> index in pairs */
	struct map offsets; /* file, process, offset: learned reads */
	struct pair **pairs;
	size_t count, room;
	struct map files; /* file -> index in all */
	struct reopened *all;
	size_t all_count, all_room;
	struct intervals intervals; /* from an open to its end; they come in the order of ends */
	uint64_t time_ns;	    /* their measure */
	uint64_t completed, fresh;  /* opens in all; fresh: with a new read */
};

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct reopens *reopens = state;

	reopens->job = job;
	reopens->arena = arena;
	map_init_in(&reopens->numbers, arena, 1, 1);
	map_init_in(&reopens->offsets, arena, 2, 1);
	map_init_in(&reopens->files, arena, 1, 1);
	reopens->opens = arena_alloc(arena, job->files.count + 1);
}

/* --- during the walk --- */

/* Returns NULL if there is none; adds one if `make` is set and there is room. */
static struct pair *find_pair(struct reopens *reopens, const struct event *event, bool make)
{
	const uint64_t key = (uint64_t)event->process << 32 | event->file;
	uint64_t *number = map_find(&reopens->numbers, &key);
	struct pair *pair;
	bool added;

	if (number)
		return reopens->pairs[*number];
	if (!make || reopens->count == PAIRS_MAX)
		return NULL;
	pair = arena_alloc(reopens->arena, sizeof(*pair));
	if (!pair || !ARENA_GROW(reopens->arena, reopens->pairs, reopens->room, reopens->count + 1))
		return NULL;
	number = map_add(&reopens->numbers, &key, &added);
	if (!number)
		return NULL;
	pair->file = event->file;
	*number = reopens->count;
	reopens->pairs[reopens->count++] = pair;
	return pair;
}

/* Completes an open of the pair, at its first new read (fresh) or at the next open. */
static void complete_open(struct reopens *reopens, struct pair *pair, uint64_t end_ns, bool fresh)
{
	const uint64_t key = pair->file;
	struct reopened *file;
	bool added;

	if (pair->stage != OPENED || end_ns <= pair->begun_ns)
		return;
	file = MAP_ITEM(&reopens->files, &key, reopens->all, reopens->all_room, reopens->all_count,
			&added);
	if (!file)
		return;
	file->file = pair->file;
	file->opens++;
	file->time_ns += end_ns - pair->begun_ns;
	intervals_add(&reopens->intervals, reopens->arena, pair->begun_ns, end_ns);
	reopens->completed++;
	reopens->fresh += fresh;
}

static void add_open(struct reopens *reopens, const struct event *event)
{
	struct pair *pair;

	if (event_overwrites(event)) /* its data is not the same again */
		reopens->opens[event->file] = NO_DATA;
	if (reopens->opens[event->file] == NO_DATA)
		return;
	if (reopens->opens[event->file] < LEARN_AFTER) {
		if (++reopens->opens[event->file] == LEARN_AFTER &&
		    loaded_in(&reopens->job->files,
			      trace_text(file_table_path(&reopens->job->files, event->file))))
			reopens->opens[event->file] = NO_DATA;
		return;
	}
	pair = find_pair(reopens, event, true);
	if (!pair)
		return;
	if (pair->learned++ >= LEARN_OPENS) {
		complete_open(reopens, pair, pair->until_ns, false);
		pair->stage = OPENED;
	}
	pair->reads = 0;
	pair->shuffled = false;
	pair->begun_ns = event->start;
	pair->until_ns = event->end;
}

static void add_read(struct reopens *reopens, const struct event *event)
{
	struct pair *pair = find_pair(reopens, event, false);
	const uint64_t key[] = { (uint64_t)event->process << 32 | event->file, event->offset };
	bool added, known, backward;

	if (!pair || pair->stage == PAST || event->offset < 0)
		return;
	if (pair->stage == LEARNING) {
		if (reopens->offsets.count < OFFSETS_MAX)
			map_add(&reopens->offsets, key, &added);
		return;
	}
	known = map_find(&reopens->offsets, key);
	backward = pair->reads && key[1] <= pair->offset;
	if (known && (pair->reads < HEADER_READS || !backward)) {
		/* A scan that nothing follows may be an epoch. */
		pair->shuffled |= backward;
		pair->until_ns = pair->reads++ < HEADER_READS ? event->end : pair->begun_ns;
		pair->offset = key[1];
		return;
	}
	/* So many known reads out of order are no scan: an epoch in the same order as before. */
	if (!known || !pair->shuffled)
		complete_open(reopens, pair, event->start, true);
	pair->stage = PAST;
}

/* Waiting for a lock of the file is neither opening nor parsing. */
static void add_lock(struct reopens *reopens, const struct event *event)
{
	struct pair *pair = find_pair(reopens, event, false);

	if (pair && pair->stage == OPENED && event->end > pair->begun_ns)
		pair->begun_ns = event->end;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct reopens *reopens = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (event->file == FILE_NONE || event->file == FILE_UNKNOWN ||
		    event->flags & EVENT_FAILED)
			continue;
		if (event->flags & EVENT_OPENS)
			add_open(reopens, event);
		else if (reopens->opens[event->file] == LEARN_AFTER &&
			 (event->class == IO_READ || event->class == IO_MMAP_READ))
			add_read(reopens, event);
		else if (event->class == IO_METADATA &&
			 reopens->job->operations[event->operation].locks)
			add_lock(reopens, event);
	}
	return arena_status(reopens->arena);
}

/* --- the table --- */

static const struct table_column columns[] = {
	COLUMN(reopened, path, "file", PATH, KEY, "path of the file"),
	COLUMN(reopened, opens, "opens", COUNT, SUM,
	       "analyzed opens: repeated opens by the same process, without the file's first eight "
	       "opens and the next four by each process; over several summaries, without those of "
	       "each"),
	COLUMN(reopened, time_ns, "time", NS, THREAD,
	       "time from these opens to the first read of data not read after an earlier open, "
	       "summed over threads"),
};

COMPARE_BY(compare_reopened, struct reopened,
	   COMPARE(b->time_ns, a->time_ns) ?: COMPARE(a->file, b->file))

static void fill(void *state, struct table *table)
{
	struct reopens *reopens = state;

	for (size_t i = 0; i < reopens->count; i++)
		complete_open(reopens, reopens->pairs[i], reopens->pairs[i]->until_ns, false);
	reopens->time_ns = intervals_measure(&reopens->intervals);
	table_fail(table, arena_status(reopens->arena));
	table_add_columns(table, TABLE_COLUMNS(columns));
	if (reopens->all_count)
		qsort(reopens->all, reopens->all_count, sizeof(*reopens->all), compare_reopened);
	for (size_t i = 0; i < reopens->all_count; i++) {
		struct reopened *file = &reopens->all[i];

		file->path = trace_text(file_table_name(&reopens->job->files, file->file));
		table_add(table, file);
	}
}

uint64_t reopens_time_ns(const struct results *results)
{
	const struct reopens *reopens = results_state(results, &analysis_reopens);

	return reopens ? reopens->time_ns : 0;
}

#define TIMES_MAX 2 /* extrapolate to at most twice the measured time */

uint64_t reopens_estimated_ns(const struct results *results)
{
	const struct reopens *reopens = results_state(results, &analysis_reopens);
	uint64_t learned = 0;
	double times;

	if (!reopens || !reopens->completed)
		return 0;
	for (size_t i = 0; i < reopens->count; i++)
		learned += reopens->pairs[i]->stage == LEARNING ? 0 : LEARN_OPENS - 1;
	learned += LEARN_AFTER * reopens->all_count;
	times = 1 + (double)learned / reopens->completed;
	return fmin(reopens->time_ns * fmin(times, TIMES_MAX), 0x1p63);
}

double reopens_fresh_share(const struct results *results)
{
	const struct reopens *reopens = results_state(results, &analysis_reopens);

	return reopens && reopens->completed ? (double)reopens->fresh / reopens->completed : 1;
}

const struct analysis analysis_reopens = {
	.name = "reopens",
	.meaning = "files opened repeatedly, and the time that the opens cost",
	.title = NULL, /* only with --table, and for findings */
	.shown = "opens,time_ns,path",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct reopens),
	.begin = begin,
	.consumer = { .parallel = true,
		      .events = add_events,
		      .matters = EVENT_OPENS | WALK_CLASS(IO_READ) | WALK_CLASS(IO_MMAP_READ) |
				 WALK_CLASS(IO_METADATA) },
	.fill = fill,
	/* Each run learns on its own, so a file that it opens only a few times has no row there. */
	.merging = { .sorted = "-time_ns", .many = "files" },
};
