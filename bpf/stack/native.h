/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies the user stack of a thread with its registers, to be unwound by the user side.
 */
#pragma once

#include "core/ring.h"
#include "core/task_regs.h"

#ifdef __TARGET_ARCH_x86
#define NATIVE_REGISTERS_USED NATIVE_REGISTERS_X86
#define NATIVE_SP 19
#else
#define NATIVE_REGISTERS_USED NATIVE_REGISTERS
#define NATIVE_SP 31
#endif

/* Copies what is readable: a stack may end, or may never have been touched, above the pointer. */
static __always_inline void native_copy_stack(struct native_copy *copy)
{
	__u64 sp = copy->registers[NATIVE_SP];
	__u32 skipped = sp % NATIVE_PIECE_BYTES;

	if (bpf_probe_read_user(copy->stack + skipped, NATIVE_PIECE_BYTES - skipped, (void *)sp))
		return;
	copy->end = NATIVE_PIECE_BYTES;
	sp -= skipped;
#pragma unroll
	for (__u32 i = 1; i < NATIVE_PIECES; i++) {
		if (bpf_probe_read_user(copy->stack + i * NATIVE_PIECE_BYTES, NATIVE_PIECE_BYTES,
					(void *)(sp + i * NATIVE_PIECE_BYTES)))
			return;
		copy->end += NATIVE_PIECE_BYTES;
	}
}

/* Copies take at most half of a ring, so that other records find room. */
static __always_inline bool native_has_room(void)
{
	void *ring = ring_of(RECORD_SAMPLE, bpf_get_smp_processor_id());

	return ring &&
	       bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) <= RING_WAKE_PART / 2 * ring_wake_bytes;
}

/* Sends a sample with a copy of the current thread's stack. Returns false if there is no room. The
 * record is made where it is sent from: it is longer than any other memory of this side. */
static __always_inline bool native_send(const struct event_sample *sample)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_native_sample *event;

	if (!native_has_room())
		return false;
	event = ring_reserve_uncounted(RECORD_SAMPLE, sizeof(*event), owner_of(task));
	if (!event)
		return false;
	ring_count(RECORD_SAMPLE);
	__builtin_memcpy(&event->sample.header + 1, &sample->header + 1,
			 sizeof(*sample) - sizeof(sample->header));
	event->sample.header.time_ns = sample->header.time_ns;
	event->copy.end = 0;
	event->copy.pad = 0;
	if (!bpf_probe_read_kernel(event->copy.registers, NATIVE_REGISTERS_USED * sizeof(__u64),
				   task_regs(task)))
		native_copy_stack(&event->copy);
	ring_submit(event);
	return true;
}
