/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "starts": program startup by parent process: the time from a process's start to the last
 * library or module that it loads before it reads data.
 */
#ifndef FAULTLINE_STARTS_H
#define FAULTLINE_STARTS_H

#include "analysis/shared/results.h"

/* Processes with the same name and parent. */
struct starts_view {
	struct table_text program;
	uint64_t parent_pid;	   /* TABLE_NO_UINT: unknown */
	uint64_t processes, files; /* files: opens of loaded files, total */
	uint64_t modules;	   /* the part that is Python modules */
	uint64_t time_ns;	   /* with at least one process starting */
	uint64_t first_ns;	   /* the same up to the first end of one of them */
	uint64_t thread_time_ns, longest_ns;
	bool needless; /* the parent has itself loaded about as many files as each child */
};

/* Gets the `number`th group, longest time first; false past the last one. */
bool starts_of(const struct results *results, size_t number, struct starts_view *view);

#endif
