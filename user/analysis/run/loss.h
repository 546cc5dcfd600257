/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Causes of lost events, each with a remedy, and whether all events are accounted for. */
#pragma once

#include "analysis/job/job.h"
#include "base/strbuf.h"

struct loss_cause {
	const char *name;   /* lost.cause in the report */
	const char *why;    /* completes "events were lost: " */
	const char *remedy; /* in the imperative */
};

/* Returns the main cause of a job's losses; NULL: nothing was lost, or the cause is unknown. */
const struct loss_cause *loss_cause_of(const struct job *job);
/* Finds a cause by name, the first of a comma-separated list; NULL if there is none. */
const struct loss_cause *loss_cause_named(const char *name, size_t length);
/* Writes how many events were lost, of which kinds, why, and how to avoid it, or nothing. */
void loss_say(struct strbuf *text, const struct job *job);

/* Returns the number of events that the kernel counted but that are neither in the trace nor lost,
 * or that are in the trace uncounted. Nonzero for complete traces means a bug. */
uint64_t loss_unaccounted(const struct job *job);
