/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Processes killed by a signal, by signal: only signals that mean a crash, a full file system or
 * lack of memory, not signals that ask a program to stop.
 */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/shared/sites.h"
#include "base/strbuf.h"

struct death {
	const char *signal; /* "SIGBUS" */
	const char *hint;   /* where to look for the cause */
	const char *remedy; /* what to change; a sentence */
	uint64_t died, processes;
	uint64_t oom;	      /* killed by the OOM killer */
	uint64_t limit_bytes; /* of the cgroup of one of these; 0: unknown, or the machine's */
	uint32_t first; /* one of the killed, by number in the process table; if there is one, it is
			 * one whose line is known */
	/* File of its last fault, if that fault failed; FILE_UNKNOWN: unknown. */
	uint32_t file;
	int64_t offset;		 /* in the file; -1: unknown */
	uint64_t capacity_bytes; /* of the file's tmpfs; 0: unknown */
};

/* Writes the line at which the first of them died, as site_locate does. Returns the length; 0:
 * unknown. */
size_t death_locate(char text[LOCATION_BYTES], const struct job *job, const struct death *death);

/* Gets the `number`th signal that killed processes; false past the last one. */
bool deaths_by_signal(const struct results *results, size_t number, struct death *death);

/* Writes "2 of 5 processes died: SIGBUS, python3 at 3.0 MiB of /dev/shm/torch_0 (tmpfs); ...", or
 * nothing. */
void deaths_say(struct strbuf *text, const struct results *results);
