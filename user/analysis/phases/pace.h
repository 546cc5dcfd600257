/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Share of training time that a rank computes: accelerator utilization as DLIO defines it. Must be
 * updated during the walk, after the activities.
 *
 * Time counts from the end of one compute span to the end of the next. This leaves out the first
 * step of an epoch, with the wait for starting workers, and everything after the last step. A
 * checkpoint that the job waits for and an evaluation are not part of training: after them, the
 * next step counts as a first step again. (DLIO: statscounter.py, compute_metrics_train, with
 * metric_exclude_start_steps at its default of 1.)
 */
#pragma once

#include "analysis/phases/activity.h"

/* Running sums; subtract two of them for the time between. */
struct pace {
	uint64_t time_ns, compute_ns;
};

#define PACE_CUTS 3 /* ways to cut a run into epochs; their first steps differ */

/* All zeros initially but for the arena. */
struct paces {
	struct arena *arena;
	struct pace_group {
		uint64_t ended_ns,
			compute_ns;   /* end of the last compute span; compute time until then */
		uint64_t evaluations; /* open ones */
		struct pace_cut {
			struct pace sum;
			bool in_step; /* there was a compute span */
		} cuts[PACE_CUTS];
	} * groups;
	size_t room;
};

/* Functions that return int return 0 or -ENOMEM. */
/* Makes the next compute span of the group (activities_group) its first, for one cut. */
int paces_begin(struct paces *paces, unsigned int cut, uint32_t group);
/* A span begins, or has ended. */
int paces_span_begun(struct paces *paces, const struct job *job, uint32_t slot);
int paces_span_ended(struct paces *paces, const struct job *job, uint32_t slot);
/* Sums of a group, for one cut. */
struct pace paces_of(const struct paces *paces, unsigned int cut, uint32_t group);
