/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder: which processes' events go to its reader, in a recording that otherwise only
 * sums operations.
 */
#pragma once

#include "core/state.h"

extern const volatile bool flight_on;
extern const volatile __u64
	flight_slower_ns; /* report operations that take at least this long; 0: none */
extern struct flight_slow flight_slow;

/* The processes to keep, if flight_chooses: named by the user side, and inherited by children. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set by the user side */
	__type(key, __u32);
	__type(value, __u32);
} flight_chosen SEC(".maps");

extern const volatile bool flight_chooses;

/* Whether the events of the process are kept. */
static __always_inline bool flight_keeps(__u32 pid)
{
	return flight_on && (!flight_chooses || bpf_map_lookup_elem(&flight_chosen, &pid));
}

/* A process has been created: an earlier process's entry for a reused PID is removed. */
static __always_inline void flight_inherit(__u32 parent, __u32 child)
{
	__u32 one = 1;

	if (!flight_chooses)
		return;
	if (!bpf_map_lookup_elem(&flight_chosen, &parent))
		bpf_map_delete_elem(&flight_chosen, &child);
	else if (bpf_map_update_elem(&flight_chosen, &child, &one, BPF_ANY))
		note_add(NOTE_UNFOLLOWED);
}

static __always_inline void flight_forget(__u32 pid)
{
	if (flight_chooses)
		bpf_map_delete_elem(&flight_chosen, &pid);
}
