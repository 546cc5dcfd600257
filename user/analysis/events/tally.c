/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Adds up tallies, and operations without rows. */
#include "analysis/events/tally.h"

void tally_add_unseen(struct tally *tally, const struct trace_operation_total *unseen,
		      const struct event_unseen *target)
{
	if (target->dirtied)
		tally->dirtied_bytes += unseen->bytes;
	if (target->fetched)
		tally->fetched_bytes += unseen->fetched_bytes;
	if (target->created)
		tally->created_bytes += unseen->created_bytes;
	if (target->created)
		tally->read_for_write_bytes += unseen->read_for_write_bytes;
	if (!target->whole)
		return;
	tally->count += unseen->count;
	tally->errors += unseen->errors;
	tally->bytes += unseen->bytes;
	if (target->timed)
		tally->thread_time_ns += unseen->thread_time_ns;
}

void tally_fold(struct tally *tally, const struct tally *more)
{
	tally_add_counts(tally, more);
	tally->thread_time_ns += more->thread_time_ns;
	tally->time.measure = UINT64_MAX; /* tables show no number */
}
