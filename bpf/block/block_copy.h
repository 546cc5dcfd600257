/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies of programs that see requests and bios (COPIED_PROGRAM in core/state.h): the first one to
 * see an event counts it.
 */
#pragma once

#include "core/state.h"

/* The copy of the program that last saw a request or a bio, by CPU and address. */
#define COPY_SLOTS 1024

struct copy_slot {
	__u64 source; /* address of the request or bio */
	__u32 copy;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COPY_SLOTS);
	__type(key, __u32);
	__type(value, struct copy_slot);
} block_copies SEC(".maps");

/* Returns whether this copy of the program is the first to see this request end, or this bio being
 * queued. Like task_copy_is_first, for events without a task. */
static __always_inline bool block_copy_is_first(__u64 source, __u32 copy)
{
	__u32 key = (source >> 6 ^ source >> 16) & (COPY_SLOTS - 1);
	struct copy_slot *slot = bpf_map_lookup_elem(&block_copies, &key);
	bool first;

	if (!slot)
		return copy == 0;
	first = slot->source != source || copy <= slot->copy;
	slot->source = source;
	slot->copy = copy;
	return first;
}
