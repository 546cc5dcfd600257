/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The files that carry markers: found, attached to, remembered.
 */
#ifndef FAULTLINE_MARKER_FILES_H
#define FAULTLINE_MARKER_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "capture/uprobes.h"

#define MARKER_FILES_MAX 64 /* that are attached to */

struct marker_files;

/* One that carries markers. */
struct marker_file {
	uint32_t number;
	int status;	   /* 0: attached; else a negative errno */
	uint64_t since_ns; /* attached to from here on */
	bool told;	   /* free for the caller to use */
};

/* Returns NULL for want of memory. `uprobes` stays the caller's. */
struct marker_files *marker_files_make(struct uprobes *uprobes);

/*
 * Opens a file that a process names or maps, as a path and nothing more: no name is followed but
 * what the kernel holds, and what is no regular file is not touched. `path` is one below /proc, or
 * one that we chose. Returns a descriptor or a negative errno.
 */
int marker_files_open(const char *path);

/* Whether the file is known, with markers (*file is set) or without (*file is NULL). */
bool marker_files_known(struct marker_files *files, int fd, struct marker_file **file);

/* Looks into one that may be new, and attaches to it. Returns NULL where it has no markers. */
struct marker_file *marker_files_attach(struct marker_files *files, int fd);

/* Looks at several at once, whose descriptors are open as paths (at most NOTES_BATCH_MAX): those
 * that are known to have no markers afterwards need not be looked into one by one. */
void marker_files_sift(struct marker_files *files, const int *fds, size_t count);

/* What looking into one will cost, in bytes: 0 for one that is known. */
uint64_t marker_files_cost(struct marker_files *files, int fd);

#endif
