/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Selects jobs by their labels. */
#pragma once

#include "monitor/ledger/ledger.h"

#define JOB_CHOICE_MAX 8

/* All zeros selects none. */
struct job_choice {
	struct job_chosen {
		const struct ledger_label *label;
		const char *pattern; /* fnmatch pattern for the whole value; the caller's */
	} each[JOB_CHOICE_MAX];
	size_t count;
};

/* Adds the jobs of "LABEL=PATTERN". Returns 0, or -EINVAL after logging an error that begins with
 * `option`. */
int job_choice_add(const char *option, const char *text, struct job_choice *choice);

/* Returns whether a job matches any of them. */
bool job_choice_has(const struct job_choice *choice, const struct ledger_job *job);
