/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reports that a process has mapped code from a file, which may contain markers or be an
 * interpreter.
 */
#pragma once

#include "core/ring.h"

/* `file` is that of an interpreter that is not known yet, or NULL. Global because it is rarely
 * called, and needs a frame of its own. */
__noinline int code_send(__u64 address, __u64 bytes, const struct code_file *file)
{
	struct event_code *event =
		ring_reserve(RECORD_CODE, sizeof(*event), owner_of(bpf_get_current_task_btf()));

	if (!event)
		return 0;
	event->header.time_ns = bpf_ktime_get_ns();
	event->address = address;
	event->bytes = bytes;
	event->file.ino = file ? file->ino : 0;
	event->file.dev = file ? file->dev : 0;
	event->file.generation = file ? file->generation : 0;
	ring_submit(event);
	ring_wake(); /* a program may be waiting for its inspection */
	return 0;
}
