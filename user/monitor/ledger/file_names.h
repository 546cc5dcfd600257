/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Maps file ids to names in bounded memory, keeping those set or used most recently. */
#pragma once

#include <stdint.h>

struct file_names;

struct file_name {
	uint32_t id; /* 0: the slot is free */
	uint32_t dev, generation, instance;
	uint32_t file_system; /* assigned by the caller */
	uint64_t ino;
	char *path; /* NUL-terminated */
};

/* Keeps at least `min` names, at most twice as many. Returns NULL if out of memory. */
struct file_names *file_names_open(unsigned int min);
void file_names_close(struct file_names *names); /* NULL is fine */

/* Copies `name` and takes over its `path`, which is freed later. A name whose path is NULL (out of
 * memory) is dropped. */
void file_names_set(struct file_names *names, const struct file_name *name);
/* Returns NULL if unknown or forgotten. Valid until the next set or find. */
const struct file_name *file_names_find(struct file_names *names, uint32_t id);
