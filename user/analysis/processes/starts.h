/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "starts": program startup by parent process: the time from a process's start to the last
 * library or module that it loads before it reads data.
 */
#pragma once

#include "analysis/shared/results.h"

#define STARTS_AGAIN 3 /* of a program by one process, at least, for it to be started again */

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

/* Adds up the groups with the same parent and at least STARTS_AGAIN processes, as if all ran the
 * program of the `number`th group; returns how many other programs there are; UINT64_MAX if a
 * longer group has the same parent, and includes this one. */
uint64_t starts_of_parent(const struct results *results, size_t number, struct starts_view *view);

/* Gets the `number`th group, longest time first; false past the last one. */
bool starts_of(const struct results *results, size_t number, struct starts_view *view);
