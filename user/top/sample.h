/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a node's jobs, processes and files have done up to a moment, as reported by the monitoring
 * service.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger/sums.h"
#include "trace/format/thread_states.h"

struct json_object;

/* Labels of the job, as in the metrics; each may be NULL. */
enum top_label {
	TOP_CGROUP,
	TOP_NAMESPACE,
	TOP_POD,
	TOP_POD_UID,
	TOP_CONTAINER,
	TOP_CONTAINER_ID,
	TOP_IMAGE,
	TOP_SLURM_JOB,
	TOP_SLURM_STEP,
	TOP_SLURM_NAME,
	TOP_SLURM_USER,
	TOP_LABELS
};

/* As in the metrics and in the JSON of jobs. */
extern const char *const top_label_names[TOP_LABELS];

enum top_subject { TOP_JOBS, TOP_PROCESSES, TOP_FILES, TOP_SUBJECTS };

/* "jobs", "processes", "files" */
extern const char *const top_subject_names[TOP_SUBJECTS];

struct top_thing {
	uint64_t key[3];  /* comes first; unique, and the same in each sample of one source */
	const char *name; /* arbitrary bytes */
	const char *job;  /* its job; NULL: it is a job */
	const char *user; /* the job's user, as several may share a cgroup; NULL: none */
	const char *labels[TOP_LABELS];
	uint32_t pid; /* 0: no process */
	/* For jobs and processes, the oldest call or page fault that has not returned: how long it
	 * has been in flight (0: none), what it is, and on which file. */
	uint64_t waits_ns;
	const char *waits_in;
	uint64_t thread_ns[THREAD_STATE_COUNT]; /* of its threads; all 0: unknown */
	/* By state, or SAMPLE_IO: the line of Python at which a process was longest since the
	 * previous sample, "loader.py:42 in load"; NULL: unknown. */
	struct top_line {
		const char *at;
		uint64_t time_ns;
	} lines[SAMPLE_IO + 1];
	struct ledger_sums sums;
};

struct top_things {
	struct top_thing *all; /* sorted by key */
	size_t count, room;
};

struct top_sample {
	uint64_t time_ns;		   /* CLOCK_MONOTONIC; everything done before is included */
	uint64_t readings;		   /* how often sums were read; 0: not yet */
	uint64_t unreported[TOP_SUBJECTS]; /* how many were omitted for lack of room */
	bool lines;			   /* of Python are recorded */
	struct ledger_sums node;
	struct top_things of[TOP_SUBJECTS];
	struct json_object *document; /* owns the names */
};

/*
 * Parses the JSON that the service serves at /jobs, trusting none of it. Returns 0, -EINVAL if
 * malformed, or -ENOMEM.
 */
int top_sample_parse(struct top_sample *sample, const char *json, size_t length);
void top_sample_free(struct top_sample *sample); /* all zeros is fine; leaves all zeros */
/* For qsort() and bsearch(): compares keys, or things by their keys. */
int top_compare_keys(const void *left, const void *right);
/* Returns the thing with that key, or NULL. */
const struct top_thing *top_sample_find(const struct top_sample *sample, enum top_subject subject,
					const uint64_t key[3]);
