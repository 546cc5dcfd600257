/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which files a recording keeps, by globs on their paths, and what the operations on the others
 * came to. Knows nothing of rows.
 */
#ifndef FAULTLINE_FILE_CHOICE_H
#define FAULTLINE_FILE_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/op_sums.h"

/* As of fnmatch on the whole path, where * stands for slashes, too. */
struct file_globs {
	const char *const *include, *const *exclude;
	size_t include_count, exclude_count;
};

enum { FILE_CHOICE_UNKNOWN, FILE_CHOICE_KEPT, FILE_CHOICE_LEFT };

struct file_choice {
	struct file_globs globs;
	uint8_t *files; /* by id: FILE_CHOICE_*, 0: not named yet */
	size_t room;
	/* Of what was left out: */
	struct op_sums sums;
	uint64_t records[RECORD_KIND_COUNT];
	uint64_t operations; /* records, and what was summed up */
};

/* The globs must outlive it. */
void file_choice_init(struct file_choice *choice, const struct file_globs *globs,
		      unsigned int page_bytes);
void file_choice_free(struct file_choice *choice);

/* Whether nothing is ever left out. */
static inline bool file_globs_take_all(const struct file_globs *globs)
{
	return !globs->include_count && !globs->exclude_count;
}

/* What an id stands for from now on. For want of memory it is kept. */
void file_choice_name(struct file_choice *choice, uint32_t id, const char *path);

static inline bool file_choice_knows(const struct file_choice *choice, uint32_t id)
{
	return id < choice->room && choice->files[id] != FILE_CHOICE_UNKNOWN;
}

/* These return whether a record, or what was summed up, is left out, and count it then. What is on
 * no file, or on one whose name is not known, is kept. */
bool file_choice_leaves_record(struct file_choice *choice, const struct event_header *record);
bool file_choice_leaves_slot(struct file_choice *choice, const struct lane_slot *slot);
bool file_choice_leaves_profile(struct file_choice *choice, const struct profile_slot *added);

#endif
