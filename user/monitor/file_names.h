/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What numbers of files stand for, in bounded memory: those told of or used last. Knows nothing of
 * who uses them.
 */
#ifndef FAULTLINE_MONITOR_FILE_NAMES_H
#define FAULTLINE_MONITOR_FILE_NAMES_H

#include <stdint.h>

struct file_names;

struct file_name {
	uint32_t id; /* 0: the place is free */
	uint32_t dev, generation;
	uint32_t file_system; /* the caller's own number */
	uint64_t ino;
	char *path; /* with a NUL */
};

/* Remembers at least `least` of them, at most twice as many. NULL without memory. */
struct file_names *file_names_open(unsigned int least);
void file_names_close(struct file_names *names); /* NULL is fine */

/* Copies it, but for `path`, which is taken over, to be freed. Without memory it is forgotten. */
void file_names_set(struct file_names *names, const struct file_name *name);
/* NULL: not known, or no more. Valid until the next is set or looked for. */
const struct file_name *file_names_find(struct file_names *names, uint32_t id);

#endif
