/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bytes by process and time bucket, stored sparsely. */
#include "output/timeline/chrome_counters.h"

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_MAX 1000
#define BUCKET_LEAST_NS 1000000

/* Viewers append the argument's name to the counter's. */
static const char *const counter_names[COUNTER_COUNT] = {
	[COUNTER_READ] = "read",
	[COUNTER_WRITTEN] = "written",
	[COUNTER_FETCHED] = "from storage",
	[COUNTER_CREATED] = "newly cached by writes",
};

void chrome_counters_init(struct chrome_counters *counters, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t least = (until_ns > from_ns ? until_ns - from_ns : 0) / BUCKETS_MAX + 1;
	uint64_t bucket = BUCKET_LEAST_NS;

	/* 1, 2, 5, 10 ... */
	for (unsigned int step = 0; bucket < least; step++)
		bucket = step % 3 == 1 ? bucket / 2 * 5 : bucket * 2;
	*counters = (struct chrome_counters) {
		.from_ns = from_ns,
		.until_ns = until_ns,
		.bucket_ns = bucket,
	};
	map_init(&counters->buckets, 2, COUNTER_COUNT);
}

void chrome_counters_free(struct chrome_counters *counters)
{
	map_free(&counters->buckets);
}

/* Bytes moved by a time. Exact: differences add up to all bytes. */
static uint64_t moved_by(uint64_t bytes, uint64_t start_ns, uint64_t end_ns, uint64_t time_ns)
{
	if (time_ns >= end_ns)
		return bytes;
	return (unsigned __int128)bytes * (time_ns - start_ns) / (end_ns - start_ns);
}

static int add_to_bucket(struct chrome_counters *counters, uint32_t process, uint64_t bucket,
			 enum chrome_counter counter, uint64_t bytes)
{
	const uint64_t key[] = { process, bucket };
	uint64_t *sums;
	bool added;

	if (!bytes)
		return 0;
	sums = map_add(&counters->buckets, key, &added);
	if (!sums)
		return -ENOMEM;
	sums[counter] += bytes;
	return 0;
}

int chrome_counters_add(struct chrome_counters *counters, uint32_t process,
			enum chrome_counter counter, uint64_t bytes, uint64_t start_ns,
			uint64_t end_ns)
{
	uint64_t time = start_ns > counters->from_ns ? start_ns : counters->from_ns;
	uint64_t until = end_ns < counters->until_ns ? end_ns : counters->until_ns;
	uint64_t before, by;
	int status = 0;

	if (!bytes || time > until || start_ns >= counters->until_ns)
		return 0;
	before = start_ns < end_ns ? moved_by(bytes, start_ns, end_ns, time) : 0;
	do {
		uint64_t bucket = (time - counters->from_ns) / counters->bucket_ns;
		uint64_t next = counters->from_ns + (bucket + 1) * counters->bucket_ns;

		time = next < until && next > time ? next : until;
		by = moved_by(bytes, start_ns, end_ns, time);
		status = add_to_bucket(counters, process, bucket, counter, by - before);
		before = by;
	} while (!status && time < until);
	return status;
}

static void write_value(const struct chrome_counters *counters, struct chrome_threads *threads,
			struct sink *out, uint64_t base_ns, const uint64_t *key,
			enum chrome_counter counter, uint64_t bytes)
{
	uint64_t time = counters->from_ns + key[1] * counters->bucket_ns;
	struct chrome_place place = chrome_process_place(threads, key[0]);

	sink_text(out, ",\n");
	chrome_open(out, chrome_text(counter_names[counter]), chrome_text("counter"), 'C', place);
	chrome_time(out, "ts", time - base_ns);
	sink_format(out, ",\"args\":{\"bytes/s\":%.15g}}", bytes * 1e9 / counters->bucket_ns);
}

/* Writes the values that differ from the previous bucket, and zeros after the bucket if the next
 * one is empty. */
static void write_bucket(const struct chrome_counters *counters, struct chrome_threads *threads,
			 struct sink *out, uint64_t base_ns, const uint64_t *entry)
{
	static const uint64_t none[COUNTER_COUNT];
	const uint64_t *sums = entry + 2;
	const uint64_t before_key[] = { entry[0], entry[1] - 1 };
	const uint64_t next_key[] = { entry[0], entry[1] + 1 };
	const uint64_t *before = entry[1] ? map_find(&counters->buckets, before_key) : NULL;
	const uint64_t *next = map_find(&counters->buckets, next_key);

	for (int i = 0; i < COUNTER_COUNT; i++) {
		if (sums[i] != (before ? before : none)[i])
			write_value(counters, threads, out, base_ns, entry, i, sums[i]);
		if (!next && sums[i])
			write_value(counters, threads, out, base_ns, next_key, i, 0);
	}
}

static int compare_entries(const void *left, const void *right)
{
	const uint64_t *a = *(const uint64_t *const *)left, *b = *(const uint64_t *const *)right;

	if (a[0] != b[0])
		return a[0] < b[0] ? -1 : 1;
	return a[1] < b[1] ? -1 : a[1] > b[1];
}

int chrome_counters_write(const struct chrome_counters *counters, struct chrome_threads *threads,
			  struct sink *out, uint64_t base_ns)
{
	const struct map *map = &counters->buckets;
	const uint64_t **entries = reallocarray(NULL, map->count + 1, sizeof(*entries));
	size_t count = 0, at = 0;
	uint64_t *value;

	if (!entries)
		return -ENOMEM;
	while (map_next(map, &at, &entries[count], &value))
		count++;
	qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count && !out->error; i++)
		write_bucket(counters, threads, out, base_ns, entries[i]);
	free(entries);
	return 0;
}
