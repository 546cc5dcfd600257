/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that came into the cache of a file that is not the operation's in flight: on its account
 * under a name of their own, or, where nothing is in flight, on nobody's.
 */
#ifndef FAULTLINE_BPF_FETCHED_H
#define FAULTLINE_BPF_FETCHED_H

#include "file.h"

/* A page that comes into the cache, and why: to be read, or because a write makes it. */
struct page_add {
	__u64 mapping;
	struct inode *host;
	__u64 index;
	__u32 pages;
	bool locked; /* by the task, for writing: file systems do so to write, never to read */
};

/* These functions are global, as what is needed once a file (bpf/file.h). */
__noinline int fetched_send(__u32 file, __u64 index, __u32 fetched, __u32 created, __u32 op)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 name = op ? OP_INDIRECT : OP_PAGECACHE;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &name);
	struct event_pagecache *event;

	if (total) {
		count_add(&total->count, 1, true);
		count_add(&total->fetched_pages, fetched, true);
		count_add(&total->created_pages, created, true);
	}
	event = ring_reserve(EVENT_PAGECACHE, sizeof(*event), task);
	if (!event)
		return 0;
	event->header.time_ns = bpf_ktime_get_ns();
	event->offset = index * PAGE_BYTES;
	event->file = file;
	event->fetched_pages = fetched;
	event->created_pages = created;
	event->op = op;
	ring_submit(event);
	return 0;
}

/* Sends what is gathered, when the operation ends. */
__noinline int aside_send(struct task_state *state)
{
	if (!state || !state->aside_mapping)
		return 0;
	fetched_send(state->aside_file, state->aside_index, state->aside_fetched_pages,
		     state->aside_created_pages, state->aside_op);
	state->aside_mapping = 0;
	return 0;
}

/* Pages of one file that come on the account of one operation are gathered into one record. */
__noinline int aside_add(struct task_state *state, struct page_add *add)
{
	struct address mapping;
	__u32 op;

	if (!state || !add)
		return 0;
	op = state->fault_start_ns ? OP_FAULT : state->call_op;
	if (state->aside_mapping != add->mapping || state->aside_op != op) {
		aside_send(state);
		mapping.at = add->mapping;
		state->aside_mapping = add->mapping;
		state->aside_file = file_id_of_mapping(&mapping);
		state->aside_index = add->index;
		state->aside_op = op;
		state->aside_fetched_pages = 0;
		state->aside_created_pages = 0;
	}
	if (add->locked)
		state->aside_created_pages += add->pages;
	else
		state->aside_fetched_pages += add->pages;
	if (!op)
		aside_send(state);
	return 0;
}

#endif
