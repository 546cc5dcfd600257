/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A record for each number, and a bit for each that is in use. */
#include "capture/flight_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

#define CROWD_LEAST 131072 /* twice what the kernel side remembers */

struct known_name {
	uint32_t used; /* the last sweep that found it in use, or it came before */
	uint32_t pad;
	struct event_file file;
	/* the rest of its record follows */
};

/* --- numbers --- */

void flight_ids_free(struct flight_ids *ids)
{
	free(ids->bits);
	*ids = (struct flight_ids) { 0 };
}

int flight_ids_add(struct flight_ids *ids, uint32_t id)
{
	if (!id || id == TRACE_FILE_OTHER)
		return 0;
	if (!GROW(ids->bits, ids->words, (size_t)id / 64 + 1))
		return -ENOMEM;
	ids->bits[id / 64] |= 1ull << id % 64;
	return 0;
}

static bool flight_ids_have(const struct flight_ids *ids, uint32_t id)
{
	return id / 64 < ids->words && ids->bits[id / 64] >> id % 64 & 1;
}

int flight_ids_of_slots(struct flight_ids *ids, const struct flight_slots *slots)
{
	int err = 0;

	for (size_t i = 0; i < slots->count && !err; i++)
		err = flight_ids_add(ids,
				     slots->slots[i].call.file); /* a fault's stands there, too */
	return err;
}

_Static_assert(offsetof(struct lane_call, file) == offsetof(struct lane_fault, file),
	       "the file stands in one place");

struct collecting {
	struct flight_ids *ids;
	int err;
};

static void add(struct collecting *all, uint32_t id)
{
	if (!all->err)
		all->err = flight_ids_add(all->ids, id);
}

static void collect(void *context, unsigned int lane, const struct event_header *record)
{
	const struct event_syscall_path *path = (const void *)record;
	const struct event_async *async = (const void *)record;
	const struct event_request_single *single = (const void *)record;

	switch (record->kind) {
	case RECORD_ASYNC:
		add(context, async->file2);
		add(context, async->dir);
		add(context, async->dir2);
		add(context, async->call.file);
		break;
	case RECORD_SYSCALL_PATH:
		add(context, path->file2);
		add(context, path->dir);
		add(context, path->dir2);
		/* fall through */
	case RECORD_SYSCALL:
		add(context, path->call.file);
		break;
	case RECORD_VFS:
		add(context, ((const struct event_vfs *)record)->file);
		break;
	case RECORD_PAGECACHE:
		add(context, ((const struct event_pagecache *)record)->file);
		break;
	case RECORD_THROTTLE:
		add(context, ((const struct event_throttle *)record)->file);
		break;
	case RECORD_REQUEST:
		add(context, single->request.file);
		if (record->size == sizeof(*single))
			add(context, single->bio.file);
		break;
	case RECORD_BIO:
		add(context, ((const struct event_bio *)record)->file);
		break;
	default:
		break;
	}
}

int flight_ids_of_records(struct flight_ids *ids, const struct flight_records *records)
{
	struct collecting all = { .ids = ids };

	flight_records_walk(records, collect, &all);
	return all.err;
}

/* --- names --- */

void flight_names_free(struct flight_names *names)
{
	flight_table_free(&names->files);
}

int flight_names_add(struct flight_names *names, const struct event_file *file)
{
	size_t more = file->header.size - sizeof(*file);
	struct known_name *name = malloc(sizeof(*name) + more);

	if (!name)
		return -ENOMEM;
	name->used = names->sweep + 1; /* the next sweep leaves it */
	memcpy(&name->file, file, file->header.size);
	return flight_table_put(&names->files, file->id, 0, name);
}

bool flight_names_crowded(const struct flight_names *names)
{
	return names->files.count >=
	       (names->sweep_at > CROWD_LEAST ? names->sweep_at : CROWD_LEAST);
}

void flight_names_sweep(struct flight_names *names, const struct flight_ids *used)
{
	struct flight_table kept = { .seed = names->files.seed };
	uint32_t sweep = ++names->sweep;

	for (size_t i = 0; i < names->files.slots; i++) {
		struct flight_item *item = &names->files.items[i];
		struct known_name *name = item->value;

		if (!name)
			continue;
		if (flight_ids_have(used, item->key))
			name->used = sweep;
		if (name->used + 1 < sweep)
			continue; /* freed with the table */
		item->value = NULL;
		flight_table_put(&kept, item->key, 0, name);
	}
	flight_table_free(&names->files);
	names->files = kept;
	names->sweep_at = 2 * kept.count;
}

size_t flight_names_tell(const struct flight_names *names, const struct flight_ids *ids,
			 struct flight_records *records)
{
	size_t unknown = 0;

	for (size_t i = 0; i < ids->words; i++)
		for (uint64_t bits = ids->bits[i]; bits; bits &= bits - 1) {
			uint32_t id = i * 64 + __builtin_ctzll(bits);
			const struct known_name *name = flight_table_find(&names->files, id, 0);

			if (name)
				flight_records_add(records, 0, &name->file, name->file.header.size);
			else
				unknown++;
		}
	return unknown;
}
