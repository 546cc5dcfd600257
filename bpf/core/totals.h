/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Exact totals: counted before any record can be lost.
 */
#pragma once

#include "core/kernel.h"
#include "records/event.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OP_TABLE_SIZE);
	__type(key, __u32);
	__type(value, struct op_total);
} op_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, RECORD_KIND_COUNT);
	__type(key, __u32);
	__type(value, struct kind_total);
} kind_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NOTE_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} notes SEC(".maps");

/* Adds to a counter of this CPU. `preempted`: another program may update the counter
 * concurrently. */
static __always_inline void count_add(__u64 *counter, __u64 amount, bool preempted)
{
	if (preempted)
		__sync_fetch_and_add(counter, amount);
	else
		*counter += amount;
}

static __always_inline struct op_total *op_total(__u32 op)
{
	return bpf_map_lookup_elem(&op_totals, &op);
}

static __always_inline void note_add(__u32 which)
{
	__u64 *count = bpf_map_lookup_elem(&notes, &which);

	if (count)
		__sync_fetch_and_add(count, 1);
}
