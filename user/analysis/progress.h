/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a rank (or the job) had done up to a moment, and between two: what epochs and steps are told
 * of. Knows nothing of what either is.
 */
#ifndef FAULTLINE_PROGRESS_H
#define FAULTLINE_PROGRESS_H

#include "analysis/activity.h"

struct progress {
	uint64_t io_ns, hidden_ns;   /* unions: I/O, and its part beside compute */
	uint64_t compute_ns;	     /* spans of category compute, and what a GPU did */
	uint64_t wait_ns;	     /* spans of category data outside of workers */
	uint64_t read_bytes;	     /* by calls */
	uint64_t read_fetched_bytes; /* brought into the page cache for them */
	uint64_t mmap_fetched_bytes; /* ... by faults, and map calls */
	uint64_t items;		     /* spans that make an item of a dataset */
};

/* Up to a moment of these activities, not before what was last told of the group. */
struct progress progress_of(struct activities *activities, uint32_t group, uint64_t time_ns);
/* ... of the job's, not before what was last told of the group (activities_group). */
struct progress progress_at(const struct job *job, uint32_t group, uint64_t time_ns);
/* From one moment of the same group to a later one. */
struct progress progress_between(const struct progress *then, const struct progress *now);

#endif
