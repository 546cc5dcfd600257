/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sends records through ring buffers, one per CPU buffer (lane), and counts each before sending.
 * The reader drains them on a timer (a wake-up costs more than a record), and is woken if the
 * pending data exceeds a limit.
 */
#pragma once

#include "core/state.h"

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the user side, like the number of rings */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} rings SEC(".maps");

/*
 * Processes, files and stacks: the records that explain the numbers in other records. They have a
 * ring of their own, shared by all CPUs: they are few, and no flood of other records may displace
 * them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* set by the user side */
} identities SEC(".maps");

extern const volatile __u32 identities_bytes;

static __always_inline bool ring_is_identity(__u32 kind)
{
	return kind == RECORD_FORK || kind == RECORD_EXEC || kind == RECORD_EXIT ||
	       kind == RECORD_FILE || kind == RECORD_FRAME || kind == RECORD_STACK;
}

/* Returns the ring for a kind of record; NULL if there is none. */
static __always_inline void *ring_of(__u32 kind, __u32 cpu)
{
	__u32 lane = cpu & lane_mask;

	if (!ring_is_identity(kind))
		return bpf_map_lookup_elem(&rings, &lane);
	return &identities;
}

/* Wakes the reader by discarding a dummy record. */
__noinline int ring_wake(void)
{
	__u32 lane = bpf_get_smp_processor_id() & lane_mask;
	void *ring = bpf_map_lookup_elem(&rings, &lane), *record;

	if (!ring)
		return 0;
	record = bpf_ringbuf_reserve(ring, 8, 0);
	if (record)
		bpf_ringbuf_discard(record, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* Call after a record of that size has been placed in the ring: wakes the reader if this record
 * crosses the limit. Other CPUs may place theirs before this one looks, so the next few
 * records also wake it. */
static __always_inline void ring_watch(void *ring, __u32 kind, __u64 size)
{
	__u64 mark = ring_is_identity(kind) ? identities_bytes / 8 : ring_wake_bytes;

	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) - mark < 4 * (size + 16))
		ring_wake();
}

/* Counts atomically: records sent through rings are not time-critical, and some programs (spans)
 * are preempted on many kernels. */
static __always_inline struct kind_total *ring_count(__u32 kind)
{
	struct kind_total *total = bpf_map_lookup_elem(&kind_totals, &kind);

	if (total)
		__sync_fetch_and_add(&total->events, 1);
	return total;
}

static __always_inline void ring_count_lost(struct kind_total *total)
{
	if (total)
		__sync_fetch_and_add(&total->lost, 1);
}

/* Counts a record that could not be made. Global, so it is verified once. */
__noinline int ring_lose(__u32 kind)
{
	ring_count_lost(ring_count(kind));
	return 0;
}

/* Reserves a record of `size` bytes about `owner`, with the header filled in except for the time.
 * Returns NULL if the ring is full; the record is not counted. */
static __always_inline void *ring_reserve_uncounted(__u32 kind, __u64 size, struct owner owner)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = ring_of(kind, cpu);
	struct event_header *header = NULL;

	if (ring)
		header = bpf_ringbuf_reserve(ring, size, 0);
	if (!header)
		return NULL;
	ring_watch(ring, kind, size);
	header->kind = kind;
	header->cpu = cpu;
	header->size = size;
	header->pid = owner.pid;
	header->tid = owner.tid;
	return header;
}

/* The same; counts the record, as lost if the ring is full. */
static __always_inline void *ring_reserve(__u32 kind, __u64 size, struct owner owner)
{
	struct kind_total *total = ring_count(kind);
	void *record = ring_reserve_uncounted(kind, size, owner);

	if (!record)
		ring_count_lost(total);
	return record;
}

static __always_inline void ring_submit(void *record)
{
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

/* Sends a variable-length record that was built elsewhere. Returns 0 or a negative errno. */
static __always_inline long ring_output(struct event_header *record, __u32 kind, __u64 time_ns,
					__u64 size, struct owner owner)
{
	struct kind_total *total;
	long status = -1;
	void *ring;

	record->time_ns = time_ns;
	record->kind = kind;
	record->size = size;
	record->pid = owner.pid;
	record->tid = owner.tid;
	record->cpu = bpf_get_smp_processor_id();
	total = ring_count(kind);
	ring = ring_of(kind, record->cpu);
	if (ring)
		status = bpf_ringbuf_output(ring, record, size, BPF_RB_NO_WAKEUP);
	if (status)
		ring_count_lost(total);
	else
		ring_watch(ring, kind, size);
	return status;
}

/*
 * Memory to build a long record in. A program can be interrupted on its CPU by another one (a fault
 * inside a probe read), and on kernels that preempt programs by several that end in any order. So
 * each buffer has a busy flag, and a program that finds no free buffer does without.
 */
#define SCRATCH_LEVELS 4
#define SCRATCH_BYTES 8704 /* two paths, the fields before them, slack for the last component */

struct scratch {
	__u64 busy;
	__u8 bytes[SCRATCH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_LEVELS);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

/* Returns a free buffer, to be released by scratch_put, or NULL. */
static __always_inline void *scratch_get(void)
{
	for (__u32 level = 0; level < SCRATCH_LEVELS; level++) {
		__u32 key = level;
		struct scratch *scratch = bpf_map_lookup_elem(&scratches, &key);

		if (scratch && !__sync_val_compare_and_swap(&scratch->busy, 0, 1))
			return scratch->bytes;
	}
	return NULL;
}

/* Accepts NULL. The memory belongs to this CPU, so its next user sees all earlier writes. */
static __always_inline void scratch_put(void *bytes)
{
	struct scratch *scratch = bytes - __builtin_offsetof(struct scratch, bytes);

	if (bytes)
		*(volatile __u64 *)&scratch->busy = 0;
}
