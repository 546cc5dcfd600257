/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the sums of activities at a moment. */
#include "analysis/phases/progress.h"

struct progress progress_of(struct activities *activities, uint32_t group, uint64_t time_ns)
{
	const struct activity *of = activities->groups[group].of;
	const struct activity_sum io = activities_at(activities, group, time_ns, ACTIVITY_IO);

	return (struct progress) {
		.io_ns = io.time_ns,
		.hidden_ns = io.hidden_ns,
		.compute_ns = activities_at(activities, group, time_ns, ACTIVITY_COMPUTE).time_ns,
		.wait_ns = activities_at(activities, group, time_ns, ACTIVITY_DATA).time_ns,
		.read_bytes = of[ACTIVITY_CLASS + IO_READ].bytes,
		.read_fetched_bytes = of[ACTIVITY_CLASS + IO_READ].fetched_bytes,
		.mmap_fetched_bytes = of[ACTIVITY_CLASS + IO_MMAP_READ].fetched_bytes,
		.items = of[ACTIVITY_ITEM].count,
	};
}

struct progress progress_at(const struct job *job, uint32_t group, uint64_t time_ns)
{
	return progress_of(job->activities, group, time_ns);
}

struct progress progress_between(const struct progress *then, const struct progress *now)
{
	return (struct progress) {
		.io_ns = now->io_ns - then->io_ns,
		.hidden_ns = now->hidden_ns - then->hidden_ns,
		.compute_ns = now->compute_ns - then->compute_ns,
		.wait_ns = now->wait_ns - then->wait_ns,
		.read_bytes = now->read_bytes - then->read_bytes,
		.read_fetched_bytes = now->read_fetched_bytes - then->read_fetched_bytes,
		.mmap_fetched_bytes = now->mmap_fetched_bytes - then->mmap_fetched_bytes,
		.items = now->items - then->items,
	};
}
