/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the table "paths" is made of: for paths.c and path_groups.c alone.
 */
#ifndef FAULTLINE_PATHS_STATE_H
#define FAULTLINE_PATHS_STATE_H

#include "analysis/base/map.h"
#include "analysis/base/number_index.h"
#include "analysis/path_kinds.h"
#include "analysis/paths.h"
#include "analysis/rollup.h"
#include "arena.h"

#define ALIKE 10 /* files that are told as one */
#define NO_GROUP UINT32_MAX

/* Files of one extension in one directory, or below it. */
struct group {
	struct table_text directory, extension;
	bool deep;
	uint32_t row;	   /* once it is one */
	uint32_t into;	   /* the group that it is part of, or NO_GROUP */
	uint32_t children; /* groups that would fold into it */
	uint64_t files;	   /* different paths */
	struct path_sums sums;
};

struct path_row {
	struct table_text path;
	uint32_t number; /* before they are sorted */
	struct path_sums sums;
};

/* A directory in which calls looked names up. */
struct looked {
	struct table_text path;
	struct path_sums sums;
	enum path_kind special;
	uint32_t group, number; /* number: among the directories */
};

/* Where what was done to a file, or in a directory that was looked in, went: to a kind of files, to
 * a row of its own, to a group. There may be a million. */
enum { TO_NONE, TO_SPECIAL, TO_PATH, TO_GROUP, TO_KINDS };
#define TARGET(to, number) ((number)*TO_KINDS + (to))

/* What is kept for pictures. */
struct kept {
	struct rollup directories;
	uint32_t *files, *looked; /* groups, then targets, in the end rows of the table from 1 */
	uint64_t *file_ends_ns, *looked_ends_ns; /* where their time ends, of files by use */
	size_t file_count, looked_count;
};

struct paths {
	const struct measured *measured;
	struct kept *kept;
	struct looked *looked;
	size_t looked_count;
	struct group *groups;
	size_t group_count, group_room;
	struct map numbers;	  /* hash of directory, extension and depth -> group */
	struct number_index seen; /* files, and behind them what is looked in, by their paths */
	struct map by_hash;	  /* hash of a path that stands alone -> row */
	struct path_sums special[PATH_KINDS];
	uint32_t special_rows[PATH_KINDS];
	struct path_row *all;
	size_t count, room;
	struct arena arena;
};

/* Puts files, and directories that were looked in, into groups, and those of sister directories
 * into one. Returns 0 or -ENOMEM. */
int path_groups_make(struct paths *paths);
/* The group that one is part of in the end; itself if it is of none. */
uint32_t path_groups_root(const struct paths *paths, uint32_t number);
/* For paths.seen. */
uint64_t path_groups_hash(const void *paths, uint32_t number, uint64_t seed);

#endif
