/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "places": where I/O went, with what is alike taken together: files of one extension in
 * a directory or below one, /proc and /sys, what has no path, and the programs, libraries and
 * modules that were loaded. Calls that name a path and end without a file (stat, unlink, what is
 * not there) go to the directory that they look in. Knows nothing of how it is shown.
 *
 * Files that had the same path, one after the other or on several hosts, are one row.
 * Times are sums over files of their merged times: files used at the same time count each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/files.h"
#include "analysis/loaded.h"
#include "analysis/places_state.h"
#include "analysis/model/walk.h"
#include "grow.h"

/* --- places --- */

static int add_place(struct places *places, struct table_text path, const struct place_sums *sums)
{
	if (!GROW(places->all, places->room, places->count + 1))
		return -ENOMEM;
	places->all[places->count] = (struct place) { path, places->count, *sums };
	places->count++;
	return 0;
}

/* Files one after the other may have had a path: a journal that each transaction makes anew. */
static int add_file(struct places *places, struct table_text path, const struct place_sums *sums,
		    uint32_t *target)
{
	const uint64_t key = map_hash_bytes(&places->paths, path.bytes, path.length);
	bool added;
	uint64_t *place = map_add(&places->paths, &key, &added);

	if (!place)
		return -ENOMEM;
	if (added)
		*place = places->count;
	*target = TARGET(TO_PLACE, *place);
	if (!added) {
		place_sums_add(&places->all[*place].sums, sums);
		return 0;
	}
	return add_place(places, path, sums);
}

/* To a kind of files, or to a path, alone or in its group. */
static int add_sums_of(struct places *places, enum place_kind special, uint32_t number,
		       struct table_text path, const struct place_sums *sums, uint32_t *target)
{
	struct group *group;

	if (special != PLACE_KINDS) {
		place_sums_add(&places->special[special], sums);
		*target = TARGET(TO_SPECIAL, special);
		return 0;
	}
	number = place_groups_root(places, number);
	group = &places->groups[number];
	if (!group->deep && group->files < ALIKE)
		return add_file(places, path, sums, target);
	place_sums_add(&group->sums, sums);
	*target = TARGET(TO_GROUP, number);
	return 0;
}

static int sum_files(struct places *places)
{
	uint32_t count = files_count(places->measured);
	struct file_view file;
	int status = 0;

	for (uint32_t i = 0; i < count && !status; i++) {
		uint32_t *target = &places->kept->files[i];
		struct place_sums sums;

		if (!files_used(places->measured, i, &file))
			continue;
		sums = place_sums_of(&file);
		status = add_sums_of(places, place_kind_of_file(&file), *target, file.path, &sums,
				     target);
	}
	for (size_t i = 0; i < places->looked_count && !status; i++) {
		const struct looked *looked = &places->looked[i];

		status = add_sums_of(places, looked->special, looked->group, looked->path,
				     &looked->sums, &places->kept->looked[looked->number]);
	}
	return status;
}

static int add_groups(struct places *places)
{
	int status = 0;

	for (size_t i = 0; i < places->group_count && !status; i++) {
		struct group *group = &places->groups[i];
		const char *stars = group->deep ? "/**" : "/*";
		size_t length = group->directory.length + strlen(stars) + group->extension.length;
		char *path;

		if (!group->sums.operations && !group->sums.files)
			continue;
		group->place = places->count;
		path = arena_alloc(&places->arena, length + 1);
		if (!path)
			return -ENOMEM;
		memcpy(path, group->directory.bytes, group->directory.length);
		strcpy(path + group->directory.length, stars);
		memcpy(path + group->directory.length + strlen(stars), group->extension.bytes,
		       group->extension.length);
		status = add_place(places, (struct table_text) { path, length }, &group->sums);
	}
	for (size_t i = 0; i < PLACE_KINDS && !status; i++) {
		const char *name = place_kind_names[i];

		places->special_places[i] = places->count;
		if (places->special[i].operations || places->special[i].files)
			status = add_place(places, (struct table_text) { name, strlen(name) },
					   &places->special[i]);
	}
	return status;
}

/* Of a directory "/a/b" what is in it decides of which kind it is. */
static int list_looked(struct places *places, struct rollup *directories)
{
	places->looked = calloc(directories->count + 1, sizeof(*places->looked));
	if (!places->looked)
		return -ENOMEM;
	for (uint32_t i = 0; i < directories->count; i++) {
		struct looked *looked = &places->looked[places->looked_count];
		struct table_text name = rollup_name(directories, i), inside;
		char *path;

		if (!rollup_used(directories, i))
			continue;
		looked->number = i;
		path = arena_alloc(&places->arena, name.length + 1);
		if (!path)
			return -ENOMEM;
		if (name.length)
			memcpy(path, name.bytes, name.length);
		path[name.length] = '/';
		inside = (struct table_text) { path, name.length + 1 };
		looked->special = place_kind_of(inside, loaded_is(inside));
		looked->path = (struct table_text) { path, name.length > 1 ? name.length : 1 };
		for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++) {
			const struct tally *tally = rollup_tally(directories, i, class);

			looked->sums.time_ns += tally->time.measure;
			looked->sums.operations += tally->count;
		}
		if (!name.length)
			looked->special = PLACE_PATHLESS;
		places->looked_count++;
	}
	return 0;
}

static int make_places(struct places *places)
{
	struct kept *kept = places->kept;
	int status = list_looked(places, &kept->directories);

	if (status)
		return status;
	kept->file_count = files_count(places->measured);
	kept->looked_count = kept->directories.count;
	kept->files = calloc(kept->file_count + 1, sizeof(*kept->files));
	kept->looked = calloc(kept->looked_count + 1, sizeof(*kept->looked));
	if (!kept->files || !kept->looked)
		return -ENOMEM;
	status = place_groups_make(places);
	if (!status)
		status = sum_files(places);
	return status ? status : add_groups(places);
}

/* --- in passing --- */

static int begin(const struct job *job, void **state)
{
	struct kept *kept = calloc(1, sizeof(*kept));

	*state = kept;
	if (!kept)
		return -ENOMEM;
	rollup_init(&kept->directories, job, rollup_find_key("directory"), 0);
	return 0;
}

static void end(void *state)
{
	struct kept *kept = state;

	rollup_free(&kept->directories);
	free(kept->files);
	free(kept->looked);
	free(kept->file_ends_ns);
	free(kept->looked_ends_ns);
	free(kept);
}

static bool names_path(const struct event *event)
{
	return event->file == FILE_NONE && event_kind(event) == TRACE_SYSCALL_PATH;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct rollup *rollup = &((struct kept *)state)->directories;

	return path_memory_tell(&rollup->paths, events, count, names_path, rollup_event, rollup);
}

/* --- the table --- */

static const struct table_column columns[PLACE_COLUMNS] = {
	[PLACE_TIME] = { "time_ns", "time", UNIT_NS, "time in I/O on it, summed over files",
			 TABLE_UINT(struct place, sums.time_ns), 0 },
	[PLACE_OPERATIONS] = { "operations", "operations", UNIT_COUNT, "calls and faults",
			       TABLE_UINT(struct place, sums.operations), 0 },
	[PLACE_READ] = { "read_bytes", "read", UNIT_BYTES, "bytes read by calls",
			 TABLE_UINT(struct place, sums.read_bytes), JOB_MOVED },
	[PLACE_WRITTEN] = { "write_bytes", "written", UNIT_BYTES,
			    "bytes written by calls and dirtied by stores",
			    TABLE_UINT(struct place, sums.write_bytes), JOB_MOVED },
	[PLACE_FETCHED] = { "fetched_bytes", "from storage", UNIT_BYTES,
			    "bytes brought into the page cache from storage, unattributed ones "
			    "included",
			    TABLE_UINT(struct place, sums.fetched_bytes), JOB_PAGECACHE },
	[PLACE_CREATED] = { "created_bytes", "created by writes", UNIT_BYTES,
			    "bytes newly cached by writing",
			    TABLE_UINT(struct place, sums.created_bytes), JOB_PAGECACHE },
	[PLACE_FILES] = { "files", "files", UNIT_COUNT, "files that are taken together",
			  TABLE_UINT(struct place, sums.files), 0 },
	[PLACE_PATH] = { "path", "where", UNIT_PATH,
			 "a file, a pattern of files that are alike, or a kind of files; of a "
			 "directory "
			 "the calls, too, that looked for what is in it",
			 TABLE_TEXT(struct place, path), 0 },
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	size_t least = a->path.length < b->path.length ? a->path.length : b->path.length;

	if (a->sums.time_ns != b->sums.time_ns)
		return a->sums.time_ns > b->sums.time_ns ? -1 : 1;
	if (a->sums.fetched_bytes != b->sums.fetched_bytes)
		return a->sums.fetched_bytes > b->sums.fetched_bytes ? -1 : 1;
	return memcmp(a->path.bytes, b->path.bytes, least);
}

/* Where each target stands in the table, as places were numbered before. */
static void find_rows(const struct places *places, const uint32_t *rows, uint32_t *targets,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t to = targets[i] % TO_KINDS, number = targets[i] / TO_KINDS;

		if (to == TO_SPECIAL)
			number = places->special_places[number];
		else if (to == TO_GROUP)
			number = places->groups[number].place;
		targets[i] = to == TO_NONE ? 0 : rows[number] + 1;
	}
}

static int fill_table(struct places *places, struct table *table)
{
	uint32_t *rows = calloc(places->count + 1, sizeof(*rows));
	int status = 0;

	if (!rows)
		return -ENOMEM;
	if (places->count)
		qsort(places->all, places->count, sizeof(*places->all), compare_places);
	for (size_t i = 0; i < places->count && !status; i++) {
		rows[places->all[i].number] = i;
		status = table_add(table, &places->all[i]);
	}
	find_rows(places, rows, places->kept->files, places->kept->file_count);
	find_rows(places, rows, places->kept->looked, places->kept->looked_count);
	free(rows);
	return status;
}

static int find_ends(struct kept *kept)
{
	kept->file_ends_ns = calloc(kept->file_count * USES + 1, sizeof(*kept->file_ends_ns));
	kept->looked_ends_ns = calloc(kept->looked_count + 1, sizeof(*kept->looked_ends_ns));
	return kept->file_ends_ns && kept->looked_ends_ns ? 0 : -ENOMEM;
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MOST])
{
	struct kept *kept = state;
	uint64_t *end_ns;
	uint32_t row, group;

	if (!kept->file_ends_ns && find_ends(kept))
		return -ENOMEM;
	if (event->file < kept->file_count) {
		if (event->class == IO_NONE &&
		    (event->flags & (EVENT_PAGECACHE | EVENT_INDIRECT)) != EVENT_PAGECACHE)
			return 0;
		row = kept->files[event->file];
		end_ns = &kept->file_ends_ns[event->file * USES];
		if (event->class != IO_NONE)
			end_ns += files_use_of(event->class);
	} else {
		if (event->class == IO_NONE || event_kind(event) != TRACE_SYSCALL_PATH)
			return 0;
		if (kept->directories.key->group_of(&kept->directories, event, &group))
			return -ENOMEM;
		if (group >= kept->looked_count)
			return 0;
		row = kept->looked[group];
		end_ns = &kept->looked_ends_ns[group];
	}
	rows[0] = (struct row_of) { .row = row - 1, .end_ns = end_ns };
	return row ? 1 : 0;
}

static int conclude(const struct measured *measured, struct table *table)
{
	struct places places = { .measured = measured,
				 .kept = measured_state(measured, &analysis_places) };
	int status = table_add_columns(table, TABLE_COLUMNS(columns));

	table->recorded = measured->job->layers;
	map_init(&places.numbers, 3, 1);
	number_index_init(&places.seen, place_groups_hash);
	map_init(&places.paths, 1, 1);
	if (!status)
		status = make_places(&places);
	if (!status)
		status = fill_table(&places, table);
	map_free(&places.numbers);
	number_index_free(&places.seen);
	map_free(&places.paths);
	arena_free(&places.arena);
	free(places.looked);
	free(places.groups);
	free(places.all);
	return status;
}

const struct analysis analysis_places = {
	.name = "places",
	.meaning = "where I/O went, with files that are alike taken together",
	.title = "Places",
	.shown = "path,time_ns,fetched_bytes,read_bytes,write_bytes,operations,files,created_bytes",
	.by = "time_ns",
	.of_sums = true,
	.shape = TABLE_LIST,
	.begin = begin,
	.passing = { .apart = true, .events = add_events, .matters = WALK_CLASS(IO_METADATA) },
	.columns[TRACE_SYSCALL_PATH] = 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH,
	.conclude = conclude,
	.rows_of = rows_of,
	.end = end,
	.merging = { .keys = "path",

		     .unknown = "files",
		     .sorted = "-time_ns",
		     .many = "places",
		     .fixed = columns,
		     .fixed_count = PLACE_COLUMNS },
};
