/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "paths": where I/O went, with similar files grouped: files with the same extension in a
 * directory or below it, /proc and /sys, files without a path, and loaded programs, libraries and
 * modules. Calls with a path that end without a file (stat, unlink, missing files) count for the
 * directory that they search.
 *
 * Files with the same path, one after the other or on several hosts, share a row. Times are sums
 * over files of their merged times: files used at the same time each count.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/files/files.h"
#include "analysis/shared/loaded.h"
#include "analysis/files/paths_state.h"
#include "analysis/order/walk.h"
#include "collections/compare.h"
#include "base/number.h"

/* --- paths --- */

static void add_path(struct paths *paths, struct table_text path, const struct path_sums *sums)
{
	if (!ARENA_GROW(&paths->arena, paths->all, paths->room, paths->count + 1))
		return;
	paths->all[paths->count] = (struct path_row) { path, paths->count, *sums };
	paths->count++;
}

/* Several files may have had the same path one after another, e.g. a journal that every transaction
 * recreates. */
static void add_file(struct paths *paths, struct table_text path, const struct path_sums *sums,
		     uint32_t *target)
{
	const uint64_t key = map_hash_bytes(&paths->by_hash, path.bytes, path.length);
	uint32_t number = paths->count;
	uint64_t *row = map_find(&paths->by_hash, &key);
	bool added;

	if (row) {
		*target = TARGET(TO_PATH, *row);
		path_sums_add(&paths->all[*row].sums, sums);
		return;
	}
	add_path(paths, path, sums);
	row = map_add(&paths->by_hash, &key, &added);
	if (row)
		*row = number;
	*target = TARGET(TO_PATH, number);
}

/* Adds to a kind of files, or to a path, on its own or in its group. */
static void add_sums_of(struct paths *paths, enum path_kind special, uint32_t number,
			struct table_text path, const struct path_sums *sums, uint32_t *target)
{
	struct group *group;

	if (special != PATH_KINDS) {
		path_sums_add(&paths->special[special], sums);
		*target = TARGET(TO_SPECIAL, special);
		return;
	}
	number = path_groups_root(paths, number);
	group = &paths->groups[number];
	if (!group->deep && group->files < ALIKE) {
		add_file(paths, path, sums, target);
		return;
	}
	path_sums_add(&group->sums, sums);
	*target = TARGET(TO_GROUP, number);
}

static void sum_files(struct paths *paths)
{
	uint32_t count = files_count(paths->results);
	struct file_view file;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t *target = &paths->kept->files[i];
		struct path_sums sums;

		if (!files_used(paths->results, i, &file))
			continue;
		sums = path_sums_of(&file);
		add_sums_of(paths, path_kind_of_file(&file), *target, file.path, &sums, target);
	}
	for (size_t i = 0; i < paths->looked_count; i++) {
		const struct looked *looked = &paths->looked[i];

		add_sums_of(paths, looked->special, looked->group, looked->path, &looked->sums,
			    &paths->kept->looked[looked->number]);
	}
}

static void add_groups(struct paths *paths)
{
	for (size_t i = 0; i < paths->group_count; i++) {
		struct group *group = &paths->groups[i];
		const char *stars = group->deep ? "/**" : "/*";
		size_t length = group->directory.length + strlen(stars) + group->extension.length;
		char *path;

		if (!group->sums.operations && !group->sums.files)
			continue;
		group->row = paths->count;
		path = arena_alloc(&paths->arena, length + 1);
		if (!path)
			return;
		memcpy(path, group->directory.bytes, group->directory.length);
		strcpy(path + group->directory.length, stars);
		memcpy(path + group->directory.length + strlen(stars), group->extension.bytes,
		       group->extension.length);
		add_path(paths, (struct table_text) { path, length }, &group->sums);
	}
	for (size_t i = 0; i < PATH_KINDS; i++) {
		const char *name = path_kind_names[i];
		struct path_sums sums = paths->special[i];

		paths->special_rows[i] = paths->count;
		if (!sums.operations && !sums.files)
			continue;
		if (i == PATH_REST)
			sums.files = TABLE_NO_UINT;
		add_path(paths, (struct table_text) { name, strlen(name) }, &sums);
	}
}

/* The kind of a directory "/a/b" is that of the files in it. */
static void list_looked(struct paths *paths, struct rollup *directories)
{
	paths->looked =
		arena_alloc(&paths->arena, (directories->count + 1) * sizeof(*paths->looked));
	if (!paths->looked)
		return;
	for (uint32_t i = 0; i < directories->count; i++) {
		struct looked *looked = &paths->looked[paths->looked_count];
		struct table_text name = rollup_name(directories, i), inside;
		char *path;

		if (!rollup_used(directories, i))
			continue;
		looked->number = i;
		path = arena_alloc(&paths->arena, name.length + 1);
		if (!path)
			return;
		if (name.length)
			memcpy(path, name.bytes, name.length);
		path[name.length] = '/';
		inside = (struct table_text) { path, name.length + 1 };
		looked->special = path_kind_of(inside, loaded_is(inside));
		looked->path = (struct table_text) { path, number_max(name.length, 1) };
		for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++) {
			const struct tally *tally = rollup_tally(directories, i, class);

			looked->sums.time_ns += tally->time.measure;
			looked->sums.operations += tally->count;
		}
		if (!name.length)
			looked->special = PATH_PATHLESS;
		paths->looked_count++;
	}
}

static void make_paths(struct paths *paths)
{
	struct kept *kept = paths->kept;

	list_looked(paths, &kept->directories);
	kept->file_count = files_count(paths->results);
	kept->looked_count = kept->directories.count;
	kept->files = arena_alloc(kept->arena, (kept->file_count + 1) * sizeof(*kept->files));
	kept->looked = arena_alloc(kept->arena, (kept->looked_count + 1) * sizeof(*kept->looked));
	if (!kept->files || !kept->looked)
		return;
	path_groups_make(paths);
	if (arena_status(&paths->arena)) /* some have no group */
		return;
	sum_files(paths);
	add_groups(paths);
}

/* --- during the walk --- */

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct kept *kept = state;

	kept->arena = arena;
	rollup_init(&kept->directories, arena, job, rollup_find_key("directory"), 0);
}

static bool names_path(const struct event *event)
{
	return event->file == FILE_NONE && event_kind(event) == TRACE_SYSCALL_PATH;
}

static int add_events(void *state, const struct event *events, size_t count)
{
	struct rollup *rollup = &((struct kept *)state)->directories;

	return path_memory_emit(&rollup->paths, events, count, names_path, rollup_event, rollup);
}

/* --- the table --- */

static const struct table_column columns[PATH_COLUMNS] = {
	[PATH_TIME] = COLUMN_AS("time_ns", path_row, sums.time_ns, "time", NS, UNION,
				"I/O time, summed over the files", 0, STRETCH(TIME)),
	[PATH_OPERATIONS] = COLUMN_AS("operations", path_row, sums.operations, "ops", COUNT, SUM,
				      "calls and faults", 0, STRETCH(COUNT)),
	[PATH_READ] = COLUMN_AS("read_bytes", path_row, sums.read_bytes, "read", BYTES, SUM,
				"bytes read by calls", JOB_MOVED, STRETCH(READ_BYTES)),
	[PATH_WRITTEN] = COLUMN_AS("write_bytes", path_row, sums.write_bytes, "written", BYTES, SUM,
				   "bytes written by calls and dirtied by stores", JOB_MOVED,
				   STRETCH(WRITE_BYTES) | STRETCH(DIRTIED)),
	[PATH_FETCHED] = COLUMN_AS(
		"fetched_bytes", path_row, sums.fetched_bytes, "from storage", BYTES, SUM,
		"bytes read from storage into the page cache, unattributed reads included",
		JOB_PAGECACHE, STRETCH(FETCHED)),
	[PATH_CREATED] = COLUMN_AS("created_bytes", path_row, sums.created_bytes, "newly cached",
				   BYTES, SUM, "bytes of new page-cache pages filled by writes",
				   JOB_PAGECACHE, STRETCH(CREATED)),
	[PATH_FILES] = COLUMN_AS("files", path_row, sums.files, "files", COUNT, DERIVED,
				 "number of files in the row; null: unknown"),
	[PATH_PATH] = COLUMN(path_row, path, "path", PATH, KEY,
			     "file, pattern of similar files (* in a directory, ** below it), or "
			     "kind of files; a directory includes lookups in it"),
};

static int compare_paths(const void *left, const void *right)
{
	const struct path_row *a = left, *b = right;
	size_t shorter = number_min(a->path.length, b->path.length);

	return COMPARE(b->sums.time_ns, a->sums.time_ns) ?:
	       COMPARE(b->sums.fetched_bytes, a->sums.fetched_bytes) ?:
	       memcmp(a->path.bytes, b->path.bytes, shorter);
}

/* Replaces each target by its row in the table plus 1; 0: none. `rows` maps unsorted path numbers
 * to rows. */
static void find_rows(const struct paths *paths, const uint32_t *rows, uint32_t *targets,
		      size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t to = targets[i] % TO_KINDS, number = targets[i] / TO_KINDS;

		if (to == TO_SPECIAL)
			number = paths->special_rows[number];
		else if (to == TO_GROUP)
			number = paths->groups[number].row;
		targets[i] = to == TO_NONE ? 0 : rows[number] + 1;
	}
}

static void fill_table(struct paths *paths, struct table *table)
{
	uint32_t *rows = arena_alloc(&paths->arena, (paths->count + 1) * sizeof(*rows));

	if (!rows)
		return;
	if (paths->count)
		qsort(paths->all, paths->count, sizeof(*paths->all), compare_paths);
	for (size_t i = 0; i < paths->count; i++) {
		rows[paths->all[i].number] = i;
		table_add(table, &paths->all[i]);
	}
	find_rows(paths, rows, paths->kept->files, paths->kept->file_count);
	find_rows(paths, rows, paths->kept->looked, paths->kept->looked_count);
}

static int find_ends(struct kept *kept)
{
	kept->file_ends_ns = arena_alloc(kept->arena, (kept->file_count * USES + 1) *
							      sizeof(*kept->file_ends_ns));
	kept->looked_ends_ns =
		arena_alloc(kept->arena, (kept->looked_count + 1) * sizeof(*kept->looked_ends_ns));
	return kept->file_ends_ns && kept->looked_ends_ns ? 0 : -ENOMEM;
}

static int rows_of(void *state, const struct event *event, struct row_of rows[ROWS_OF_MAX])
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
		group = kept->directories.key->group_of(&kept->directories, event);
		if (group >= kept->looked_count)
			return arena_status(kept->arena);
		row = kept->looked[group];
		end_ns = &kept->looked_ends_ns[group];
	}
	rows[0] = (struct row_of) { .row = row - 1, .end_ns = end_ns };
	return row ? 1 : 0;
}

static void conclude(const struct results *results, struct table *table)
{
	struct paths paths = { .results = results,
			       .kept = results_state(results, &analysis_paths) };

	table_add_columns(table, TABLE_COLUMNS(columns));
	table->recorded = results->job->layers;
	map_init_in(&paths.numbers, &paths.arena, 3, 1);
	number_index_init(&paths.seen, path_groups_hash);
	map_init_in(&paths.by_hash, &paths.arena, 1, 1);
	make_paths(&paths);
	if (!arena_status(&paths.arena) && !arena_status(paths.kept->arena))
		fill_table(&paths, table);
	table_fail(table, arena_status(&paths.arena));
	number_index_free(&paths.seen);
	arena_free(&paths.arena);
}

const struct analysis analysis_paths = {
	.name = "paths",
	.meaning = "I/O by path, with similar files grouped",
	.title = "Paths",
	.shown = "path,time_ns,fetched_bytes,read_bytes,write_bytes,operations,files,created_bytes",
	.by = "time_ns",
	.aggregated_ok = true,
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct kept),
	.begin = begin,
	.consumer = { .parallel = true, .events = add_events, .matters = WALK_CLASS(IO_METADATA) },
	.columns[TRACE_SYSCALL_PATH] = 1ull << SYSCALL_PATH_DIR | 1ull << SYSCALL_PATH_PATH,
	.conclude = conclude,
	.rows_of = rows_of,
	.merging = { .sorted = "-time_ns",
		     .many = "paths",
		     .fixed = columns,
		     .fixed_count = PATH_COLUMNS },
};
