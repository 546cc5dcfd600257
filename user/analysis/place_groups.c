/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files that are told as one: those of one extension in a directory, or below one, and those of a
 * directory that have an extension each, as names that are made up do. Knows nothing of what was
 * done with them.
 */
#include "analysis/places_state.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/model/path.h"
#include "analysis/trace_text.h"
#include "grow.h"

#define ALIKE_BELOW 4 /* directories whose files are told as one */
#define LEVELS_MOST 8 /* of directories that are folded */

/* Finds or makes a group. Returns its number, or NO_GROUP when there is no memory. */
static uint32_t group_of(struct places *places, struct table_text directory,
			 struct table_text extension, bool deep)
{
	uint64_t key[3] = { map_hash_bytes(&places->numbers, directory.bytes, directory.length),
			    map_hash_bytes(&places->numbers, extension.bytes, extension.length),
			    deep };
	uint64_t *number;
	bool added;

	if (!GROW(places->groups, places->group_room, places->group_count + 1))
		return NO_GROUP;
	number = map_add(&places->numbers, key, &added);
	if (!number)
		return NO_GROUP;
	if (added) {
		*number = places->group_count;
		places->groups[places->group_count++] = (struct group) {
			.directory = directory,
			.extension = extension,
			.deep = deep,
			.into = NO_GROUP,
		};
	}
	return *number;
}

/* What makes files alike: their extension; directories are alike, and no files. */
static struct table_text kind_of(const struct places *places, uint32_t file, struct table_text path)
{
	if (S_ISDIR(places->measured->job->files.files[file].mode))
		return (struct table_text) { "/", 1 };
	return place_extension(path);
}

static struct table_text path_of(const struct places *places, uint32_t number)
{
	const struct file_table *files = &places->measured->job->files;

	return number < files->count ? trace_text(file_table_name(files, number))
				     : places->looked[number - files->count].path;
}

uint64_t place_groups_hash(const void *items, uint32_t number, uint64_t seed)
{
	const struct places *places = items;
	struct table_text path = path_of(places, number);

	return map_hash_bytes(&places->numbers, path.bytes, path.length);
}

static bool is_seen(const struct places *places, struct table_text path)
{
	uint64_t at = map_hash_bytes(&places->numbers, path.bytes, path.length);
	uint32_t number;

	while ((number = number_index_next(&places->seen, &at)) != UINT32_MAX) {
		struct table_text seen = path_of(places, number);

		if (seen.length == path.length && !memcmp(seen.bytes, path.bytes, path.length))
			return true;
	}
	return false;
}

/* The group of what lies in a directory of its own path; further files of one path count once. */
static int group_path(struct places *places, uint32_t number, struct table_text kind,
		      uint32_t *group)
{
	struct table_text path = path_of(places, number);
	struct table_text directory = { path.bytes, path_directory(path.bytes, path.length) };

	*group = group_of(places, directory, kind, false);
	if (*group == NO_GROUP)
		return -ENOMEM;
	if (is_seen(places, path))
		return 0;
	places->groups[*group].files++;
	return number_index_add(&places->seen, places, number) ? 0 : -ENOMEM;
}

static int group_files(struct places *places)
{
	uint32_t count = files_count(places->measured);
	struct file_view file;
	int status = 0;

	for (uint32_t i = 0; i < count && !status; i++) {
		if (!files_used(places->measured, i, &file) ||
		    place_kind_of_file(&file) != PLACE_KINDS)
			continue;
		status = group_path(places, i, kind_of(places, i, file.path),
				    &places->kept->files[i]);
	}
	for (size_t i = 0; i < places->looked_count && !status; i++)
		if (places->looked[i].special == PLACE_KINDS)
			status = group_path(places, count + i, (struct table_text) { "/", 1 },
					    &places->looked[i].group);
	return status;
}

/* The only file of its extension in its directory. */
static bool is_single(const struct group *group)
{
	return group->files == 1 && group->extension.length && group->extension.bytes[0] != '/';
}

/* The group of what has no extension in such a file's directory; *number is NO_GROUP for others. */
static int find_rest(struct places *places, size_t single, uint32_t *number)
{
	const struct table_text none = { "", 0 };
	const struct group *group = &places->groups[single];

	*number = NO_GROUP;
	if (!is_single(group))
		return 0;
	*number = group_of(places, group->directory, none, false); /* the list may move */
	return *number == NO_GROUP ? -ENOMEM : 0;
}

/* Many of those in one directory: what stands behind the last point of their names is none (a copy
 * in the making, `.model.bin.fiPD85`), and they are alike. */
static int fold_singles(struct places *places)
{
	size_t count = places->group_count;
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		if (find_rest(places, i, &number))
			return -ENOMEM;
		if (number != NO_GROUP)
			places->groups[number].children++;
	}
	for (size_t i = 0; i < count; i++) {
		if (find_rest(places, i, &number))
			return -ENOMEM;
		if (number == NO_GROUP || places->groups[number].children < ALIKE)
			continue;
		places->groups[i].into = number;
		places->groups[number].files++;
	}
	for (size_t i = 0; i < places->group_count; i++)
		places->groups[i].children = 0;
	return 0;
}

/* The group of what lies below a group's parent; *number is NO_GROUP where it has none to fold
 * into. */
static int find_parent(struct places *places, size_t child, uint32_t *number)
{
	const struct group *group = &places->groups[child];
	struct table_text parent = group->directory;

	*number = NO_GROUP;
	parent.length = path_directory(parent.bytes, parent.length);
	if (group->into != NO_GROUP || parent.length <= 1 || (!group->deep && !group->files))
		return 0;
	*number = group_of(places, parent, group->extension, true); /* the list may move */
	return *number == NO_GROUP ? -ENOMEM : 0;
}

/* Folds groups of sister directories into one of what lies below their parent. */
static int fold_level(struct places *places, bool *folded)
{
	size_t count = places->group_count;
	uint32_t number;

	for (size_t i = 0; i < count; i++) {
		if (find_parent(places, i, &number))
			return -ENOMEM;
		if (number == NO_GROUP || places->groups[number].into != NO_GROUP)
			continue;
		places->groups[number].children++;
		places->groups[number].files += places->groups[i].files;
	}
	for (size_t i = 0; i < count; i++) {
		if (find_parent(places, i, &number))
			return -ENOMEM;
		if (number == NO_GROUP || number == i || places->groups[number].into != NO_GROUP ||
		    places->groups[number].children < ALIKE_BELOW ||
		    places->groups[number].files < ALIKE)
			continue;
		places->groups[i].into = number;
		*folded = true;
	}
	/* What had too few children is no group. */
	for (size_t i = 0; i < places->group_count; i++) {
		struct group *group = &places->groups[i];

		if (group->deep && group->into == NO_GROUP &&
		    (group->children < ALIKE_BELOW || group->files < ALIKE))
			group->files = 0;
		group->children = 0;
	}
	return 0;
}

uint32_t place_groups_root(const struct places *places, uint32_t number)
{
	while (places->groups[number].into != NO_GROUP)
		number = places->groups[number].into;
	return number;
}

int place_groups_make(struct places *places)
{
	bool folded = true;
	int status = -ENOMEM;

	if (number_index_reserve(&places->seen, places, places->kept->file_count))
		status = group_files(places);
	if (!status)
		status = fold_singles(places);
	for (size_t level = 0; level < LEVELS_MOST && folded && !status; level++) {
		folded = false;
		status = fold_level(places, &folded);
	}
	return status;
}
