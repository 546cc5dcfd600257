/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How Lustre distributes a file over its storage targets. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The part of the file with the most stripes, among those that have storage. */
struct lustre_stripes {
	uint32_t count; /* 1 or more */
	uint32_t bytes; /* size of a stripe, not 0 */
};

/* Reads the value of a file's extended attribute lustre.lov: a layout of version 1 or 3, or one
 * composed of such. The bytes may be damaged. Returns false if it has no stripes or another form.
 */
bool lustre_parse(const void *value, size_t bytes, struct lustre_stripes *stripes);

/* Reads the attribute of a file; `dev` is major << 20 | minor. Returns false if the path is that of
 * another file by now, or if it has no such layout. */
bool lustre_read(const char *path, uint32_t dev, uint64_t ino, struct lustre_stripes *stripes);
