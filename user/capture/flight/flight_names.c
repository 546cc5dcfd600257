/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A table of records by file id, each with its last use. */
#include "capture/flight/flight_names.h"
#include "collections/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Per name, besides its record: malloc's header and two table slots (tables are half full). */
#define NAME_OVERHEAD (16 + 2 * sizeof(struct flight_item))

struct known_name {
	uint64_t arrival;
	uint64_t used;	/* number of the last segment that refers to it; 0: none */
	uint64_t sweep; /* it was live before this sweep */
	struct event_file file;
	/* the rest of its record follows */
};

static size_t name_bytes(const struct known_name *name)
{
	return offsetof(struct known_name, file) + name->file.header.size + NAME_OVERHEAD;
}

void flight_names_init(struct flight_names *names)
{
	memset(names, 0, sizeof(*names));
	pthread_mutex_init(&names->lock, NULL);
}

void flight_names_free(struct flight_names *names)
{
	flight_table_free(&names->files);
	pthread_mutex_destroy(&names->lock);
}

int flight_names_add(struct flight_names *names, const struct event_file *file)
{
	struct known_name *name = malloc(offsetof(struct known_name, file) + file->header.size);
	const struct known_name *before;
	size_t added;
	int err;

	if (!name)
		return -ENOMEM;
	memcpy(&name->file, file, file->header.size);
	pthread_mutex_lock(&names->lock);
	before = flight_table_find(&names->files, file->id, 0);
	name->arrival = names->arrivals++;
	name->used = before ? before->used : 0;
	name->sweep = 0;
	added = name_bytes(name) - (before ? name_bytes(before) : 0);
	err = flight_table_put(&names->files, file->id, 0, name);
	names->bytes += err ? 0 : added;
	pthread_mutex_unlock(&names->lock);
	return err;
}

bool flight_names_full(const struct flight_names *names)
{
	return names->bytes >= FLIGHT_NAMES_BYTES;
}

size_t flight_names_count(struct flight_names *names)
{
	size_t count;

	pthread_mutex_lock(&names->lock);
	count = names->files.count;
	pthread_mutex_unlock(&names->lock);
	return count;
}

uint64_t flight_names_missing(struct flight_names *names)
{
	uint64_t missing;

	pthread_mutex_lock(&names->lock);
	missing = names->dropped ? names->unnamed : 0;
	pthread_mutex_unlock(&names->lock);
	return missing;
}

/* --- use --- */

void flight_names_use(struct flight_names *names, const uint64_t *ids, size_t count,
		      uint64_t segment)
{
	uint64_t last = 0;

	pthread_mutex_lock(&names->lock);
	for (size_t i = 0; i < count; i++) {
		struct known_name *name;

		if (ids[i] == last || !ids[i] || ids[i] == TRACE_FILE_OTHER)
			continue;
		last = ids[i];
		name = flight_table_find(&names->files, last, 0);
		if (!name)
			names->unnamed++;
		else if (name->used < segment)
			name->used = segment;
	}
	pthread_mutex_unlock(&names->lock);
}

void flight_names_live(void *context, uint32_t id)
{
	struct flight_names *names = context;
	struct known_name *name;

	pthread_mutex_lock(&names->lock);
	name = flight_table_find(&names->files, id, 0);
	if (name)
		name->sweep = names->sweeps + 1;
	pthread_mutex_unlock(&names->lock);
}

/* --- sweeping --- */

/* Names with higher values are kept longer. */
enum use { UNUSED, IN_SEGMENT, LIVE };

struct candidate {
	uint64_t arrival;
	enum use use;
	uint32_t id;
};

static enum use use_of(const struct flight_names *names, const struct known_name *name,
		       uint64_t oldest)
{
	return name->sweep > names->sweeps ? LIVE : name->used >= oldest ? IN_SEGMENT : UNUSED;
}

/* Sorts names in the order in which they are dropped. */
COMPARE_BY(by_use_and_age, struct candidate,
	   COMPARE(a->use, b->use) ?: COMPARE(a->arrival, b->arrival))

static void drop(struct flight_names *names, const struct candidate *candidate)
{
	names->bytes -= name_bytes(flight_table_find(&names->files, candidate->id, 0));
	names->dropped += candidate->use != UNUSED;
	flight_table_remove(&names->files, candidate->id, 0);
}

static int sweep(struct flight_names *names, uint64_t oldest)
{
	struct candidate *candidates = malloc((names->files.count + 1) * sizeof(*candidates));
	const struct flight_item *item;
	size_t count = 0, at = 0;

	if (!candidates)
		return -ENOMEM;
	while ((item = flight_table_next(&names->files, &at))) {
		const struct known_name *name = item->value;

		candidates[count++] =
			(struct candidate) { name->arrival, use_of(names, name, oldest),
					     name->file.id };
	}
	qsort(candidates, count, sizeof(*candidates), by_use_and_age);
	for (size_t i = 0; i < count; i++) {
		bool full = names->bytes > FLIGHT_NAMES_BYTES / 2;

		if (candidates[i].use != UNUSED && !full)
			break;
		if (full || candidates[i].arrival < names->swept)
			drop(names, &candidates[i]);
	}
	names->swept = names->arrivals;
	free(candidates);
	return 0;
}

int flight_names_sweep(struct flight_names *names, uint64_t oldest)
{
	int err;

	pthread_mutex_lock(&names->lock);
	err = sweep(names, oldest);
	names->sweeps++;
	pthread_mutex_unlock(&names->lock);
	return err;
}

void flight_names_emit(struct flight_names *names, uint64_t oldest, struct flight_records *records)
{
	const struct flight_item *item;
	size_t at = 0;

	pthread_mutex_lock(&names->lock);
	while ((item = flight_table_next(&names->files, &at))) {
		const struct known_name *name = item->value;

		if (name->used >= oldest)
			flight_records_add(records, 0, &name->file, name->file.header.size);
	}
	pthread_mutex_unlock(&names->lock);
}
