/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The target of an export: a file, optionally through gzip, a file that a library opens by name, or
 * a directory. A target that cannot be finished is removed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "command/common/output_file.h"
#include "output/base/sink.h"

struct gzFile_s;

enum export_kind {
	EXPORT_FILE,	  /* through `out`; "-" is the standard output */
	EXPORT_PATH,	  /* an empty file, named `file.made` */
	EXPORT_DIRECTORY, /* `directory` */
};

struct export_target {
	const char *name;
	enum export_kind kind;
	struct output_file file; /* fd is initially -1 */
	int directory;		 /* initially -1 */
	bool made_directory;
	bool compressed; /* EXPORT_FILE: through gzip, whatever its name */
	struct gzFile_s *gzip;
	struct sink out;
};

/* Returns 0, or an exit status after a line on stderr. */
int export_target_open(struct export_target *target, bool force);
/* Returns where the file of EXPORT_PATH is while it is being written. */
const char *export_target_path(const struct export_target *target);
/* Flushes the rest. Returns 0 or -errno. */
int export_target_finish(struct export_target *target);
/* Closes the target and gives it its name; or removes it unless *status is 0. May set *status. */
void export_target_close(struct export_target *target, int *status);

/* Returns whether a file is one of the traces, which must not be overwritten while they are
 * read. */
bool export_is_trace(const char *path, char *const *traces, size_t count);
