/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of a flight recorder: names the next one and deletes old ones, those of earlier runs
 * included.
 */
#pragma once

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/format/header.h"

/* How much to keep: number of files and total size. UINT64_MAX: no limit. */
struct flight_keep {
	uint64_t files, bytes;
};

/* Parses "5" (files) or a size with a unit, e.g. "2G". Returns 0, or -EINVAL after logging an error
 * that starts with `option`. */
int flight_keep_parse(const char *option, const char *text, struct flight_keep *keep);

struct flight_file {
	char *path;
	uint64_t bytes;
	uint64_t changed_ns; /* of those found */
};

struct flight_files {
	const char *pattern; /* for tracefile_name; the file's number goes before the extension */
	pid_t pid;	     /* value of %p */
	struct flight_keep keep;
	struct flight_file *made; /* oldest first */
	size_t count, room;
	unsigned int last; /* last number used */
};

/*
 * Finds traces that an earlier run left: their names match the pattern, and their headers have the
 * same host, command and targets. Ignores other files. Deletes traces beyond the limits. Call
 * before any file is created, as the owner of the files.
 */
void flight_files_find(struct flight_files *files, const struct trace_header *like);
/* Creates the next file, with the first unused number. Returns a descriptor, or a negative errno,
 * logged. The caller must run as the file's owner. */
int flight_files_create(struct flight_files *files, char path[PATH_MAX]);
/* Adds a file of `bytes` bytes, and deletes the oldest files beyond the limits. Never deletes the
 * newest, even if it exceeds the size limit by itself. */
void flight_files_made(struct flight_files *files, const char *path, uint64_t bytes);
void flight_files_free(struct flight_files *files);
