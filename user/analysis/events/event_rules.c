/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The class and method of each operation family. */
#include "analysis/events/event_decode.h"

const char *const method_names[METHOD_COUNT + 1] = {
	[METHOD_SYSCALL] = "syscall", [METHOD_DIRECT] = "direct",   [METHOD_MMAP] = "mmap",
	[METHOD_SPLICE] = "splice",   [METHOD_URING] = "io_uring",  [METHOD_LIBAIO] = "libaio",
	[METHOD_KERNEL] = "kernel",   [METHOD_UNKNOWN] = "unknown",
};

const struct family_rule event_rules[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = { IO_READ, METHOD_SYSCALL, EVENT_COUNTED | EVENT_TIMED, true, true },
	[TRACE_WRITE] = { IO_WRITE, METHOD_SYSCALL, EVENT_COUNTED | EVENT_TIMED, true, true },
	[TRACE_METADATA] = { IO_METADATA, METHOD_NONE, EVENT_COUNTED | EVENT_TIMED, false, false },
	[TRACE_SYNC] = { IO_SYNC, METHOD_NONE, EVENT_COUNTED | EVENT_TIMED, false, false },
	/* Only if it brought pages in: see event_decode_calls. Never a fault. */
	[TRACE_MAP] = { IO_MMAP_READ, METHOD_MMAP, EVENT_TIMED, false, false },
	[TRACE_TRANSFER] = { IO_READ, METHOD_SPLICE, EVENT_COUNTED | EVENT_TIMED, true, false },
	/* Not an operation of its class, but the pages it fetches are for reads by the same
	 * method. */
	[TRACE_ADVICE] = { IO_READ, METHOD_SYSCALL, 0, false, false },
	[TRACE_FILEFAULT] = { IO_MMAP_READ, METHOD_MMAP, EVENT_COUNTED | EVENT_TIMED, false,
			      false },
	[TRACE_ANONFAULT] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_CACHE] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_INDIRECT] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_STORES] = { IO_NONE, METHOD_NONE, 0, true, false },
	[TRACE_UNDECODED] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_SUBMITS] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_OTHER] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_DELAY] = { IO_NONE, METHOD_NONE, 0, false, false },
	[TRACE_STORAGE] = { IO_NONE, METHOD_NONE, 0, true, false },
	[TRACE_KERNEL_READ] = { IO_READ, METHOD_KERNEL, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_KERNEL_WRITE] = { IO_WRITE, METHOD_KERNEL, EVENT_COUNTED | EVENT_TIMED, true,
				 false },
	[TRACE_SPLICE_READ] = { IO_READ, METHOD_SPLICE, EVENT_COUNTED | EVENT_TIMED, true, false },
	[TRACE_SPLICE_WRITE] = { IO_WRITE, METHOD_SPLICE, EVENT_COUNTED | EVENT_TIMED, true,
				 false },
	[TRACE_APART] = { IO_NONE, METHOD_NONE, 0, true, false },
	[TRACE_SERVED] = { IO_NONE, METHOD_NONE, 0, true, false },
};

size_t event_unseen(const struct operation *operation, struct event_unseen targets[2])
{
	const struct family_rule *rule = &event_rules[operation->family];
	bool asynchronous = operation->uring || operation->libaio;

	if (operation->family == TRACE_STORES) {
		targets[0] = (struct event_unseen) { .class = IO_MMAP_WRITE,
						     .method = METHOD_MMAP,
						     .dirtied = true };
		return 1;
	}
	if (rule->class == IO_NONE)
		return 0;
	targets[0] = (struct event_unseen) {
		.class = rule->class,
		.method = rule->direct && !asynchronous ? METHOD_UNKNOWN
							: event_method(operation, rule, 0),
		.whole = rule->flags & EVENT_COUNTED,
		.timed = true,
		.fetched = true,
		.created = true,
	};
	if (operation->family != TRACE_TRANSFER)
		return 1;
	targets[1] = targets[0];
	targets[1].class = IO_WRITE;
	targets[1].timed = targets[1].fetched = targets[0].created = false;
	return 2;
}

bool event_moves_bytes(enum trace_family family)
{
	return event_rules[family].moves;
}
