/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "reopens". Few files are opened often: what a process reads after an open is learned only
 * once a file has been opened often enough.
 */
#include "analysis/files/reopens.h"

#include <errno.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/interval.h"
#include "base/map.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "base/grow.h"

#define LEARN_AFTER 8	/* opens by any process; the next one by each process is learned */
#define PAIRS_MAX 4096	/* of a process and a file; further ones are ignored */
#define OFFSETS_MAX 128 /* learned reads; a header needs a few */

#define NO_DATA UINT8_MAX /* in place of an open count: loaded to run */

enum stage { LEARNING, OPENED, PAST };

struct pair {
	uint32_t file;
	enum stage stage;
	uint64_t begun_ns, until_ns; /* latest open: start, and end of its last known read */
	uint64_t offsets[OFFSETS_MAX];
	size_t count;
};

/* A table row. */
struct reopened {
	uint32_t file;
	uint64_t opens, time_ns;
	struct table_text path;
};

struct reopens {
	const struct job *job;
	uint8_t *opens;	    /* per file, at most LEARN_AFTER */
	struct map numbers; /* process, file -> index in pairs */
	struct pair **pairs;
	size_t count, room;
	struct map files; /* file -> index in all */
	struct reopened *all;
	size_t all_count, all_room;
	struct interval_union time;
};

static int begin(const struct job *job, void **state)
{
	struct reopens *reopens = calloc(1, sizeof(*reopens));

	if (!reopens)
		return -ENOMEM;
	*state = reopens;
	reopens->job = job;
	map_init(&reopens->numbers, 1, 1);
	map_init(&reopens->files, 1, 1);
	reopens->opens = calloc(job->files.count + 1, 1);
	return reopens->opens ? 0 : -ENOMEM;
}

static void end(void *state)
{
	struct reopens *reopens = state;

	for (size_t i = 0; i < reopens->count; i++)
		free(reopens->pairs[i]);
	free(reopens->pairs);
	free(reopens->all);
	free(reopens->opens);
	map_free(&reopens->numbers);
	map_free(&reopens->files);
	free(reopens);
}

/* --- during the walk --- */

/* Sets *pair to NULL if there is none; adds one if `make` is set and there is room. */
static int find_pair(struct reopens *reopens, const struct event *event, bool make,
		     struct pair **pair)
{
	const uint64_t key = (uint64_t)event->process << 32 | event->file;
	uint64_t *number = map_find(&reopens->numbers, &key);
	bool added;

	*pair = number ? reopens->pairs[*number] : NULL;
	if (number || !make || reopens->count == PAIRS_MAX)
		return 0;
	*pair = calloc(1, sizeof(**pair));
	if (!*pair || !GROW(reopens->pairs, reopens->room, reopens->count + 1) ||
	    !(number = map_add(&reopens->numbers, &key, &added))) {
		free(*pair);
		return -ENOMEM;
	}
	(*pair)->file = event->file;
	*number = reopens->count;
	reopens->pairs[reopens->count++] = *pair;
	return 0;
}

/* Completes an open of the pair, at its first new read or at the next open. */
static int settle(struct reopens *reopens, struct pair *pair, uint64_t end_ns)
{
	const uint64_t key = pair->file;
	uint64_t *place;
	bool added;

	if (pair->stage != OPENED || end_ns <= pair->begun_ns)
		return 0;
	place = map_add(&reopens->files, &key, &added);
	if (!place || (added && !GROW(reopens->all, reopens->all_room, reopens->all_count + 1)))
		return -ENOMEM;
	if (added) {
		*place = reopens->all_count;
		reopens->all[reopens->all_count++] = (struct reopened) { .file = pair->file };
	}
	reopens->all[*place].opens++;
	reopens->all[*place].time_ns += end_ns - pair->begun_ns;
	interval_add(&reopens->time, pair->begun_ns, end_ns);
	return 0;
}

static int add_open(struct reopens *reopens, const struct event *event)
{
	struct pair *pair;
	int status;

	if (reopens->opens[event->file] == NO_DATA)
		return 0;
	if (reopens->opens[event->file] < LEARN_AFTER) {
		if (++reopens->opens[event->file] == LEARN_AFTER &&
		    loaded_in(&reopens->job->files,
			      trace_text(file_table_path(&reopens->job->files, event->file))))
			reopens->opens[event->file] = NO_DATA;
		return 0;
	}
	status = find_pair(reopens, event, true, &pair);
	if (status || !pair)
		return status;
	if (pair->begun_ns) {
		status = settle(reopens, pair, pair->until_ns);
		pair->stage = OPENED;
	}
	pair->begun_ns = event->start;
	pair->until_ns = event->end;
	return status;
}

static bool has_learned(const struct pair *pair, uint64_t offset)
{
	for (size_t i = 0; i < pair->count; i++)
		if (pair->offsets[i] == offset)
			return true;
	return false;
}

static int add_read(struct reopens *reopens, const struct event *event)
{
	struct pair *pair;
	int status = find_pair(reopens, event, false, &pair);

	if (status || !pair || pair->stage == PAST || event->offset < 0)
		return status;
	if (pair->stage == LEARNING) {
		if (pair->count < OFFSETS_MAX)
			pair->offsets[pair->count++] = event->offset;
		return 0;
	}
	if (has_learned(pair, event->offset)) {
		pair->until_ns = event->end;
		return 0;
	}
	status = settle(reopens, pair, event->start);
	pair->stage = PAST;
	return status;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct reopens *reopens = state;
	int status = 0;

	for (const struct event *event = events; event < events + count && !status; event++) {
		if (event->file == FILE_NONE || event->file == FILE_UNKNOWN ||
		    event->flags & EVENT_FAILED)
			continue;
		if (event->flags & EVENT_OPENS)
			status = add_open(reopens, event);
		else if (reopens->opens[event->file] == LEARN_AFTER &&
			 (event->class == IO_READ || event->class == IO_MMAP_READ))
			status = add_read(reopens, event);
	}
	return status;
}

/* --- the table --- */

static const struct table_column columns[] = {
	{ "path", "file", UNIT_PATH, KIND_KEY, "path of the file",
	  TABLE_TEXT(struct reopened, path), 0 },
	{ "opens", "opens", UNIT_COUNT, KIND_SUM,
	  "analyzed opens: repeated opens by the same process, without the file's first eight "
	  "opens",
	  TABLE_UINT(struct reopened, opens), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_THREAD,
	  "time from these opens to the first read of data not read after an earlier open, summed "
	  "over threads",
	  TABLE_UINT(struct reopened, time_ns), 0 },
};

static int compare_reopened(const void *a, const void *b)
{
	const struct reopened *one = a, *other = b;

	return COMPARE(other->time_ns, one->time_ns) ?: COMPARE(one->file, other->file);
}

static int fill(void *state, struct table *table)
{
	struct reopens *reopens = state;
	int status = 0;

	for (size_t i = 0; i < reopens->count && !status; i++)
		status = settle(reopens, reopens->pairs[i], reopens->pairs[i]->until_ns);
	if (!status)
		status = table_add_columns(table, TABLE_COLUMNS(columns));
	if (reopens->all_count)
		qsort(reopens->all, reopens->all_count, sizeof(*reopens->all), compare_reopened);
	for (size_t i = 0; i < reopens->all_count && !status; i++) {
		struct reopened *file = &reopens->all[i];

		file->path = trace_text(file_table_name(&reopens->job->files, file->file));
		status = table_add(table, file);
	}
	return status;
}

uint64_t reopens_time_ns(const struct results *results)
{
	const struct reopens *reopens = results_state(results, &analysis_reopens);

	return reopens ? reopens->time.measure : 0;
}

const struct analysis analysis_reopens = {
	.name = "reopens",
	.meaning = "files opened repeatedly, and the time that the opens cost",
	.title = NULL, /* only with --table, and for findings */
	.shown = "opens,time_ns,path",
	.shape = TABLE_LIST,
	.begin = begin,
	.consumer = { .apart = true,
		      .events = add_events,
		      .matters = EVENT_OPENS | WALK_CLASS(IO_READ) | WALK_CLASS(IO_MMAP_READ) },
	.fill = fill,
	.end = end,
	.merging = { .sorted = "-time_ns", .many = "files" },
};
