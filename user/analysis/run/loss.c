/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Causes of loss: noted while recording, or damage found when reading a trace.
 */
#include "analysis/run/loss.h"

#include <string.h>

static const struct {
	struct loss_cause cause;
	const char *note; /* from the recording; NULL: found when reading */
} causes[] = {
	{ { "buffers", "events arrived faster than Faultline read them",
	    "record with a larger --buffer, or with fewer --layers" },
	  TRACE_NOTE_LOST_FULL },
	{ { "stopped",
	    "Faultline was blocked for 1 s or more (stopped, without a CPU, or waiting for the "
	    "trace's disk)",
	    "do not stop Faultline while the job runs, leave it a CPU, and write the trace to a "
	    "fast disk" },
	  TRACE_NOTE_LOST_STOPPED },
	{ { "disk", "the trace could not be written",
	    "write the trace (-o) to a file system with more space" },
	  TRACE_NOTE_LOST_NO_ROOM },
	{ { "damage", "part of the trace is damaged", "copy the trace again from an intact copy" },
	  NULL },
};
#define CAUSES (sizeof(causes) / sizeof(causes[0]))

const struct loss_cause *loss_cause_of(const struct job *job)
{
	const struct loss_cause *worst = NULL;
	uint64_t most = 0;

	for (size_t i = 0; i < CAUSES; i++) {
		uint64_t lost =
			causes[i].note ? job_count_notes(job, causes[i].note) : job->damaged;

		if (lost <= most)
			continue;
		most = lost;
		worst = &causes[i].cause;
	}
	return worst;
}

const struct loss_cause *loss_cause_named(const char *name, size_t length)
{
	const char *end = memchr(name, ',', length);

	if (end)
		length = end - name;
	for (size_t i = 0; i < CAUSES; i++)
		if (strlen(causes[i].cause.name) == length &&
		    !memcmp(causes[i].cause.name, name, length))
			return &causes[i].cause;
	return NULL;
}
