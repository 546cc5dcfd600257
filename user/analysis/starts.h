/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "starts": what it takes programs to start, by who starts them: the time from a
 * process's start to the last library or module that it loads before it reads data.
 */
#ifndef FAULTLINE_STARTS_H
#define FAULTLINE_STARTS_H

#include "analysis/measured.h"

/* Processes of one name that one process has started. */
struct starts_view {
	struct table_text program;
	uint64_t parent_pid;	   /* TABLE_NO_UINT: not known */
	uint64_t processes, files; /* files: opens of what they load, in all */
	uint64_t time_ns;	   /* with at least one of them starting */
	uint64_t thread_time_ns, longest_ns;
	bool needless; /* the process that starts them has itself loaded as many files as each */
};

/* The `number`th of them, those that took longest first; false behind the last one. */
bool starts_of(const struct measured *measured, size_t number, struct starts_view *view);

#endif
