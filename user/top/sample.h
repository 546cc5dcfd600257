/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a node's jobs, processes and files have done up to a moment, as the monitoring service tells
 * it. Knows nothing of how often it is asked, nor of how it is shown.
 */
#ifndef FAULTLINE_TOP_SAMPLE_H
#define FAULTLINE_TOP_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "monitor/sums.h"

struct json_object;

/* What the job of a thing is, as the metrics label it; each may be NULL. */
enum top_label { TOP_CGROUP, TOP_CONTAINER, TOP_POD, TOP_SLURM_JOB, TOP_SLURM_STEP, TOP_LABELS };

enum top_subject { TOP_JOBS, TOP_PROCESSES, TOP_FILES, TOP_SUBJECTS };

/* "jobs", "processes", "files" */
extern const char *const top_subject_names[TOP_SUBJECTS];

struct top_thing {
	uint64_t key[3];  /* the same in each sample of one source, and nobody else's */
	const char *name; /* hostile bytes and all */
	const char *job;  /* whose it is; NULL: it is a job */
	const char *user; /* whose that is: several may have one control group; NULL: nobody's */
	const char *labels[TOP_LABELS];
	uint32_t pid; /* 0: no process */
	/* The oldest call or page fault that has not returned, of jobs and processes: how long it
	 * has been in flight (0: there is none), what it is, and on which file. */
	uint64_t waits_ns;
	const char *waits_in;
	struct ledger_sums sums;
};

struct top_things {
	struct top_thing *all; /* sorted by key */
	size_t count, room;
};

struct top_sample {
	uint64_t time_ns;	       /* CLOCK_MONOTONIC: all that was done before is in it */
	uint64_t readings;	       /* how often that was read; 0: not yet */
	uint64_t untold[TOP_SUBJECTS]; /* things that it has no room for */
	struct ledger_sums node;
	struct top_things of[TOP_SUBJECTS];
	struct json_object *document; /* what the names point into */
};

/*
 * From the JSON that the service gives at /jobs, which is read whole and trusted in nothing.
 * Returns 0, -EINVAL for what is none, or -ENOMEM.
 */
int top_sample_parse(struct top_sample *sample, const char *json, size_t length);
void top_sample_free(struct top_sample *sample); /* all zeros is fine; leaves them */
/* The thing of that key, or NULL. */
const struct top_thing *top_sample_find(const struct top_sample *sample, enum top_subject subject,
					const uint64_t key[3]);

#endif
