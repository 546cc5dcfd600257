/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that came into the cache on no operation's account.
 */
#ifndef FAULTLINE_BPF_FETCHED_H
#define FAULTLINE_BPF_FETCHED_H

#include "file.h"

/* Global, as what is needed once a file (bpf/file.h). */
__noinline int fetched_send(struct address *mapping, __u64 index, __u32 fetched, __u32 created)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 op = OP_PAGECACHE, file = file_id_of_mapping(mapping);
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);
	struct event_pagecache *event;

	if (total) {
		total->count++;
		total->fetched_pages += fetched;
		total->created_pages += created;
	}
	event = ring_reserve(EVENT_PAGECACHE, sizeof(*event), task);
	if (!event)
		return 0;
	event->header.time_ns = bpf_ktime_get_ns();
	event->offset = index * PAGE_BYTES;
	event->file = file;
	event->fetched_pages = fetched;
	event->created_pages = created;
	event->pad = 0;
	ring_submit(event);
	return 0;
}

/* A fault that ended without telling (SIGBUS, a failed attempt with faults disabled) may have
 * brought pages in. Nothing is in flight afterwards. */
__noinline int fault_abandon(struct task_state *state)
{
	struct address mapping;

	if (!state)
		return 0;
	mapping.at = state->fault_mapping;
	if (state->fault_fetched_pages)
		fetched_send(&mapping, state->fault_index, state->fault_fetched_pages, 0);
	state->fault_start_ns = 0;
	state->fault_mapping = 0;
	state->fault_fetched_pages = 0;
	return 0;
}

#endif
