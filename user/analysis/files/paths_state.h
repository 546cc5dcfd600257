/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* State of the table "paths", shared only by paths.c and path_groups.c. */
#pragma once

#include "collections/map.h"
#include "collections/number_index.h"
#include "analysis/files/path_kinds.h"
#include "analysis/files/paths.h"
#include "analysis/shared/rollup.h"
#include "collections/arena.h"

#define ALIKE 10 /* minimum number of files in a group */
#define NO_GROUP UINT32_MAX

/* Files with the same extension in one directory, or below it. */
struct group {
	struct table_text directory, extension;
	bool deep;
	uint32_t row;	   /* once it has one */
	uint32_t into;	   /* the group it is folded into, or NO_GROUP */
	uint32_t children; /* groups that would fold into it */
	uint64_t files;	   /* distinct paths */
	struct path_sums sums;
};

struct path_row {
	struct table_text path;
	uint32_t number; /* before sorting */
	struct path_sums sums;
};

/* A directory in which calls looked up names. */
struct looked {
	struct table_text path;
	struct path_sums sums;
	enum path_kind special;
	uint32_t group, number; /* number: among the directories */
};

/* Where the activity on a file, or in a searched directory, is added: to a kind of files, a row of
 * its own, or a group. There may be a million targets. */
enum { TO_NONE, TO_SPECIAL, TO_PATH, TO_GROUP, TO_KINDS };
#define TARGET(to, number) ((number)*TO_KINDS + (to))

/* State kept for plots. */
struct kept {
	struct arena *arena;
	struct rollup directories;
	uint32_t *files, *looked;		 /* groups, then targets, finally table rows + 1 */
	uint64_t *file_ends_ns, *looked_ends_ns; /* where their time ends, for files by use */
	size_t file_count, looked_count;
};

struct paths {
	const struct results *results;
	struct kept *kept;
	struct looked *looked;
	size_t looked_count;
	struct group *groups;
	size_t group_count, group_room;
	struct map numbers;	  /* hash of directory, extension and depth -> group */
	struct number_index seen; /* files, followed by searched directories, by path */
	struct map by_hash;	  /* path hash -> row, for paths with their own row */
	struct path_sums special[PATH_KINDS];
	uint32_t special_rows[PATH_KINDS];
	struct path_row *all;
	size_t count, room;
	struct arena arena;
};

/* Groups files and searched directories, and folds the groups of sister directories. Errors are
 * left in the arena. */
void path_groups_make(struct paths *paths);
/* Returns the group that a group is finally folded into; itself if it is not folded. */
uint32_t path_groups_root(const struct paths *paths, uint32_t number);
/* For paths.seen. */
uint64_t path_groups_hash(const void *paths, uint32_t number, uint64_t seed);
