/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Causes of lost events, each with a remedy.
 */
#ifndef FAULTLINE_LOSS_H
#define FAULTLINE_LOSS_H

#include "analysis/job/job.h"

struct loss_cause {
	const char *name;   /* lost.cause in the report */
	const char *why;    /* completes "events were lost: " */
	const char *remedy; /* in the imperative */
};

/* Returns the main cause of a job's losses; NULL: nothing was lost, or the cause is unknown. */
const struct loss_cause *loss_cause_of(const struct job *job);
/* Finds a cause by name, the first of a comma-separated list; NULL if there is none. */
const struct loss_cause *loss_cause_named(const char *name, size_t length);

#endif
