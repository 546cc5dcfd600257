/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of which one does not ask where they are, and what was done with any, for the table
 * "places".
 */
#ifndef FAULTLINE_PLACE_KINDS_H
#define FAULTLINE_PLACE_KINDS_H

#include "analysis/files.h"

enum place_kind { PLACE_OF_KERNEL, PLACE_PATHLESS, PLACE_LOST, PLACE_PROGRAMS, PLACE_KINDS };
extern const char *const place_kind_names[PLACE_KINDS];

/* By its path, and whether it is loaded to run; PLACE_KINDS for all others. */
enum place_kind place_kind_of(struct table_text path, bool loaded);
enum place_kind place_kind_of_file(const struct file_view *file);

/* What files are alike by: ".jpg"; nothing for a number, or for what is too long to be one. */
struct table_text place_extension(struct table_text path);

struct place_sums {
	uint64_t files, time_ns, operations, read_bytes, write_bytes, fetched_bytes, created_bytes;
};

struct place_sums place_sums_of(const struct file_view *file);
void place_sums_add(struct place_sums *to, const struct place_sums *from);

#endif
