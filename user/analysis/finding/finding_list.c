/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The registry of findings, in the order in which rules run: later ones skip what earlier ones
 * cover.
 */
#include "analysis/finding/finding.h"

#include <string.h>

const struct finding_rule *const finding_rules[] = {
	&finding_killed,
	&finding_hung,
	&finding_loss,
	&finding_untraced_async,
	&finding_tracer_cost,
	&finding_held_back,
	&finding_mmap_random,
	&finding_mmap_strided,
	&finding_mmap_in_order,
	&finding_mmap_single,
	&finding_mmap_minor,
	&finding_mmap_stores,
	&finding_mmap_copied,
	&finding_mmap_summed,
	&finding_swapped,
	&finding_small_reads_storage,
	&finding_small_reads_cached,
	&finding_shallow_queue,
	&finding_random_reads,
	&finding_fetched_again,
	&finding_load_waits,
	&finding_read_again,
	&finding_read_by_several,
	&finding_worker_start,
	&finding_cold_start,
	&finding_small_files,
	&finding_opened_again,
	&finding_listed_again,
	&finding_failed_lookups,
	&finding_locks,
	&finding_imports,
	&finding_cold_names,
	&finding_metadata,
	&finding_save_waits,
	&finding_fsync_often,
	&finding_sync_writes,
	&finding_shared_writes,
	&finding_shared_across,
	&finding_partial_writes,
	&finding_small_writes,
	&finding_small_direct,
	&finding_failed_calls,
	&finding_short_reads,
	&finding_throttled,
	&finding_amplified,
	&finding_readahead_unused,
	&finding_device_errors,
	&finding_device_slow,
	&finding_device_overloaded,
	&finding_requests_small,
	&finding_flushes,
	&finding_device_shared,
	&finding_epoch_storage,
	&finding_epoch_memory,
	&finding_sync_checkpoint,
	&finding_loader_io,
	&finding_loader_work,
	&finding_loader_idle,
	&finding_worker_slow,
	&finding_accelerator,
	&finding_stragglers,
	&finding_ranks_uneven,
	&finding_rank_slow,
	&finding_read_bound, /* whatever the others do not explain */
	&finding_write_bound,
	&finding_mmap_bound,
	NULL,
};
const size_t finding_rule_count = sizeof(finding_rules) / sizeof(finding_rules[0]) - 1;

const struct finding_rule *finding_rule_named(const char *id)
{
	for (size_t i = 0; i < finding_rule_count; i++)
		if (!strcmp(finding_rules[i]->id, id))
			return finding_rules[i];
	return NULL;
}
