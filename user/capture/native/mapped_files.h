/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The files whose code processes have mapped, each open once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAPPED_PATH_BYTES 512	/* longer paths are cut */
#define MAPPED_MODULES_MAX 4096 /* of a process */

struct symbols;

struct mapped_file {
	unsigned int major, minor;
	uint64_t inode;
	int fd;			      /* -1: cannot be read */
	char path[MAPPED_PATH_BYTES]; /* as its first process saw it; hostile */
	uint32_t path_at, path_bytes; /* in the queue's text; 0: not there yet */
	uint32_t unnamed;	      /* frame of all code without a symbol; 0: not there yet */
	bool symbols_sought;
	struct symbols *symbols; /* NULL: none */
};

/* Consecutive mappings of a file, some with code. */
struct mapped_module {
	uint64_t start, end;
	struct mapped_file *file; /* NULL: the kernel's vDSO */
};

struct mapped_files;

struct mapped_files *mapped_files_make(void); /* NULL: out of memory */
/* Whether there is no room for the files of another process: then forget them all. */
bool mapped_files_are_full(const struct mapped_files *files);
void mapped_files_forget(struct mapped_files *files);

/* Finds what a process has mapped, and opens the files that are new. Returns the number of modules,
 * at most MAPPED_MODULES_MAX; 0: the process has ended, or may not be read. */
size_t mapped_files_of(struct mapped_files *files, uint32_t pid, struct mapped_module *modules);
