/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What an export is written into: a file, maybe through gzip, a file that a library opens by its
 * name, or a directory. What was made goes away if it cannot be finished.
 */
#ifndef FAULTLINE_EXPORT_TARGET_H
#define FAULTLINE_EXPORT_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "command/output_file.h"
#include "output/sink.h"

struct gzFile_s;

enum export_kind {
	EXPORT_FILE,	  /* through `out`; "-" is the standard output */
	EXPORT_PATH,	  /* an empty file, by `file.made` */
	EXPORT_DIRECTORY, /* `directory` */
};

struct export_target {
	const char *name;
	enum export_kind kind;
	struct output_file file; /* fd -1 at first */
	int directory;		 /* -1 at first */
	bool made_directory;
	struct gzFile_s *gzip;
	struct sink out;
};

/* Returns 0, or an exit status after a line on stderr. */
int export_target_open(struct export_target *target, bool force);
/* Where the file of EXPORT_PATH is while it is made. */
const char *export_target_path(const struct export_target *target);
/* Writes out what is left. Returns 0 or -errno. */
int export_target_finish(struct export_target *target);
/* Closes it and gives it its name; or removes what was made, unless *status is 0, which it may set.
 */
void export_target_close(struct export_target *target, int *status);

/* A trace must not be written over while it is read: whether a file is one of them. */
bool export_is_trace(const char *path, char *const *traces, size_t count);

#endif
