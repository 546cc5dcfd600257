// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Spans that the application marks through USDT probes. What it hands over is hostile: lengths are
 * bounded here, and what cannot be read is said to be missing. Knows nothing of what spans mean.
 */
#include "ring.h"
#include "vmlinux/ptrace.h"

#include <bpf/usdt.bpf.h>

struct span_text {
	const char *name, *category;
	const void *args;
	__u64 args_bytes;
};

/* Reads a string behind what the record holds; the number of its bytes without the NUL. */
static __always_inline __u32 span_string(struct event_span *event, __u32 at, __u32 most,
					 const char *from)
{
	long bytes;

	if (!from)
		return 0;
	bytes = bpf_probe_read_user_str(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)), most + 1,
					from);
	if (bytes < 0)
		event->flags |= TRACE_SPAN_UNREAD;
	if (bytes <= 0)
		return 0;
	if (bytes == most + 1)
		event->flags |= TRACE_SPAN_CUT;
	return bytes - 1;
}

static __always_inline __u32 span_args(struct event_span *event, __u32 at,
				       const struct span_text *text)
{
	__u64 bytes = text->args_bytes;

	if (bytes > EVENT_SPAN_ARGS_BYTES) { /* the library then gives no address */
		event->flags |= TRACE_SPAN_CUT;
		return 0;
	}
	if (!text->args || !bytes)
		return 0;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_ARGS_BYTES)
		return 0;
	if (bpf_probe_read_user(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)), bytes,
				text->args)) {
		event->flags |= TRACE_SPAN_UNREAD;
		return 0;
	}
	return bytes;
}

static __always_inline int send_span(__u32 kind, __u64 id, const struct span_text *text)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns(), bytes;
	struct event_span *event;
	__u32 at;

	if (!task_followed(task))
		return 0;
	event = scratch_get();
	if (!event) {
		ring_lose(kind);
		goto out;
	}
	event->id = id;
	event->flags = 0;
	at = event->name_bytes = span_string(event, 0, EVENT_SPAN_NAME_BYTES, text->name);
	event->category_bytes = span_string(event, at, EVENT_SPAN_CATEGORY_BYTES, text->category);
	at += event->category_bytes;
	event->args_bytes = span_args(event, at, text);
	bytes = at + event->args_bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_TEXT_BYTES + EVENT_SPAN_ARGS_BYTES)
		bytes = 0;
	ring_output(&event->header, kind, now_ns, sizeof(*event) + bytes, task);
out:
	scratch_put();
	return 0;
}

SEC("?usdt")
int BPF_USDT(fl_span_begin, long id, const char *name, const char *category, const void *args,
	     long args_bytes)
{
	struct span_text text = { name, category, args, args_bytes };

	return send_span(EVENT_SPAN_BEGIN, id, &text);
}

SEC("?usdt")
int BPF_USDT(fl_span_end, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_span_end *event;

	if (!task_followed(task))
		return 0;
	event = ring_reserve(EVENT_SPAN_END, sizeof(*event), task);
	if (!event)
		return 0;
	event->header.time_ns = bpf_ktime_get_ns();
	event->id = id;
	ring_submit(event);
	return 0;
}

SEC("?usdt")
int BPF_USDT(fl_instant, const char *name, const char *category, const void *args, long args_bytes)
{
	struct span_text text = { name, category, args, args_bytes };

	return send_span(EVENT_INSTANT, 0, &text);
}
