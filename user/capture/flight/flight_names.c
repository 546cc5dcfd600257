/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A table of records by file id, each with its last mark. */
#include "capture/flight/flight_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Per name, besides its record: malloc's header and two table slots (tables are half full). */
#define NAME_OVERHEAD (16 + 2 * sizeof(struct flight_item))

struct known_name {
	uint64_t arrival;
	uint32_t round; /* of the last mark */
	uint32_t use;
	struct event_file file;
	/* the rest of its record follows */
};

static size_t name_bytes(const struct known_name *name)
{
	return offsetof(struct known_name, file) + name->file.header.size + NAME_OVERHEAD;
}

void flight_names_free(struct flight_names *names)
{
	flight_table_free(&names->files);
}

int flight_names_add(struct flight_names *names, const struct event_file *file)
{
	struct known_name *name = flight_table_find(&names->files, file->id, 0);
	int err;

	if (name)
		names->bytes -= name_bytes(name);
	name = malloc(offsetof(struct known_name, file) + file->header.size);
	if (!name)
		return -ENOMEM;
	name->arrival = names->arrivals++;
	name->round = names->round - 1;
	name->use = FLIGHT_NAME_UNUSED;
	memcpy(&name->file, file, file->header.size);
	err = flight_table_put(&names->files, file->id, 0, name);
	if (!err)
		names->bytes += name_bytes(name);
	return err;
}

bool flight_names_crowded(const struct flight_names *names)
{
	return names->bytes >= FLIGHT_NAMES_BYTES;
}

/* --- marks --- */

void flight_names_unmark(struct flight_names *names)
{
	names->round++;
	names->unresolved = 0;
}

void flight_names_mark(struct flight_names *names, uint32_t id, enum flight_name_use use)
{
	struct known_name *name;

	if (!id || id == TRACE_FILE_OTHER)
		return;
	name = flight_table_find(&names->files, id, 0);
	if (!name) {
		names->unresolved++;
		return;
	}
	if (name->round != names->round || name->use < use)
		name->use = use;
	name->round = names->round;
}

static enum flight_name_use use_of(const struct flight_names *names, const struct known_name *name)
{
	return name->round == names->round ? name->use : FLIGHT_NAME_UNUSED;
}

static void mark_recorded(struct flight_names *names, uint32_t id)
{
	flight_names_mark(names, id, FLIGHT_NAME_RECORDED);
}

void flight_names_mark_record(void *context, unsigned int lane, const struct event_header *record)
{
	const struct event_syscall_path *path = (const void *)record;
	const struct event_async *async = (const void *)record;
	const struct event_request_single *single = (const void *)record;
	struct flight_names *names = context;

	switch (record->kind) {
	case RECORD_ASYNC:
		mark_recorded(names, async->file2);
		mark_recorded(names, async->dir);
		mark_recorded(names, async->dir2);
		mark_recorded(names, async->call.file);
		break;
	case RECORD_SYSCALL_PATH:
		mark_recorded(names, path->file2);
		mark_recorded(names, path->dir);
		mark_recorded(names, path->dir2);
		/* fall through */
	case RECORD_SYSCALL:
		mark_recorded(names, path->call.file);
		break;
	case RECORD_VFS:
		mark_recorded(names, ((const struct event_vfs *)record)->file);
		break;
	case RECORD_PAGECACHE:
		mark_recorded(names, ((const struct event_pagecache *)record)->file);
		break;
	case RECORD_THROTTLE:
		mark_recorded(names, ((const struct event_throttle *)record)->file);
		break;
	case RECORD_REQUEST:
		mark_recorded(names, single->request.file);
		if (record->size == sizeof(*single))
			mark_recorded(names, single->bio.file);
		break;
	case RECORD_BIO:
		mark_recorded(names, ((const struct event_bio *)record)->file);
		break;
	default:
		break;
	}
}

_Static_assert(offsetof(struct lane_call, file) == offsetof(struct lane_fault, file),
	       "calls and faults have the file at the same offset");

void flight_names_mark_slots(struct flight_names *names, const struct flight_slots *slots)
{
	for (size_t i = 0; i < slots->count; i++)
		mark_recorded(names, slots->slots[i].call.file);
}

/* --- sweeping --- */

struct candidate {
	uint64_t arrival;
	uint32_t use;
	uint32_t id;
};

/* Sorts names in the order in which they are dropped. */
static int by_use_and_age(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->use != b->use)
		return a->use < b->use ? -1 : 1;
	return a->arrival < b->arrival ? -1 : a->arrival > b->arrival;
}

static void drop(struct flight_names *names, uint32_t id)
{
	struct known_name *name = flight_table_find(&names->files, id, 0);

	names->bytes -= name_bytes(name);
	flight_table_remove(&names->files, id, 0);
}

int flight_names_sweep(struct flight_names *names)
{
	size_t count = 0, at = 0;
	const struct flight_item *item;
	struct candidate *candidates = malloc((names->files.count + 1) * sizeof(*candidates));

	if (!candidates)
		return -ENOMEM;
	while ((item = flight_table_next(&names->files, &at))) {
		const struct known_name *name = item->value;

		candidates[count++] =
			(struct candidate) { name->arrival, use_of(names, name), name->file.id };
	}
	qsort(candidates, count, sizeof(*candidates), by_use_and_age);
	for (size_t i = 0; i < count; i++) {
		bool full = names->bytes > FLIGHT_NAMES_BYTES / 2;

		if (candidates[i].use != FLIGHT_NAME_UNUSED && !full)
			break;
		if (full || candidates[i].arrival < names->swept) {
			drop(names, candidates[i].id);
			names->dropped += candidates[i].use != FLIGHT_NAME_UNUSED;
		}
	}
	names->swept = names->arrivals;
	free(candidates);
	return 0;
}

void flight_names_emit(const struct flight_names *names, struct flight_records *records)
{
	const struct flight_item *item;
	size_t at = 0;

	while ((item = flight_table_next(&names->files, &at))) {
		const struct known_name *name = item->value;

		if (use_of(names, name) != FLIGHT_NAME_UNUSED)
			flight_records_add(records, 0, &name->file, name->file.header.size);
	}
}
