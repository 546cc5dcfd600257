/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a file is by its path. Knows nothing of what stands beside it.
 */
#include "analysis/place_kinds.h"

#include <string.h>

#include "analysis/model/path.h"

#define EXTENSION_MOST 8 /* bytes, its dot included */

const char *const place_kind_names[PLACE_KINDS] = {
	[PLACE_OF_KERNEL] = "/proc and /sys",
	[PLACE_PATHLESS] = "sockets, pipes and what has no path",
	[PLACE_LOST] = FILES_LOST,
	[PLACE_PROGRAMS] = "programs, libraries and modules",
};

struct table_text place_extension(struct table_text path)
{
	size_t base = path_base(path.bytes, path.length), at = path.length;

	while (at > base + 1 && path.bytes[at - 1] != '.')
		at--;
	if (at <= base + 1 || path.length - at + 1 > EXTENSION_MOST ||
	    strspn(path.bytes + at, "0123456789") >= path.length - at)
		return (struct table_text) { "", 0 };
	return (struct table_text) { path.bytes + at - 1, path.length - at + 1 };
}

enum place_kind place_kind_of(struct table_text path, bool loaded)
{
	if (!path.bytes || path.bytes[0] != '/')
		return PLACE_PATHLESS;
	if (path_begins(path.bytes, path.length, "/proc/") ||
	    path_begins(path.bytes, path.length, "/sys/"))
		return PLACE_OF_KERNEL;
	return loaded ? PLACE_PROGRAMS : PLACE_KINDS;
}

enum place_kind place_kind_of_file(const struct file_view *file)
{
	return file->lost ? PLACE_LOST : place_kind_of(file->path, file->loaded);
}

struct place_sums place_sums_of(const struct file_view *file)
{
	const struct tally *tallies = file->tallies;
	struct place_sums sums = {
		.files = 1,
		.read_bytes = tallies[USE_READ].bytes,
		.write_bytes = tallies[USE_WRITE].bytes + tallies[USE_MMAP].dirtied_bytes,
		.fetched_bytes = file->unattributed.fetched_bytes,
		.created_bytes = file->unattributed.created_bytes,
	};

	for (size_t i = 0; i < USES; i++) {
		sums.time_ns += tallies[i].time.measure;
		sums.operations += tallies[i].count;
		sums.fetched_bytes += tallies[i].fetched_bytes;
		sums.created_bytes += tallies[i].created_bytes;
	}
	return sums;
}

void place_sums_add(struct place_sums *to, const struct place_sums *from)
{
	to->files += from->files;
	to->time_ns += from->time_ns;
	to->operations += from->operations;
	to->read_bytes += from->read_bytes;
	to->write_bytes += from->write_bytes;
	to->fetched_bytes += from->fetched_bytes;
	to->created_bytes += from->created_bytes;
}
