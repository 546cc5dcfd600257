/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Classifies files by path. */
#include "analysis/files/path_kinds.h"

#include <string.h>

#include "analysis/events/path.h"
#include "trace/format/flags.h"

#define EXTENSION_MAX 8 /* bytes, including the dot */

const char *const path_kind_names[PATH_KINDS] = {
	[PATH_OF_KERNEL] = "/proc and /sys",
	[PATH_REST] = "operations not broken down by file",
	[PATH_PATHLESS] = "sockets, pipes and pathless files",
	[PATH_LOST] = FILES_LOST,
	[PATH_PROGRAMS] = "programs, libraries and modules",
};

struct table_text path_extension(struct table_text path)
{
	size_t base = path_base(path.bytes, path.length), at = path.length;

	while (at > base + 1 && path.bytes[at - 1] != '.')
		at--;
	if (at <= base + 1 || path.length - at + 1 > EXTENSION_MAX ||
	    strspn(path.bytes + at, "0123456789") >= path.length - at)
		return (struct table_text) { "", 0 };
	return (struct table_text) { path.bytes + at - 1, path.length - at + 1 };
}

enum path_kind path_kind_of(struct table_text path, bool loaded)
{
	if (path.bytes && path_begins(path.bytes, path.length, TRACE_OTHER_FILES))
		return PATH_REST;
	if (!path.bytes || path.bytes[0] != '/')
		return PATH_PATHLESS;
	if (path_begins(path.bytes, path.length, "/proc/") ||
	    path_begins(path.bytes, path.length, "/sys/"))
		return PATH_OF_KERNEL;
	return loaded ? PATH_PROGRAMS : PATH_KINDS;
}

enum path_kind path_kind_of_file(const struct file_view *file)
{
	return file->lost ? PATH_LOST : path_kind_of(file->path, file->loaded);
}

struct path_sums path_sums_of(const struct file_view *file)
{
	const struct tally *tallies = file->tallies;
	struct path_sums sums = {
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

void path_sums_add(struct path_sums *to, const struct path_sums *from)
{
	to->files += from->files;
	to->time_ns += from->time_ns;
	to->operations += from->operations;
	to->read_bytes += from->read_bytes;
	to->write_bytes += from->write_bytes;
	to->fetched_bytes += from->fetched_bytes;
	to->created_bytes += from->created_bytes;
}
