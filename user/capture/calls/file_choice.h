/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Chooses the files to record by globs on their paths, and sums up the operations on all others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/calls/op_sums.h"

/* Matched by fnmatch against the whole path; * matches slashes, too. */
struct file_globs {
	const char *const *include, *const *exclude;
	size_t include_count, exclude_count;
};

enum { FILE_CHOICE_UNKNOWN, FILE_CHOICE_KEPT, FILE_CHOICE_LEFT };

#define FILE_CHOICE_FILES (1u << 26) /* remembered: those with the latest ids; a power of two */
#define FILE_CHOICE_ID_MASK 0x7fffffffu
#define FILE_CHOICE_THREADS 4096

/* The last call on a path of a thread that was left out. */
struct file_choice_left {
	uint64_t start_ns;
	uint32_t tid;
};

struct file_choice {
	struct file_globs globs;
	uint8_t *files; /* FILE_CHOICE_*, four in a byte, by id modulo FILE_CHOICE_FILES */
	size_t room;
	uint32_t latest; /* id: they count up, and start again after the mask */
	struct file_choice_left left[FILE_CHOICE_THREADS]; /* by tid; others may replace it */
	/* What was left out: */
	struct op_sums sums;
	uint64_t records[RECORD_KIND_COUNT];
	uint64_t operations; /* records and summed-up operations */
};

/* The globs must outlive the choice. */
void file_choice_init(struct file_choice *choice, const struct file_globs *globs,
		      unsigned int page_bytes);
void file_choice_free(struct file_choice *choice);

/* Whether all files are recorded. */
static inline bool file_globs_take_all(const struct file_globs *globs)
{
	return !globs->include_count && !globs->exclude_count;
}

/* Sets the path of an id from now on. If out of memory, the file is recorded. */
void file_choice_name(struct file_choice *choice, uint32_t id, const char *path);

/* Returns FILE_CHOICE_*. */
static inline int file_choice_of(const struct file_choice *choice, uint32_t id)
{
	const uint32_t age = (choice->latest - id) & FILE_CHOICE_ID_MASK;
	const uint32_t at = id % FILE_CHOICE_FILES;

	if (age >= FILE_CHOICE_FILES || at / 4 >= choice->room)
		return FILE_CHOICE_UNKNOWN;
	return choice->files[at / 4] >> at % 4 * 2 & 3;
}

static inline bool file_choice_knows(const struct file_choice *choice, uint32_t id)
{
	return file_choice_of(choice, id) != FILE_CHOICE_UNKNOWN;
}

/* Whether the file is not chosen. */
static inline bool file_choice_leaves(const struct file_choice *choice, uint32_t id)
{
	return file_choice_of(choice, id) == FILE_CHOICE_LEFT;
}

/* Return true, and count the operations, if the record, slot or sum is left out. Operations without
 * a file, or on files whose path is not known, are kept. */
bool file_choice_leaves_record(struct file_choice *choice, const struct event_header *record);
bool file_choice_leaves_slot(struct file_choice *choice, const struct lane_slot *slot);
bool file_choice_leaves_profile(struct file_choice *choice, const struct profile_slot *added);
