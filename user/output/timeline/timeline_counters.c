/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes by process and time bucket, stored sparsely. */
#include "collections/compare.h"
#include "base/number.h"
#include "output/timeline/timeline_model.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_MAX 1000
#define BUCKET_NS_MIN 1000000

/* Bucket lengths are 1, 2 or 5 times a power of ten of ns, at least 1 ms, and give at most
 * BUCKETS_MAX. */
void counters_init(struct model *model)
{
	uint64_t length_ns = model->timeline.until_ns - model->timeline.from_ns;
	uint64_t min_ns = length_ns / BUCKETS_MAX + 1;

	model->bucket_ns = BUCKET_NS_MIN;
	for (unsigned int step = 0; model->bucket_ns < min_ns; step++)
		model->bucket_ns = step % 3 == 1 ? model->bucket_ns / 2 * 5 : model->bucket_ns * 2;
	map_init(&model->buckets, 2, COUNTER_COUNT);
}

void counters_free(struct model *model)
{
	map_free(&model->buckets);
}

static void add_to_bucket(struct model *model, uint32_t process, uint64_t bucket,
			  enum timeline_counter counter, uint64_t bytes)
{
	const uint64_t key[] = { process, bucket };
	uint64_t *sums;
	bool added;

	if (!bytes)
		return;
	sums = map_add(&model->buckets, key, &added);
	if (sums)
		sums[counter] += bytes;
	else
		timeline_fail(&model->timeline, -ENOMEM);
}

static uint64_t bucket_of(const struct model *model, uint64_t time_ns)
{
	return (time_ns - model->timeline.from_ns) / model->bucket_ns;
}

static void flush(struct model *model, struct recent_bucket *recent)
{
	for (int i = 0; i < COUNTER_COUNT && recent->until_ns; i++)
		add_to_bucket(model, recent->process, bucket_of(model, recent->from_ns), i,
			      recent->sums[i]);
	*recent = (struct recent_bucket) { 0 };
}

/* Returns the sums of the bucket that an operation lies in; NULL if it is not in a single one. Most
 * operations are in the same bucket as the one before. */
static uint64_t *find_recent(struct model *model, uint32_t process, uint64_t start_ns,
			     uint64_t end_ns)
{
	struct recent_bucket *recent = &model->recent[process % COUNTERS_RECENT];
	uint64_t from_ns;

	if (recent->process == process && start_ns >= recent->from_ns &&
	    start_ns < recent->until_ns && end_ns <= recent->until_ns)
		return recent->sums;
	from_ns = model->timeline.from_ns + bucket_of(model, start_ns) * model->bucket_ns;
	if (end_ns - from_ns > model->bucket_ns)
		return NULL;
	flush(model, recent);
	recent->process = process;
	recent->from_ns = from_ns;
	recent->until_ns = from_ns + model->bucket_ns;
	return recent->sums;
}

/* Bytes moved by a time. Exact: differences add up to all bytes. */
static uint64_t moved_by(uint64_t bytes, uint64_t start_ns, uint64_t end_ns, uint64_t time_ns)
{
	if (time_ns >= end_ns)
		return bytes;
	return (unsigned __int128)bytes * (time_ns - start_ns) / (end_ns - start_ns);
}

/* Spreads the bytes evenly over the time. */
static void spread(struct model *model, uint32_t process, enum timeline_counter counter,
		   uint64_t bytes, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = model->timeline.from_ns, until_ns = model->timeline.until_ns;
	uint64_t time = number_max(start_ns, from_ns);
	uint64_t until = number_min(end_ns, until_ns);
	uint64_t before, by;

	if (!bytes || time > until || start_ns >= until_ns)
		return;
	before = start_ns < end_ns ? moved_by(bytes, start_ns, end_ns, time) : 0;
	do {
		uint64_t bucket = bucket_of(model, time);
		uint64_t next = from_ns + (bucket + 1) * model->bucket_ns;

		time = next < until && next > time ? next : until;
		by = moved_by(bytes, start_ns, end_ns, time);
		add_to_bucket(model, process, bucket, counter, by - before);
		before = by;
	} while (time < until);
}

void counters_add(struct model *model, uint32_t process, const struct event *event)
{
	const struct timeline *timeline = &model->timeline;
	uint64_t start_ns = number_sub(event->start, timeline->base_ns);
	uint64_t end_ns = number_sub(event->end, timeline->base_ns), *sums = NULL;
	const uint64_t bytes[COUNTER_COUNT] = {
		[COUNTER_READ] = event->class == IO_READ ? event->bytes : 0,
		[COUNTER_WRITTEN] = event->class == IO_WRITE ? event->bytes : 0,
		[COUNTER_FETCHED] = event->fetched_bytes,
		[COUNTER_CREATED] = event->created_bytes,
	};

	if (!(bytes[COUNTER_READ] | bytes[COUNTER_WRITTEN] | bytes[COUNTER_FETCHED] |
	      bytes[COUNTER_CREATED]))
		return;
	if (start_ns >= timeline->from_ns && end_ns <= timeline->until_ns)
		sums = find_recent(model, process, start_ns, end_ns);
	for (int i = 0; i < COUNTER_COUNT; i++)
		if (sums)
			sums[i] += bytes[i];
		else
			spread(model, process, i, bytes[i], start_ns, end_ns);
}

/* --- writing --- */

static void write_value(struct model *model, const uint64_t *key, enum timeline_counter counter,
			uint64_t bytes)
{
	uint32_t process = track_of_process(model, key[0]);
	uint32_t track = track_find(model, TIMELINE_COUNTER, key[0], counter, process);

	if (track != TIMELINE_NONE)
		model->encoder->counter(&model->timeline, track_use(model, track),
					model->timeline.from_ns + key[1] * model->bucket_ns,
					bytes * 1e9 / model->bucket_ns);
}

/* Writes the values that differ from the previous bucket, and zeros after the bucket if the next
 * one is empty. */
static void write_bucket(struct model *model, const uint64_t *entry)
{
	static const uint64_t none[COUNTER_COUNT];
	const uint64_t *sums = entry + 2;
	const uint64_t before_key[] = { entry[0], entry[1] - 1 };
	const uint64_t next_key[] = { entry[0], entry[1] + 1 };
	const uint64_t *before = entry[1] ? map_find(&model->buckets, before_key) : NULL;
	const uint64_t *next = map_find(&model->buckets, next_key);

	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (sums[i] != (before ? before : none)[i])
			write_value(model, entry, i, sums[i]);
		if (!next && sums[i])
			write_value(model, next_key, i, 0);
	}
}

static int compare_entries(const void *left, const void *right)
{
	const uint64_t *a = *(const uint64_t *const *)left, *b = *(const uint64_t *const *)right;

	return COMPARE(a[0], b[0]) ?: COMPARE(a[1], b[1]);
}

void counters_write(struct model *model)
{
	const struct map *map = &model->buckets;
	const uint64_t **entries;
	size_t count = 0, at = 0;
	uint64_t *value;

	if (!model->encoder->counter)
		return;
	for (size_t i = 0; i < COUNTERS_RECENT; i++)
		flush(model, &model->recent[i]);
	entries = reallocarray(NULL, map->count + 1, sizeof(*entries));
	if (!entries) {
		timeline_fail(&model->timeline, -ENOMEM);
		return;
	}
	while (map_next(map, &at, &entries[count], &value))
		count++;
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count && !model->timeline.error; i++)
		write_bucket(model, entries[i]);
	free(entries);
}
