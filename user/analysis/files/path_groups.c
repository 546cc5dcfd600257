/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Groups similar files into one row: files with the same extension in a directory or below it, and
 * files in a directory whose extensions are all different, as in generated names.
 */
#include "analysis/files/paths_state.h"

#include <string.h>
#include <sys/stat.h>

#include "analysis/events/path.h"
#include "analysis/shared/trace_text.h"

#define ALIKE_BELOW 4 /* directories merged into one row */
#define LEVELS_MAX 8  /* of directories to fold */

/* Finds or adds a group. Returns its number, or NO_GROUP if out of memory. */
static uint32_t group_of(struct paths *paths, struct table_text directory,
			 struct table_text extension, bool deep)
{
	uint64_t key[3] = { map_hash_bytes(&paths->numbers, directory.bytes, directory.length),
			    map_hash_bytes(&paths->numbers, extension.bytes, extension.length),
			    deep };
	uint64_t *number;
	bool added;

	if (!ARENA_GROW(&paths->arena, paths->groups, paths->group_room, paths->group_count + 1))
		return NO_GROUP;
	number = map_add(&paths->numbers, key, &added);
	if (!number)
		return NO_GROUP;
	if (added) {
		*number = paths->group_count;
		paths->groups[paths->group_count++] = (struct group) {
			.directory = directory,
			.extension = extension,
			.deep = deep,
			.into = NO_GROUP,
		};
	}
	return *number;
}

/* Files are similar if they have the same extension; directories form a kind of their own. */
static struct table_text kind_of(const struct paths *paths, uint32_t file, struct table_text path)
{
	if (S_ISDIR(paths->results->job->files.files[file].mode))
		return (struct table_text) { "/", 1 };
	return path_extension(path);
}

static struct table_text path_of(const struct paths *paths, uint32_t number)
{
	const struct file_table *files = &paths->results->job->files;

	return number < files->count ? trace_text(file_table_name(files, number))
				     : paths->looked[number - files->count].path;
}

uint64_t path_groups_hash(const void *items, uint32_t number, uint64_t seed)
{
	const struct paths *paths = items;
	struct table_text path = path_of(paths, number);

	return map_hash_bytes(&paths->numbers, path.bytes, path.length);
}

static bool is_seen(const struct paths *paths, struct table_text path)
{
	uint64_t at = map_hash_bytes(&paths->numbers, path.bytes, path.length);
	uint32_t number;

	while ((number = number_index_next(&paths->seen, &at)) != UINT32_MAX) {
		struct table_text seen = path_of(paths, number);

		if (seen.length == path.length && !memcmp(seen.bytes, path.bytes, path.length))
			return true;
	}
	return false;
}

/* Adds a path to the group of its directory; files with the same path count once. */
static void group_path(struct paths *paths, uint32_t number, struct table_text kind,
		       uint32_t *group)
{
	struct table_text path = path_of(paths, number);
	struct table_text directory = { path.bytes, path_directory(path.bytes, path.length) };

	*group = group_of(paths, directory, kind, false);
	if (*group == NO_GROUP || is_seen(paths, path))
		return;
	paths->groups[*group].files++;
	paths->arena.failed |= !number_index_add(&paths->seen, paths, number);
}

static void group_files(struct paths *paths)
{
	uint32_t count = files_count(paths->results);
	struct file_view file;

	for (uint32_t i = 0; i < count; i++) {
		if (!files_used(paths->results, i, &file) || path_kind_of_file(&file) != PATH_KINDS)
			continue;
		group_path(paths, i, kind_of(paths, i, file.path), &paths->kept->files[i]);
	}
	for (size_t i = 0; i < paths->looked_count; i++)
		if (paths->looked[i].special == PATH_KINDS)
			group_path(paths, count + i, (struct table_text) { "/", 1 },
				   &paths->looked[i].group);
}

/* The only file with its extension in its directory. */
static bool is_single(const struct group *group)
{
	return group->files == 1 && group->extension.length && group->extension.bytes[0] != '/';
}

/* Returns the group of files without extension in the directory of a single file, NO_GROUP for
 * other groups. May move paths->groups. */
static uint32_t find_rest(struct paths *paths, size_t single)
{
	const struct table_text none = { "", 0 };
	const struct group *group = &paths->groups[single];

	return is_single(group) ? group_of(paths, group->directory, none, false) : NO_GROUP;
}

/* If a directory has many single files, the end of their names is not an extension (e.g. temporary
 * copies, `.model.bin.fiPD85`), and they are similar. */
static void fold_singles(struct paths *paths)
{
	size_t count = paths->group_count;
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		number = find_rest(paths, i);
		if (number != NO_GROUP)
			paths->groups[number].children++;
	}
	for (size_t i = 0; i < count; i++) {
		number = find_rest(paths, i);
		if (number == NO_GROUP || paths->groups[number].children < ALIKE)
			continue;
		paths->groups[i].into = number;
		paths->groups[number].files++;
	}
	for (size_t i = 0; i < paths->group_count; i++)
		paths->groups[i].children = 0;
}

/* Returns the group of files below a group's parent directory, NO_GROUP if there is nothing to
 * fold. May move paths->groups. */
static uint32_t find_parent(struct paths *paths, size_t child)
{
	const struct group *group = &paths->groups[child];
	struct table_text parent = group->directory;

	parent.length = path_directory(parent.bytes, parent.length);
	if (group->into != NO_GROUP || parent.length <= 1 || (!group->deep && !group->files))
		return NO_GROUP;
	return group_of(paths, parent, group->extension, true);
}

/* Folds the groups of sister directories into one below their parent. */
static void fold_level(struct paths *paths, bool *folded)
{
	size_t count = paths->group_count;
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		number = find_parent(paths, i);
		if (number == NO_GROUP || paths->groups[number].into != NO_GROUP)
			continue;
		paths->groups[number].children++;
		paths->groups[number].files += paths->groups[i].files;
	}
	for (size_t i = 0; i < count; i++) {
		number = find_parent(paths, i);
		if (number == NO_GROUP || number == i || paths->groups[number].into != NO_GROUP ||
		    paths->groups[number].children < ALIKE_BELOW ||
		    paths->groups[number].files < ALIKE)
			continue;
		paths->groups[i].into = number;
		*folded = true;
	}
	/* Drops groups with too few children. */
	for (size_t i = 0; i < paths->group_count; i++) {
		struct group *group = &paths->groups[i];

		if (group->deep && group->into == NO_GROUP &&
		    (group->children < ALIKE_BELOW || group->files < ALIKE))
			group->files = 0;
		group->children = 0;
	}
}

uint32_t path_groups_root(const struct paths *paths, uint32_t number)
{
	while (paths->groups[number].into != NO_GROUP)
		number = paths->groups[number].into;
	return number;
}

void path_groups_make(struct paths *paths)
{
	bool folded = true;

	if (!number_index_reserve(&paths->seen, paths, paths->kept->file_count)) {
		paths->arena.failed = true;
		return;
	}
	group_files(paths);
	fold_singles(paths);
	for (size_t level = 0; level < LEVELS_MAX && folded; level++) {
		folded = false;
		fold_level(paths, &folded);
	}
}
