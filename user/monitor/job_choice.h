/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Jobs that are chosen by their labels. Knows nothing of what they are chosen for.
 */
#ifndef FAULTLINE_MONITOR_JOB_CHOICE_H
#define FAULTLINE_MONITOR_JOB_CHOICE_H

#include "monitor/ledger.h"

#define JOB_CHOICE_MOST 8

/* All zeroes chooses none. */
struct job_choice {
	struct job_chosen {
		const struct ledger_label *label;
		const char *pattern; /* as of fnmatch, whole; the caller's */
	} each[JOB_CHOICE_MOST];
	size_t count;
};

/* Adds those of "LABEL=PATTERN". Returns 0, or -EINVAL after a line that begins with `option`. */
int job_choice_add(const char *option, const char *text, struct job_choice *choice);

/* Whether a job is one of any of those. */
bool job_choice_has(const struct job_choice *choice, const struct ledger_job *job);

#endif
