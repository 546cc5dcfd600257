/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Progress of a rank (or the job) up to a moment, and between two moments, for epochs and steps. */
#pragma once

#include "analysis/phases/activity.h"

struct progress {
	uint64_t io_ns, hidden_ns;   /* unions: I/O, and its overlap with compute */
	uint64_t compute_ns;	     /* compute spans and GPU activity */
	uint64_t wait_ns;	     /* data spans outside workers */
	uint64_t read_bytes;	     /* by calls */
	uint64_t read_fetched_bytes; /* brought into the page cache by them */
	uint64_t mmap_fetched_bytes; /* ... by faults and map calls */
	uint64_t items;		     /* spans that each produce a dataset item */
};

/* Progress up to `time_ns`, which must not precede the group's last event. */
struct progress progress_of(struct activities *activities, uint32_t group, uint64_t time_ns);
/* ... of the job's activities, for a group from activities_group. */
struct progress progress_at(const struct job *job, uint32_t group, uint64_t time_ns);
/* `then` must be an earlier moment of the same group. */
struct progress progress_between(const struct progress *then, const struct progress *now);
