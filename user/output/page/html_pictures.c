/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes the data of pictures as JSON. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "output/page/html_data.h"

/* --- lists of numbers --- */

struct runs {
	struct sink *out;
	uint64_t zeros;
	bool any;
};

static void end_zeros(struct runs *runs)
{
	if (!runs->zeros)
		return;
	if (runs->any)
		sink_char(runs->out, ',');
	if (runs->zeros == 1)
		sink_char(runs->out, '0');
	else
		sink_int(runs->out, -(int64_t)runs->zeros);
	runs->zeros = 0;
	runs->any = true;
}

static void add_number(struct runs *runs, uint64_t number)
{
	if (!number) {
		runs->zeros++;
		return;
	}
	end_zeros(runs);
	if (runs->any)
		sink_char(runs->out, ',');
	sink_uint(runs->out, number);
	runs->any = true;
}

/* Writes numbers that are `step` bytes apart. */
static void write_list(struct sink *out, const uint64_t *numbers, size_t step, size_t count)
{
	struct runs runs = { .out = out };

	sink_char(out, '[');
	for (size_t i = 0; i < count; i++)
		add_number(&runs, *(const uint64_t *)((const char *)numbers + i * step));
	end_zeros(&runs);
	sink_char(out, ']');
}

static void write_counts(struct sink *out, const uint32_t *numbers, size_t count)
{
	struct runs runs = { .out = out };

	sink_char(out, '[');
	for (size_t i = 0; i < count; i++)
		add_number(&runs, numbers[i]);
	end_zeros(&runs);
	sink_char(out, ']');
}

/* --- timeline --- */

static const char *const part_names[PICTURE_PARTS] = {
	[PICTURE_READ] = "read",   [PICTURE_FAULTS] = "faults",	    [PICTURE_DIRECT] = "direct",
	[PICTURE_ASYNC] = "async", [PICTURE_SPLICE] = "splice",	    [PICTURE_KERNEL] = "kernel",
	[PICTURE_WRITE] = "write", [PICTURE_METADATA] = "metadata", [PICTURE_SYNC] = "sync",
};

static void write_stretches(struct sink *out, const struct pictures *pictures)
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
	const struct picture_stretch *all = pictures->course.stretches;
	const size_t step = sizeof(*all);

	sink_text(out, "{\"compute_ns\":");
	if (pictures->course.computes)
		write_list(out, &all->compute_ns, step, PICTURE_FINE);
	else
		sink_text(out, "null");
	for (int of = 0; of < PICTURE_UNIONS; of++) {
		const char *name = of == PICTURE_ALL ? "all" : part_names[of];

		sink_format(out, ",\"%s\":{\"alone_ns\":", name);
		write_list(out, &all->alone_ns[of], step, PICTURE_FINE);
		sink_text(out, ",\"hidden_ns\":");
		write_list(out, &all->hidden_ns[of], step, PICTURE_FINE);
		sink_char(out, '}');
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sink_format(out, ",\"%s\":", rows[i].name);
		if ((pictures->layers & rows[i].needs) == rows[i].needs)
			write_list(out, (const uint64_t *)((const char *)all + rows[i].at), step,
				   PICTURE_FINE);
		else
			sink_text(out, "null");
	}
	sink_char(out, '}');
}

/* --- sums --- */

static void write_name(struct sink *out, const struct picture_name *name)
{
	if (name->text.bytes) {
		sink_text(out, ",\"name\":");
		html_text(out, name->text.bytes, name->text.length);
	}
	if (name->more.bytes) {
		sink_text(out, ",\"more\":");
		html_text(out, name->more.bytes, name->more.length);
	}
	if (name->pid)
		sink_format(out, ",\"pid\":%u,\"start_ns\":%llu", name->pid,
			    (unsigned long long)name->start_ns);
	if (name->ino)
		sink_format(out, ",\"ino\":%llu", (unsigned long long)name->ino);
	if (name->dev[0])
		sink_format(out, ",\"dev\":\"%s\"", name->dev);
	if (name->rank >= 0)
		sink_format(out, ",\"rank\":%lld", (long long)name->rank);
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
static void write_members(struct sink *out, const struct picture_series *series,
			  unsigned int members)
{
	for (int i = 0; i < PICTURE_MEMBERS; i++) {
		uint64_t any = 0;

		for (size_t at = 0; at < PICTURE_COARSE; at++)
			any |= series->sums[at].of[i];
		if (!any || !(members >> i & 1))
			continue;
		sink_format(out, ",\"%s\":", html_members[i]);
		write_list(out, &series->sums->of[i], sizeof(*series->sums), PICTURE_COARSE);
	}
}

static void write_series(struct sink *out, const struct picture_series *series,
			 const struct picture_name *name, unsigned int members)
{
	sink_text(out, series->others ? "{\"others\":true" : "{\"others\":false");
	if (series->of)
		sink_format(out, ",\"of\":%llu", (unsigned long long)series->of);
	write_name(out, name);
	write_members(out, series, members);
	sink_char(out, '}');
}

/* Writes a series and returns true, if there is room for it. */
static bool write_within(struct sink *out, const struct sink *series, size_t *left, bool first)
{
	if (series->error)
		out->error = series->error;
	if (series->used > *left)
		return false;
	if (!first)
		sink_char(out, ',');
	sink_bytes(out, series->buffer, series->used);
	*left -= series->used;
	return true;
}

static void fold(struct picture_series *others, const struct picture_series *series)
{
	others->of += series->others ? series->of : 1;
	for (size_t at = 0; at < PICTURE_COARSE; at++)
		for (int i = 0; i < PICTURE_MEMBERS; i++)
			others->sums[at].of[i] += series->sums[at].of[i];
}

/* Merges series without room into the others. */
static void write_set(struct sink *out, const struct pictures *pictures, enum picture_key key)
{
	const struct picture_set *set = &pictures->sums.sets[key];
	struct picture_series *others = calloc(1, sizeof(*others));
	size_t left = HTML_SET_BYTES;
	bool first = true;

	if (!others)
		out->error = -ENOMEM;
	for (size_t i = 0; i < set->count && !out->error; i++) {
		struct picture_name name = pictures->names[key][i];
		struct sink series;

		if (set->series[i].others) {
			others->others = true;
			fold(others, &set->series[i]);
			continue;
		}
		if (key == PICTURE_BY_PART)
			name.text = (struct table_text) { part_names[i], strlen(part_names[i]) };
		sink_open_memory(&series);
		write_series(&series, &set->series[i], &name, sets[key].members);
		if (write_within(out, &series, &left, first))
			first = false;
		else
			fold(others, &set->series[i]);
		sink_close(&series);
	}
	if (others && others->others) {
		if (!first)
			sink_char(out, ',');
		write_series(out, others, &(struct picture_name) { .rank = -1 }, sets[key].members);
	}
	free(others);
}

static void write_sums(struct sink *out, const struct pictures *pictures)
{
	for (int key = 0; key < PICTURE_BY_ROWS; key++) {
		sink_format(out, key ? ",\n\"%s\":[" : "{\"%s\":[", sets[key].name);
		write_set(out, pictures, key);
		sink_char(out, ']');
	}
	sink_char(out, '}');
}

/* Writes the sums of a table's rows, the first rows first, as far as there is room. */
static void write_rows_of(struct sink *out, const struct pictures *pictures, size_t table)
{
	const struct picture_set *set = &pictures->sums.sets[PICTURE_BY_ROWS + table];
	const struct picture_name *names = pictures->names[PICTURE_BY_ROWS + table];
	size_t left = HTML_ROWS_BYTES;
	bool first = true;

	sink_format(out, table ? ",\n\"%s\":[" : "{\"%s\":[", picture_tables[table]->name);
	for (size_t row = 0; row < set->slot_count && !out->error; row++) {
		struct sink series;

		if (set->slots[row] >= set->count)
			continue;
		sink_open_memory(&series);
		sink_format(&series, "{\"row\":%zu", row);
		write_name(&series, &names[set->slots[row]]);
		write_members(&series, &set->series[set->slots[row]], UINT_MAX);
		sink_char(&series, '}');
		first &= !write_within(out, &series, &left, first);
		sink_close(&series);
	}
	sink_char(out, ']');
}

/* Writes a row by the table's columns, without columns that are all zeros. */
static void write_sample(struct sink *out, const struct sampled *how,
			 const struct picture_sample *sample, size_t row)
{
	sink_format(out, "{\"row\":%zu", row);
	for (int i = 0; i < SAMPLED_MAX && how->columns[i]; i++) {
		if (!sample->before[i])
			continue;
		sink_format(out, ",\"%s\":", how->columns[i]);
		write_list(out, sample->more[i], sizeof(sample->more[i][0]), PICTURE_COARSE);
	}
	sink_char(out, '}');
}

static void write_samples_of(struct sink *out, const struct pictures *pictures, size_t number)
{
	const struct picture_sampled *table = &pictures->samples.tables[number];
	const struct sampled *how = picture_sampled[number]->sampled;
	size_t left = HTML_SAMPLES_BYTES;
	bool first = true;

	sink_format(out, number ? ",\n\"%s\":{\"columns\":[" : "{\"%s\":{\"columns\":[",
		    picture_sampled[number]->name);
	for (int i = 0; i < SAMPLED_MAX && how->columns[i]; i++)
		sink_format(out, i ? ",\"%s\"" : "\"%s\"", how->columns[i]);
	sink_text(out, "],\"rows\":[");
	for (size_t row = 0; row < table->count && !out->error; row++) {
		struct sink sample;

		sink_open_memory(&sample);
		write_sample(&sample, how, &table->rows[row], row);
		first &= !write_within(out, &sample, &left, first);
		sink_close(&sample);
	}
	sink_text(out, "]}");
}

/* --- grids --- */

static void write_kinds(struct sink *out, const uint32_t *counts, size_t rows)
{
	for (int kind = 0; kind < PICTURE_KINDS; kind++) {
		const char *name = kind == PICTURE_DEVICE_READ	  ? "device_read"
				   : kind == PICTURE_DEVICE_WRITE ? "device_write"
								  : part_names[kind];

		sink_format(out, kind ? ",\"%s\":" : "{\"%s\":", name);
		write_counts(out, counts + kind * PICTURE_COARSE * rows, PICTURE_COARSE * rows);
	}
	sink_char(out, '}');
}

static void write_cache(struct sink *out, const struct picture_cache *cache)
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

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		sink_format(out, ",\"%s\":", rows[i].name);
		write_list(out, (const uint64_t *)((const char *)cache + rows[i].at),
			   sizeof(*cache), PICTURE_COARSE);
	}
}

static void write_map(struct sink *out, const struct pictures *pictures, size_t number)
{
	static const char *const touches[PICTURE_TOUCHES] = {
		[PICTURE_TOUCH_READ] = "reads",
		[PICTURE_TOUCH_FAULT] = "faults",
		[PICTURE_TOUCH_WRITE] = "writes",
	};
	const struct picture_map *map = &pictures->grids.maps[number];

	sink_format(out, "{\"row_bytes\":%llu,\"furthest\":%llu,\"size\":%llu",
		    (unsigned long long)map->offset_bytes, (unsigned long long)map->furthest,
		    (unsigned long long)pictures->map_sizes[number]);
	write_name(out, &pictures->map_names[number]);
	for (int touch = 0; touch < PICTURE_TOUCHES; touch++) {
		sink_format(out, ",\"%s\":", touches[touch]);
		write_counts(out, map->counts[touch][0], PICTURE_COARSE * PICTURE_OFFSETS);
	}
	write_cache(out, map->cache);
	sink_char(out, '}');
}

/* Writes the maps that there is room for, the worst first. */
static void write_maps(struct sink *out, const struct pictures *pictures)
{
	size_t left = HTML_MAPS_BYTES, written = 0;

	sink_char(out, '[');
	for (size_t i = 0; i < pictures->grids.map_count && !out->error; i++) {
		struct sink map;

		sink_open_memory(&map);
		write_map(&map, pictures, i);
		if (map.error)
			out->error = map.error;
		if (map.used <= left) {
			if (written++)
				sink_text(out, ",\n");
			sink_bytes(out, map.buffer, map.used);
			left -= map.used;
		}
		sink_close(&map);
	}
	sink_format(out, "],\"maps_of\":%zu", pictures->grids.map_count);
}

/* --- spans --- */

static void write_lanes(struct sink *out, const struct pictures *pictures)
{
	const struct picture_spans *spans = &pictures->spans;

	sink_text(out, "\"lanes\":[");
	for (size_t i = 0; i < spans->reported_count; i++) {
		const struct picture_lane *lane = &spans->lanes[spans->reported[i]];

		sink_format(out, "%s{\"tid\":%u,\"count\":%llu,\"time_ns\":%llu,\"kept\":%llu",
			    i ? "," : "", lane->thread, (unsigned long long)lane->count,
			    (unsigned long long)lane->time_ns, (unsigned long long)lane->kept);
		write_name(out, &pictures->lane_names[i]);
		sink_text(out, ",\"busy\":");
		write_list(out, lane->busy, sizeof(lane->busy[0]), PICTURE_COARSE);
		sink_char(out, '}');
	}
	sink_format(out, "],\"lanes_of\":%zu,\"count\":%llu,\"kept_of\":%zu", spans->lane_count,
		    (unsigned long long)spans->count, spans->kept_count);
}

/* Returns the index of a lane among those written, or -1. */
static int place_of(const struct picture_spans *spans, uint32_t lane)
{
	for (size_t i = 0; i < spans->reported_count; i++)
		if (spans->reported[i] == lane)
			return i;
	return -1;
}

/* [lane, depth, label, start, length, unfinished] */
static void write_kept(struct sink *out, const struct pictures *pictures)
{
	const struct picture_spans *spans = &pictures->spans;
	size_t written = 0;

	sink_text(out, ",\n\"kept\":[");
	for (size_t i = 0; i < spans->kept_count; i++) {
		const struct picture_span *span = &spans->kept[i];
		int lane = place_of(spans, span->lane);

		if (lane < 0)
			continue;
		sink_format(
			out, "%s[%d,%u,%u,%llu,%llu%s]", written++ ? "," : "", lane, span->depth,
			span->label,
			(unsigned long long)clock_subtract(span->begin_ns, pictures->axis.start_ns),
			(unsigned long long)span->length_ns, span->unfinished ? ",1" : "");
	}
	sink_char(out, ']');
}

static void write_labels(struct sink *out, const struct pictures *pictures)
{
	size_t written = 0;

	sink_text(out, ",\n\"labels\":{");
	for (size_t i = 0; i < pictures->label_count; i++) {
		const struct picture_name *name = &pictures->labels[i];

		if (!name->text.bytes && !name->more.bytes)
			continue;
		sink_format(out, "%s\"%zu\":{\"of\":%zu", written++ ? "," : "", i, i);
		write_name(out, name);
		sink_char(out, '}');
	}
	sink_char(out, '}');
}

void html_pictures(struct sink *out, const struct pictures *pictures)
{
	const struct picture_axis *axis = &pictures->axis;
	const char *summed = pictures->all_summed ? "all" : pictures->summed ? "some" : "none";

	sink_format(out, "{\"fine\":%d,\"coarse\":%d,\"fine_ns\":%llu,\"duration_ns\":%llu",
		    PICTURE_FINE, PICTURE_COARSE, (unsigned long long)axis->fine_ns,
		    (unsigned long long)clock_subtract(axis->end_ns, axis->start_ns));
	sink_format(out, ",\"lost\":%s,\"summed\":\"%s\"", pictures->lost ? "true" : "false",
		    summed);
	sink_format(out,
		    ",\"offsets\":%d,\"latencies\":%d,\"latency_first\":%d,\"size_classes\":%d",
		    PICTURE_OFFSETS, PICTURE_LATENCIES, PICTURE_LATENCY_FIRST, SIZE_CLASSES);
	sink_format(out, ",\"layers\":{\"syscall\":%d,\"fault\":%d,\"pagecache\":%d,\"span\":%d,",
		    !!(pictures->layers & JOB_SYSCALL), !!(pictures->layers & JOB_FAULT),
		    !!(pictures->layers & JOB_PAGECACHE), !!(pictures->layers & JOB_SPAN));
	sink_format(out,
		    "\"block\":%d,\"async\":%d},\n\"course\":", !!(pictures->layers & JOB_BLOCK),
		    !!(pictures->layers & JOB_ASYNC));
	write_stretches(out, pictures);
	sink_text(out, ",\n\"sums\":");
	write_sums(out, pictures);
	sink_text(out, ",\n\"rows_of\":");
	for (size_t table = 0; table < PICTURE_TABLES; table++)
		write_rows_of(out, pictures, table);
	sink_text(out, "},\n\"samples\":");
	for (size_t table = 0; table < PICTURE_SAMPLED; table++)
		write_samples_of(out, pictures, table);
	sink_text(out, "},\n\"latencies_of\":");
	write_kinds(out, pictures->grids.latencies[0][0], PICTURE_LATENCIES);
	sink_text(out, ",\n\"sizes_of\":");
	write_kinds(out, pictures->grids.sizes[0][0], SIZE_CLASSES);
	sink_text(out, ",\n\"maps\":");
	write_maps(out, pictures);
	sink_text(out, ",\n\"spans\":{");
	write_lanes(out, pictures);
	write_kept(out, pictures);
	write_labels(out, pictures);
	sink_text(out, "}}");
}
