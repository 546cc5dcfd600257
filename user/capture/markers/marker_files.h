/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds files with markers, attaches to them, and remembers them. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "capture/usdt/uprobes.h"

#define MARKER_FILES_MAX 64 /* limit of attached files */

struct marker_files;

/* A file with markers. */
struct marker_file {
	uint32_t number;
	int status;	   /* 0: attached; else a negative errno */
	uint64_t since_ns; /* time of attaching */
	bool reported;	   /* free for the caller to use */
};

/* Returns NULL if out of memory. The caller owns `uprobes`. */
struct marker_files *marker_files_make(struct uprobes *uprobes);

/*
 * Opens a file that a process names or maps, with O_PATH only: follows only the links in /proc, and
 * rejects anything that is not a regular file without opening it for I/O. `path` is below /proc or
 * chosen by us. Returns a descriptor or a negative errno.
 */
int marker_files_open(const char *path);

/* Reopens such a descriptor for reading: the same file, whatever its name refers to now. Returns a
 * descriptor or a negative errno. */
int marker_files_reopen(int fd);

/* Whether the file is known, with markers (*file is set) or without (*file is NULL). */
bool marker_files_known(struct marker_files *files, int fd, struct marker_file **file);

/* Reads a file that may be new, and attaches to it. Returns NULL if it has no markers. */
struct marker_file *marker_files_attach(struct marker_files *files, int fd);

/* Checks several files at once, by O_PATH descriptors (at most NOTES_BATCH_MAX). Afterwards,
 * marker_files_known answers for those without markers. */
void marker_files_sift(struct marker_files *files, const int *fds, size_t count);

/* Returns the cost of reading a file, in bytes; 0: it is known. */
uint64_t marker_files_cost(struct marker_files *files, int fd);
