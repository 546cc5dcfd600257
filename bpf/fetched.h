/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that came into the cache on no operation's account.
 */
#ifndef FAULTLINE_BPF_FETCHED_H
#define FAULTLINE_BPF_FETCHED_H

#include "file.h"

static __always_inline void fetched_send(struct task_struct *task, __u64 mapping, __u64 index,
					 __u32 pages)
{
	__u32 op = OP_PAGECACHE, file = file_id_of_mapping(mapping);
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);
	struct event_pagecache *event;

	if (total) {
		total->count++;
		total->fetched_pages += pages;
	}
	event = ring_reserve(EVENT_PAGECACHE, sizeof(*event), task);
	if (!event)
		return;
	event->header.time_ns = bpf_ktime_get_ns();
	event->offset = index * PAGE_BYTES;
	event->file = file;
	event->fetched_pages = pages;
	ring_submit(event);
}

/* A fault that ended without telling (SIGBUS, a failed attempt with faults disabled) may have
 * brought pages in. Nothing is in flight afterwards. */
static __always_inline void fault_abandon(struct task_state *state, struct task_struct *task)
{
	if (state->fault_fetched_pages)
		fetched_send(task, state->fault_mapping, state->fault_index,
			     state->fault_fetched_pages);
	state->fault_start_ns = 0;
	state->fault_mapping = 0;
	state->fault_fetched_pages = 0;
}

#endif
