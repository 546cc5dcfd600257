/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Kinds of files whose individual paths are not of interest, and sums over files, for the table
 * "paths".
 */
#pragma once

#include "analysis/files/files.h"

/* PATH_REST: files without a slot of their own in mode profile, which are not counted. */
enum path_kind { PATH_OF_KERNEL, PATH_PATHLESS, PATH_REST, PATH_LOST, PATH_PROGRAMS, PATH_KINDS };
extern const char *const path_kind_names[PATH_KINDS];

/* By path, and by whether the file is loaded to run; PATH_KINDS for all others. */
enum path_kind path_kind_of(struct table_text path, bool loaded);
enum path_kind path_kind_of_file(const struct file_view *file);

/* Returns the extension that makes files similar, e.g. ".jpg"; empty for a number, or if it is too
 * long to be an extension. */
struct table_text path_extension(struct table_text path);

struct path_sums {
	uint64_t files, time_ns, operations, read_bytes, write_bytes, fetched_bytes, created_bytes;
};

struct path_sums path_sums_of(const struct file_view *file);
void path_sums_add(struct path_sums *to, const struct path_sums *from);
