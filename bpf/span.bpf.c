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

/* `flags` is what is known of it beforehand, TRACE_SPAN_*. */
static __always_inline int send_span(struct task_struct *task, __u32 kind, __u64 id, __u64 time_ns,
				     __u16 flags, const struct span_text *text)
{
	struct event_span *event;
	__u64 bytes;
	__u32 at;

	event = scratch_get();
	if (!event) {
		ring_lose(kind);
		goto out;
	}
	event->id = id;
	event->flags = flags;
	at = event->name_bytes = span_string(event, 0, EVENT_SPAN_NAME_BYTES, text->name);
	event->category_bytes = span_string(event, at, EVENT_SPAN_CATEGORY_BYTES, text->category);
	at += event->category_bytes;
	event->args_bytes = span_args(event, at, text);
	bytes = at + event->args_bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_TEXT_BYTES + EVENT_SPAN_ARGS_BYTES)
		bytes = 0;
	ring_output(&event->header, kind, time_ns, sizeof(*event) + bytes, task);
out:
	scratch_put();
	return 0;
}

static __always_inline int send_span_end(struct task_struct *task, __u64 id, __u64 time_ns)
{
	struct event_span_end *event = ring_reserve(EVENT_SPAN_END, sizeof(*event), task);

	if (!event)
		return 0;
	event->header.time_ns = time_ns;
	event->id = id;
	ring_submit(event);
	return 0;
}

SEC("?usdt")
int BPF_USDT(fl_span_begin, long id, const char *name, const char *category, const void *args,
	     long args_bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span_text text = { name, category, args, args_bytes };
	__u64 now_ns = bpf_ktime_get_ns();

	return task_followed(task) ? send_span(task, EVENT_SPAN_BEGIN, id, now_ns, 0, &text) : 0;
}

SEC("?usdt")
int BPF_USDT(fl_span_end, long id)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 now_ns = bpf_ktime_get_ns();

	return task_followed(task) ? send_span_end(task, id, now_ns) : 0;
}

/* Both times are the program's own word: kept between the process's start and now. */
SEC("?usdt")
int BPF_USDT(fl_span_record, long id, const char *name, const char *category, const void *args,
	     long args_bytes, long start_ns, long end_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 first_ns = task->group_leader->start_time, last_ns = bpf_ktime_get_ns();
	struct span_text text = { name, category, args, args_bytes };

	if (!task_followed(task))
		return 0;
	if ((__u64)end_ns < last_ns)
		last_ns = (__u64)end_ns > first_ns ? end_ns : first_ns;
	if ((__u64)start_ns > first_ns)
		first_ns = (__u64)start_ns < last_ns ? start_ns : last_ns;
	send_span(task, EVENT_SPAN_BEGIN, id, first_ns, TRACE_SPAN_RECORDED, &text);
	return send_span_end(task, id, last_ns);
}

SEC("?usdt")
int BPF_USDT(fl_instant, const char *name, const char *category, const void *args, long args_bytes)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span_text text = { name, category, args, args_bytes };
	__u64 now_ns = bpf_ktime_get_ns();

	return task_followed(task) ? send_span(task, EVENT_INSTANT, 0, now_ns, 0, &text) : 0;
}
