/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Counts by time and a second axis. */
#include "analysis/picture/picture_grids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/files/files.h"
#include "analysis/shared/loaded.h"
#include "analysis/shared/trace_text.h"
#include "base/number.h"

#define OFFSET_BYTES_MIN 4096

static bool has_offsets(const struct file *file)
{
	return S_ISREG(file->mode) || S_ISBLK(file->mode);
}

/* Programs and libraries that were in memory already show only that they ran. */
static bool has_map(const struct results *results, uint32_t file)
{
	const struct file_table *files = &results->job->files;
	struct file_view view;

	if (file == FILE_UNKNOWN || !has_offsets(&files->files[file]))
		return false;
	return !files_used(results, file, &view) || view.fetched_bytes ||
	       !loaded_in(files, trace_text(file_table_name(files, file)));
}

int picture_grids_init(struct picture_grids *grids, const struct results *results,
		       const struct picture_set *files, const struct picture_axis *axis)
{
	const struct job *job = results->job;

	memset(grids, 0, sizeof(*grids));
	grids->axis = *axis;
	grids->file_count = job->files.count;
	grids->map_of = reallocarray(NULL, grids->file_count + 1, sizeof(*grids->map_of));
	if (!grids->map_of)
		return -ENOMEM;
	for (size_t i = 0; i < grids->file_count; i++)
		grids->map_of[i] = PICTURE_MAPS;
	for (size_t i = 0; i < files->count && grids->map_count < PICTURE_MAPS; i++) {
		uint64_t number = files->series[i].number;

		if (files->series[i].others || !has_map(results, number))
			continue;
		grids->map_of[number] = grids->map_count;
		grids->maps[grids->map_count++] =
			(struct picture_map) { .file = number, .offset_bytes = OFFSET_BYTES_MIN };
	}
	return 0;
}

void picture_grids_free(struct picture_grids *grids)
{
	free(grids->map_of);
	grids->map_of = NULL;
}

/* --- offsets in a file --- */

/* Merges pairs of rows until the offset has one. */
static void widen(struct picture_map *map, uint64_t last)
{
	while (last / map->offset_bytes >= PICTURE_OFFSETS) {
		for (int touch = 0; touch < PICTURE_TOUCHES; touch++) {
			for (int at = 0; at < PICTURE_COARSE; at++) {
				uint32_t *rows = map->counts[touch][at];

				for (int i = 0; i < PICTURE_OFFSETS / 2; i++)
					rows[i] = rows[2 * i] + rows[2 * i + 1];
				memset(rows + PICTURE_OFFSETS / 2, 0,
				       PICTURE_OFFSETS / 2 * sizeof(*rows));
			}
		}
		map->offset_bytes *= 2;
	}
}

static void touch(struct picture_map *map, enum picture_touch kind, unsigned int at,
		  uint64_t offset, uint64_t bytes)
{
	uint64_t last = number_add(offset, bytes ? bytes - 1 : 0);

	if (last >= INT64_MAX)
		return;
	if (last / map->offset_bytes >= PICTURE_OFFSETS)
		widen(map, last);
	if (last + 1 > map->furthest)
		map->furthest = last + 1;
	for (uint64_t row = offset / map->offset_bytes; row <= last / map->offset_bytes; row++)
		map->counts[kind][at][row]++;
}

static void add_to_map(struct picture_grids *grids, struct picture_map *map,
		       const struct picture_event *at)
{
	const struct picture_stretches *over = &at->over;
	const struct event *event = at->event;
	const struct picture_axis *axis = &grids->axis;
	const size_t step = sizeof(struct picture_cache);
	struct picture_cache *cache = map->cache;
	bool fault = event->flags & EVENT_FAULT, reads = event->class == IO_READ;

	if (fault) {
		cache[over->first].major += event->major ? 1 : 0;
		cache[over->first].minor += event->major ? 0 : 1;
		picture_spread_coarse(&cache->faulted_bytes, step, axis, over,
				      event->fetched_bytes);
	} else if (event->class == IO_MMAP_READ) { /* map calls that bring pages in */
		picture_spread_coarse(&cache->faulted_bytes, step, axis, over,
				      event->fetched_bytes);
	} else if (reads && event->flags & EVENT_DIRECT) {
		picture_spread_coarse(&cache->direct_bytes, step, axis, over, event->bytes);
	} else if (reads) {
		picture_spread_coarse(&cache->read_bytes, step, axis, over, event->bytes);
		picture_spread_coarse(&cache->missed_bytes, step, axis, over, event->fetched_bytes);
	} else if (event->class == IO_WRITE) {
		picture_spread_coarse(&cache->write_bytes, step, axis, over, event->bytes);
	}
	if (event->offset < 0 || !(event->flags & EVENT_COUNTED))
		return;
	if (fault)
		touch(map, PICTURE_TOUCH_FAULT, over->first, event->offset, 1);
	else if (event->bytes && (reads || event->class == IO_WRITE))
		touch(map, reads ? PICTURE_TOUCH_READ : PICTURE_TOUCH_WRITE, over->first,
		      event->offset, event->bytes);
}

/* --- latencies and sizes --- */

static unsigned int latency_class(uint64_t ns)
{
	unsigned int bits, class;

	if (ns < 1ull << PICTURE_LATENCY_FIRST)
		return 0;
	bits = 63 - __builtin_clzll(ns);
	class = 2 * (bits - PICTURE_LATENCY_FIRST) + (ns >> (bits - 1) & 1);
	return number_min(class, PICTURE_LATENCIES - 1);
}

static void count(struct picture_grids *grids, const struct picture_event *at)
{
	const struct event *event = at->event;
	unsigned int kind;
	uint64_t size;
	bool sized = true;

	if (event->flags & EVENT_REQUEST) {
		if ((at->use != DEVICE_READS && at->use != DEVICE_WRITES) ||
		    event->flags & EVENT_SECOND)
			return;
		kind = at->use == DEVICE_READS ? PICTURE_DEVICE_READ : PICTURE_DEVICE_WRITE;
		size = event_value(event, REQUEST_BYTES);
	} else if (event->flags & EVENT_COUNTED) {
		kind = at->part;
		size = event->asked_bytes;
		sized = event->class == IO_READ || event->class == IO_WRITE;
	} else {
		return;
	}
	grids->sizes[kind][at->over.first][size_class(size)] += sized;
	grids->latencies[kind][at->over.first][latency_class(event->end - event->start)]++;
}

void picture_grids_add(struct picture_grids *grids, const struct picture_event *at)
{
	const struct event *event = at->event;

	if (event_is_remote(event) || (event->class == IO_NONE && !(event->flags & EVENT_REQUEST)))
		return;
	count(grids, at);
	if (event->class != IO_NONE && event->file < grids->file_count &&
	    grids->map_of[event->file] < PICTURE_MAPS)
		add_to_map(grids, &grids->maps[grids->map_of[event->file]], at);
}
