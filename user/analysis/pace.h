/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How much of its time a rank computes once it is in step: accelerator utilization as DLIO has it.
 * Told in passing, after the activities. Knows nothing of what stands for an epoch.
 *
 * What counts is from the end of one span of compute to the end of the next. So the first step of
 * an epoch is left out, with the wait for workers that start, and so is what comes after the last.
 * A checkpoint that the job waits for, and an evaluation, are no part of training: after them it is
 * a first step again. (DLIO: statscounter.py, compute_metrics_train, with
 * metric_exclude_start_steps at its default of 1.)
 */
#ifndef FAULTLINE_PACE_H
#define FAULTLINE_PACE_H

#include "analysis/activity.h"

/* Up to now; between two moments what went on is the difference. */
struct pace {
	uint64_t time_ns, compute_ns;
};

struct paces {
	struct pace_group {
		struct pace sum;
		uint64_t ended_ns, compute_ns; /* of the last span of compute, and up to there */
		bool in_step;		       /* there was one */
		uint64_t evaluations;	       /* that are open */
	} * groups;
	size_t room;
};

/* Functions that return int: 0 or -ENOMEM. */
void paces_free(struct paces *paces);
/* The next span of compute of the group (activities_group) is its first. */
int paces_begin(struct paces *paces, uint32_t group);
/* A span begins, ends. */
int paces_span_begun(struct paces *paces, const struct job *job, uint32_t slot);
int paces_span_ended(struct paces *paces, const struct job *job, uint32_t slot);
/* Of a group. */
struct pace paces_of(const struct paces *paces, uint32_t group);

#endif
