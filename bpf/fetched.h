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
	event->pad = 0;
	ring_submit(event);
	return 0;
}

#endif
