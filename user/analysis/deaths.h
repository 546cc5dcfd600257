/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Processes that a signal killed, by signal: those that mean a crash, a full file system or a lack
 * of memory, not signals that ask a program to stop.
 */
#ifndef FAULTLINE_DEATHS_H
#define FAULTLINE_DEATHS_H

#include "analysis/measured.h"

struct death {
	const char *signal; /* "SIGBUS" */
	const char *hint;   /* where to look for the cause */
	uint64_t died, processes;
	uint64_t oom;	/* of those that died: that the OOM killer chose */
	uint32_t first; /* one of those that died, by number in the table of processes */
	/* The file of its last fault, if that fault failed; FILE_UNKNOWN: not known. */
	uint32_t file;
	int64_t offset;		 /* in the file; -1: not known */
	uint64_t capacity_bytes; /* of the file's tmpfs; 0: not known */
};

/* The `number`th signal that killed processes; false behind the last one. */
bool deaths_by_signal(const struct measured *measured, size_t number, struct death *death);

#endif
