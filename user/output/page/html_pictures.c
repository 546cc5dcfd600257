/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the data of pictures as JSON. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "output/page/html_data.h"

/* Puts what follows another value on a line of its own. */
static void separate(struct json *json)
{
	if (json->follows)
		json_line(json, 0);
}

/* --- timeline --- */

static const char *const part_names[PICTURE_PARTS] = {
	[PICTURE_READ] = "read",   [PICTURE_FAULTS] = "faults",	    [PICTURE_DIRECT] = "direct",
	[PICTURE_ASYNC] = "async", [PICTURE_SPLICE] = "splice",	    [PICTURE_KERNEL] = "kernel",
	[PICTURE_WRITE] = "write", [PICTURE_METADATA] = "metadata", [PICTURE_SYNC] = "sync",
};

static void write_stretches(struct json *json, const struct pictures *pictures)
{
	static const struct {
		const char *name;
		size_t at;
		unsigned int needs;
	} rows[] = {
		{ "read_bytes", offsetof(struct picture_stretch, read_bytes), JOB_SYSCALL },
		{ "write_bytes", offsetof(struct picture_stretch, write_bytes), JOB_SYSCALL },
		{ "fetched_bytes", offsetof(struct picture_stretch, fetched_bytes), JOB_PAGECACHE },
		{ "created_bytes", offsetof(struct picture_stretch, created_bytes), JOB_PAGECACHE },
		{ "device_read_bytes", offsetof(struct picture_stretch, device_read_bytes),
		  JOB_BLOCK },
		{ "device_write_bytes", offsetof(struct picture_stretch, device_write_bytes),
		  JOB_BLOCK },
		{ "minor", offsetof(struct picture_stretch, minor), JOB_FAULT },
		{ "major", offsetof(struct picture_stretch, major), JOB_FAULT },
		{ "operations", offsetof(struct picture_stretch, operations), 0 },
	};
	const struct picture_stretch *all = pictures->timeline.stretches;
	const size_t step = sizeof(*all);

	json_begin(json, "timeline");
	if (pictures->timeline.computes)
		html_list(json, "compute_ns", &all->compute_ns, step, PICTURE_FINE);
	else
		json_null(json, "compute_ns");
	for (int of = 0; of < PICTURE_UNIONS; of++) {
		json_begin(json, of == PICTURE_ALL ? "all" : part_names[of]);
		html_list(json, "alone_ns", &all->alone_ns[of], step, PICTURE_FINE);
		html_list(json, "hidden_ns", &all->hidden_ns[of], step, PICTURE_FINE);
		json_end(json);
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if ((pictures->layers & rows[i].needs) == rows[i].needs)
			html_list(json, rows[i].name,
				  (const uint64_t *)((const char *)all + rows[i].at), step,
				  PICTURE_FINE);
		else
			json_null(json, rows[i].name);
	}
	json_end(json);
}

/* --- sums --- */

static void write_name(struct json *json, const struct picture_name *name)
{
	if (name->text.bytes)
		html_text(json, "name", name->text.bytes, name->text.length);
	if (name->more.bytes)
		html_text(json, "more", name->more.bytes, name->more.length);
	if (name->pid) {
		json_uint(json, "pid", name->pid);
		json_uint(json, "start_ns", name->start_ns);
	}
	if (name->host)
		html_text(json, "host", name->host, strlen(name->host));
	if (name->ino)
		json_uint(json, "ino", name->ino);
	if (name->dev[0])
		json_literal(json, "dev", name->dev);
	if (name->instance)
		json_uint(json, "instance", name->instance);
	if (name->rank >= 0)
		json_int(json, "rank", name->rank);
}

#define IS(member) (1u << PICTURE_##member)
#define MOVED (IS(COUNT) | IS(READ_BYTES) | IS(WRITE_BYTES) | IS(FETCHED) | IS(THREAD_TIME))

/* Sets written one by one, and the members that the page uses. */
static const struct {
	const char *name;
	unsigned int members;
} sets[PICTURE_BY_ROWS] = {
	[PICTURE_BY_PART] = { "parts", MOVED },
	[PICTURE_BY_OPERATION] = { "operations", MOVED | IS(ERRORS) | IS(CREATED) },
	[PICTURE_BY_FILE] = { "files", MOVED | IS(TIME) | IS(METADATA_CALLS) | IS(READ_FAULTS) |
					       IS(WRITE_FAULTS) | IS(MAJOR) | IS(OPENS) |
					       IS(CREATED) },
	[PICTURE_BY_PROCESS] = { "processes", MOVED | IS(TIME) | IS(METADATA_CALLS) |
						      IS(READ_FAULTS) | IS(READ_FAULTED) },
	[PICTURE_BY_RANK] = { "ranks", MOVED },
	[PICTURE_BY_SPAN] = { "spans", MOVED },
	[PICTURE_BY_DEVICE] = { "devices", MOVED | IS(MARKED) },
};

/* Writes the members that are not all zeros. */
static void write_members(struct json *json, const struct picture_series *series,
			  unsigned int members)
{
	for (int i = 0; i < PICTURE_MEMBERS; i++) {
		uint64_t any = 0;

		for (size_t at = 0; at < PICTURE_COARSE; at++)
			any |= series->sums[at].of[i];
		if (any && members >> i & 1)
			html_list(json, html_members[i], &series->sums->of[i],
				  sizeof(*series->sums), PICTURE_COARSE);
	}
}

static void write_series(struct json *json, const struct picture_series *series,
			 const struct picture_name *name, unsigned int members)
{
	json_begin(json, NULL);
	json_flag(json, "others", series->others);
	if (series->of)
		json_uint(json, "of", series->of);
	write_name(json, name);
	write_members(json, series, members);
	json_end(json);
}

/* Writes a value made in memory and returns true, if there is room for it. Frees it. */
static bool write_within(struct json *json, struct sink *made, size_t *left)
{
	bool fits = made->used <= *left;

	if (made->error)
		json->out->error = made->error;
	if (fits) {
		json_raw(json, NULL, made->buffer, made->used);
		*left -= made->used;
	}
	sink_close(made);
	return fits;
}

static void fold(struct picture_series *others, const struct picture_series *series)
{
	others->of += series->others ? series->of : 1;
	for (size_t at = 0; at < PICTURE_COARSE; at++)
		for (int i = 0; i < PICTURE_MEMBERS; i++)
			others->sums[at].of[i] += series->sums[at].of[i];
}

/* Merges series without room into the others. */
static void write_set(struct json *json, const struct pictures *pictures, enum picture_key key)
{
	const struct picture_set *set = &pictures->sums.sets[key];
	struct picture_series *others = calloc(1, sizeof(*others));
	size_t left = HTML_SET_BYTES;

	if (!others)
		json->out->error = -ENOMEM;
	for (size_t i = 0; i < set->count && !json->out->error; i++) {
		struct picture_name name = pictures->names[key][i];
		struct sink made;

		if (set->series[i].others) {
			others->others = true;
			fold(others, &set->series[i]);
			continue;
		}
		if (key == PICTURE_BY_PART)
			name.text = (struct table_text) { part_names[i], strlen(part_names[i]) };
		sink_open_memory(&made);
		write_series(&(struct json) { .out = &made }, &set->series[i], &name,
			     sets[key].members);
		if (!write_within(json, &made, &left))
			fold(others, &set->series[i]);
	}
	if (others && others->others)
		write_series(json, others, &(struct picture_name) { .rank = -1 },
			     sets[key].members);
	free(others);
}

static void write_sums(struct json *json, const struct pictures *pictures)
{
	json_begin(json, "sums");
	for (int key = 0; key < PICTURE_BY_ROWS; key++) {
		separate(json);
		json_begin_list(json, sets[key].name);
		write_set(json, pictures, key);
		json_end(json);
	}
	json_end(json);
}

/* Writes the sums of a table's rows, the first rows first, as far as there is room. */
static void write_rows_of(struct json *json, const struct pictures *pictures, size_t table)
{
	const struct picture_set *set = &pictures->sums.sets[PICTURE_BY_ROWS + table];
	const struct picture_name *names = pictures->names[PICTURE_BY_ROWS + table];
	size_t left = HTML_ROWS_BYTES;

	separate(json);
	json_begin_list(json, picture_tables[table]->name);
	for (size_t row = 0; row < set->slot_count && !json->out->error; row++) {
		struct sink made;
		struct json item = { .out = &made };

		if (set->slots[row] >= set->count)
			continue;
		sink_open_memory(&made);
		json_begin(&item, NULL);
		json_uint(&item, "row", row);
		write_name(&item, &names[set->slots[row]]);
		write_members(&item, &set->series[set->slots[row]], UINT_MAX);
		json_end(&item);
		write_within(json, &made, &left);
	}
	json_end(json);
}

/* Writes a row by the table's columns, without columns that are all zeros. */
static void write_sample(struct json *json, const struct sampled *how,
			 const struct picture_sample *sample, size_t row)
{
	json_begin(json, NULL);
	json_uint(json, "row", row);
	for (int i = 0; i < SAMPLED_MAX && how->columns[i]; i++)
		if (sample->before[i])
			html_list(json, how->columns[i], sample->more[i],
				  sizeof(sample->more[i][0]), PICTURE_COARSE);
	json_end(json);
}

static void write_samples_of(struct json *json, const struct pictures *pictures, size_t number)
{
	const struct picture_sampled *table = &pictures->samples.tables[number];
	const struct sampled *how = picture_sampled[number]->sampled;
	size_t left = HTML_SAMPLES_BYTES;

	separate(json);
	json_begin(json, picture_sampled[number]->name);
	json_begin_list(json, "columns");
	for (int i = 0; i < SAMPLED_MAX && how->columns[i]; i++)
		json_literal(json, NULL, how->columns[i]);
	json_end(json);
	json_begin_list(json, "rows");
	for (size_t row = 0; row < table->count && !json->out->error; row++) {
		struct sink made;

		sink_open_memory(&made);
		write_sample(&(struct json) { .out = &made }, how, &table->rows[row], row);
		write_within(json, &made, &left);
	}
	json_end(json);
	json_end(json);
}

/* --- grids --- */

static void write_kinds(struct json *json, const char *name, const uint32_t *counts, size_t rows)
{
	json_begin(json, name);
	for (int kind = 0; kind < PICTURE_KINDS; kind++) {
		const char *kind_name = kind == PICTURE_DEVICE_READ    ? "device_read"
					: kind == PICTURE_DEVICE_WRITE ? "device_write"
								       : part_names[kind];

		html_counts(json, kind_name, counts + kind * PICTURE_COARSE * rows,
			    PICTURE_COARSE * rows);
	}
	json_end(json);
}

static void write_cache(struct json *json, const struct picture_cache *cache)
{
	static const struct {
		const char *name;
		size_t at;
	} rows[] = {
		{ "read", offsetof(struct picture_cache, read_bytes) },
		{ "missed", offsetof(struct picture_cache, missed_bytes) },
		{ "faulted", offsetof(struct picture_cache, faulted_bytes) },
		{ "direct", offsetof(struct picture_cache, direct_bytes) },
		{ "written", offsetof(struct picture_cache, write_bytes) },
		{ "minor", offsetof(struct picture_cache, minor) },
		{ "major", offsetof(struct picture_cache, major) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		html_list(json, rows[i].name, (const uint64_t *)((const char *)cache + rows[i].at),
			  sizeof(*cache), PICTURE_COARSE);
}

static void write_map(struct json *json, const struct pictures *pictures, size_t number)
{
	static const char *const touches[PICTURE_TOUCHES] = {
		[PICTURE_TOUCH_READ] = "reads",
		[PICTURE_TOUCH_FAULT] = "faults",
		[PICTURE_TOUCH_WRITE] = "writes",
	};
	const struct picture_map *map = &pictures->grids.maps[number];

	json_begin(json, NULL);
	json_uint(json, "row_bytes", map->offset_bytes);
	json_uint(json, "furthest", map->furthest);
	json_uint(json, "size", pictures->map_sizes[number]);
	write_name(json, &pictures->map_names[number]);
	for (int touch = 0; touch < PICTURE_TOUCHES; touch++)
		html_counts(json, touches[touch], map->counts[touch][0],
			    PICTURE_COARSE * PICTURE_OFFSETS);
	write_cache(json, map->cache);
	json_end(json);
}

/* Writes the maps that there is room for, the worst first. */
static void write_maps(struct json *json, const struct pictures *pictures)
{
	size_t left = HTML_MAPS_BYTES;

	json_begin_list(json, "maps");
	for (size_t i = 0; i < pictures->grids.map_count && !json->out->error; i++) {
		struct sink made;

		sink_open_memory(&made);
		write_map(&(struct json) { .out = &made }, pictures, i);
		if (made.used <= left)
			separate(json);
		write_within(json, &made, &left);
	}
	json_end(json);
	json_uint(json, "maps_of", pictures->grids.map_count);
}

/* --- spans --- */

static void write_lanes(struct json *json, const struct pictures *pictures)
{
	const struct picture_spans *spans = &pictures->spans;

	json_begin_list(json, "lanes");
	for (size_t i = 0; i < spans->reported_count; i++) {
		const struct picture_lane *lane = &spans->lanes[spans->reported[i]];

		json_begin(json, NULL);
		json_uint(json, "tid", lane->thread);
		json_uint(json, "count", lane->count);
		json_uint(json, "time_ns", lane->time_ns);
		json_uint(json, "kept", lane->kept);
		write_name(json, &pictures->lane_names[i]);
		html_list(json, "busy", lane->busy, sizeof(lane->busy[0]), PICTURE_COARSE);
		json_end(json);
	}
	json_end(json);
	json_uint(json, "lanes_of", spans->lane_count);
	json_uint(json, "count", spans->count);
	json_uint(json, "kept_of", spans->kept_count);
}

/* Returns the index of a lane among those written, or -1. */
static int lane_index(const struct picture_spans *spans, uint32_t lane)
{
	for (size_t i = 0; i < spans->reported_count; i++)
		if (spans->reported[i] == lane)
			return i;
	return -1;
}

/* [lane, depth, label, start, length, unfinished] */
static void write_kept(struct json *json, const struct pictures *pictures)
{
	const struct picture_spans *spans = &pictures->spans;

	json_begin_list(json, "kept");
	for (size_t i = 0; i < spans->kept_count; i++) {
		const struct picture_span *span = &spans->kept[i];
		int lane = lane_index(spans, span->lane);

		if (lane < 0)
			continue;
		json_begin_list(json, NULL);
		json_int(json, NULL, lane);
		json_uint(json, NULL, span->depth);
		json_uint(json, NULL, span->label);
		json_uint(json, NULL, number_sub(span->begin_ns, pictures->axis.start_ns));
		json_uint(json, NULL, span->length_ns);
		if (span->unfinished)
			json_uint(json, NULL, 1);
		json_end(json);
	}
	json_end(json);
}

static void write_labels(struct json *json, const struct pictures *pictures)
{
	char number[24];

	json_begin(json, "labels");
	for (size_t i = 0; i < pictures->label_count; i++) {
		const struct picture_name *name = &pictures->labels[i];

		if (!name->text.bytes && !name->more.bytes)
			continue;
		snprintf(number, sizeof(number), "%zu", i);
		json_begin(json, number);
		json_uint(json, "of", i);
		write_name(json, name);
		json_end(json);
	}
	json_end(json);
}

static void write_layers(struct json *json, unsigned int layers)
{
	json_begin(json, "layers");
	json_uint(json, "syscall", !!(layers & JOB_SYSCALL));
	json_uint(json, "fault", !!(layers & JOB_FAULT));
	json_uint(json, "pagecache", !!(layers & JOB_PAGECACHE));
	json_uint(json, "span", !!(layers & JOB_SPAN));
	json_uint(json, "block", !!(layers & JOB_BLOCK));
	json_uint(json, "async", !!(layers & JOB_ASYNC));
	json_end(json);
}

void html_pictures(struct json *json, const char *name, const struct pictures *pictures)
{
	const struct picture_axis *axis = &pictures->axis;

	json_begin(json, name);
	json_uint(json, "fine", PICTURE_FINE);
	json_uint(json, "coarse", PICTURE_COARSE);
	json_uint(json, "fine_ns", axis->fine_ns);
	json_uint(json, "duration_ns", number_sub(axis->end_ns, axis->start_ns));
	json_flag(json, "lost", pictures->lost);
	json_literal(json, "summed",
		     pictures->all_aggregated ? "all"
		     : pictures->aggregated   ? "some"
					      : "none");
	json_uint(json, "offsets", PICTURE_OFFSETS);
	json_uint(json, "latencies", PICTURE_LATENCIES);
	json_uint(json, "latency_first", PICTURE_LATENCY_FIRST);
	json_uint(json, "size_classes", SIZE_CLASSES);
	write_layers(json, pictures->layers);
	json_line(json, 0);
	write_stretches(json, pictures);
	json_line(json, 0);
	write_sums(json, pictures);
	json_line(json, 0);
	json_begin(json, "rows_of");
	for (size_t table = 0; table < PICTURE_TABLES; table++)
		write_rows_of(json, pictures, table);
	json_end(json);
	json_line(json, 0);
	json_begin(json, "samples");
	for (size_t table = 0; table < PICTURE_SAMPLED; table++)
		write_samples_of(json, pictures, table);
	json_end(json);
	json_line(json, 0);
	write_kinds(json, "latencies_of", pictures->grids.latencies[0][0], PICTURE_LATENCIES);
	json_line(json, 0);
	write_kinds(json, "sizes_of", pictures->grids.sizes[0][0], SIZE_CLASSES);
	json_line(json, 0);
	write_maps(json, pictures);
	json_line(json, 0);
	html_flame(json, "flame", pictures);
	json_line(json, 0);
	json_begin(json, "spans");
	write_lanes(json, pictures);
	json_line(json, 0);
	write_kept(json, pictures);
	json_line(json, 0);
	write_labels(json, pictures);
	json_end(json);
	json_end(json);
}
