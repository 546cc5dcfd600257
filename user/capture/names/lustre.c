/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads layouts as struct lov_user_md_v1, lov_user_md_v3 and lov_comp_md_v1 of lustre_user.h. */
#include "capture/names/lustre.h"

#include <linux/limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#define ATTRIBUTE "lustre.lov"

enum { MAGIC_V1 = 0x0bd10bd0, MAGIC_V3 = 0x0bd30bd0, MAGIC_COMPOSITE = 0x0bd60bd0 };

/* Offsets of fields, and sizes. */
enum { V1_PATTERN = 4, V1_STRIPE_BYTES = 24, V1_STRIPES = 28, V1_BYTES = 32, V3_BYTES = 48 };
enum { COMPOSITE_ENTRIES = 14, COMPOSITE_BYTES = 32 };
enum { ENTRY_FLAGS = 4, ENTRY_OFFSET = 24, ENTRY_SIZE = 28, ENTRY_BYTES = 48 };

#define ENTRY_HAS_STORAGE 0x10u	 /* LCME_FL_INIT */
#define PATTERN_ON_SERVER 0x100u /* LOV_PATTERN_MDT: the data is with the metadata */
#define STRIPES_MAX 2000	 /* LOV_MAX_STRIPE_COUNT; more mean "all", in defaults */

static uint32_t number_at(const uint8_t *at, size_t bytes)
{
	uint32_t number = 0;

	while (bytes--)
		number = number << 8 | at[bytes];
	return number;
}

/* Reads a layout that is not composed; keeps the stripes if they are more. */
static void take_plain(const uint8_t *at, size_t bytes, struct lustre_stripes *stripes)
{
	uint32_t magic = bytes >= V1_BYTES ? number_at(at, 4) : 0, count, size;

	if (magic != MAGIC_V1 && (magic != MAGIC_V3 || bytes < V3_BYTES))
		return;
	count = number_at(at + V1_STRIPES, 2);
	size = number_at(at + V1_STRIPE_BYTES, 4);
	if (number_at(at + V1_PATTERN, 4) & PATTERN_ON_SERVER || count > STRIPES_MAX || !size)
		return;
	if (count > stripes->count)
		*stripes = (struct lustre_stripes) { count, size };
}

bool lustre_parse(const void *value, size_t bytes, struct lustre_stripes *stripes)
{
	const uint8_t *at = value, *entry = at + COMPOSITE_BYTES;
	uint32_t entries;

	*stripes = (struct lustre_stripes) { 0 };
	if (bytes < COMPOSITE_BYTES || number_at(at, 4) != MAGIC_COMPOSITE) {
		take_plain(at, bytes, stripes);
		return stripes->count;
	}
	entries = number_at(at + COMPOSITE_ENTRIES, 2);
	if (entries > (bytes - COMPOSITE_BYTES) / ENTRY_BYTES)
		return false;
	for (; entries; entries--, entry += ENTRY_BYTES) {
		size_t from = number_at(entry + ENTRY_OFFSET, 4);
		size_t size = number_at(entry + ENTRY_SIZE, 4);

		if (number_at(entry + ENTRY_FLAGS, 4) & ENTRY_HAS_STORAGE && from <= bytes &&
		    size <= bytes - from)
			take_plain(at + from, size, stripes);
	}
	return stripes->count;
}

bool lustre_read(const char *path, uint32_t dev, uint64_t ino, struct lustre_stripes *stripes)
{
	uint8_t value[XATTR_SIZE_MAX];
	struct stat status;
	ssize_t bytes;

	if (lstat(path, &status) || status.st_ino != ino ||
	    (major(status.st_dev) << 20 | minor(status.st_dev)) != dev)
		return false;
	bytes = lgetxattr(path, ATTRIBUTE, value, sizeof(value));
	return bytes > 0 && lustre_parse(value, bytes, stripes);
}
