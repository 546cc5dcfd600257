/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The causes of lost events, each with a remedy.
 */
#ifndef FAULTLINE_LOSS_H
#define FAULTLINE_LOSS_H

#include "analysis/model/job.h"

struct loss_cause {
	const char *name;   /* in lost.cause of the report */
	const char *why;    /* completes "events were lost: " */
	const char *remedy; /* in the imperative */
};

/* The cause of most of a job's losses; NULL: nothing was lost, or the traces do not tell why. */
const struct loss_cause *loss_cause_of(const struct job *job);
/* By its name, the first of several with commas between; NULL for none. */
const struct loss_cause *loss_cause_named(const char *name, size_t length);

#endif
