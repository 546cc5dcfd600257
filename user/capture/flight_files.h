/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files of a flight recorder: what the next one is called, and which old ones go. Knows nothing
 * of what is in them.
 */
#ifndef FAULTLINE_FLIGHT_FILES_H
#define FAULTLINE_FLIGHT_FILES_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* How much is kept: so many of them, and so many bytes. UINT64_MAX: any. */
struct flight_keep {
	uint64_t files, bytes;
};

/* Reads "5" (files) or a size with its unit, such as "2G". Returns 0, or -EINVAL after a line that
 * begins with `option`. */
int flight_keep_parse(const char *option, const char *text, struct flight_keep *keep);

struct flight_file {
	char *path;
	uint64_t bytes;
};

struct flight_files {
	const char *pattern; /* of tracefile_name; the file's number goes before its ending */
	pid_t pid;	     /* %p */
	struct flight_keep keep;
	struct flight_file *made; /* oldest first */
	size_t count, room;
	unsigned int last; /* number */
};

/* Where the ending of a name, or of a pattern of names, begins: a file's number goes before it. Of
 * one that has none, its end. */
const char *flight_files_ending(const char *name);

/* Makes the next file: the first number whose file is not there. Returns a descriptor, or a
 * negative errno after a line. The caller is who it will belong to. */
int flight_files_create(struct flight_files *files, char path[PATH_MAX]);
/* It has so many bytes: old ones go, as far as they are too many. A file that is larger than all
 * that may be kept is kept. */
void flight_files_made(struct flight_files *files, const char *path, uint64_t bytes);
void flight_files_free(struct flight_files *files);

#endif
