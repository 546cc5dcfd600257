/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Telling that a process has mapped code from a file: there may be markers in it.
 */
#ifndef FAULTLINE_BPF_CODE_H
#define FAULTLINE_BPF_CODE_H

#include "ring.h"

static __always_inline void code_send(struct task_struct *task, __u64 address, __u64 bytes)
{
	struct event_code *event = ring_reserve(EVENT_CODE, sizeof(*event), task);

	if (!event)
		return;
	event->header.time_ns = bpf_ktime_get_ns();
	event->address = address;
	event->bytes = bytes;
	ring_submit(event);
	ring_wake(); /* there may be markers to attach to */
}

#endif
