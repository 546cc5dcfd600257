// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Spans that the application marks through USDT probes. What it hands over is hostile: lengths are
 * bounded here, and what cannot be read is said to be missing. Knows nothing of what spans mean.
 */
#include "ring.h"

/* What is told of a begin or an instant. */
struct span_told {
	__u64 id;
	__u64 time_ns;
	__u64 name, category, args; /* addresses in the program, or 0 */
	__u64 args_bytes;
	__u32 kind;
	__u32 flags; /* what is known beforehand, TRACE_SPAN_* */
};

/* Reads a string behind what the record holds; the number of its bytes without the NUL. */
static __always_inline __u32 span_string(struct event_span *event, __u32 at, __u32 most, __u64 from)
{
	long bytes;

	if (!from)
		return 0;
	bytes = bpf_probe_read_user_str(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)), most + 1,
					(const char *)from);
	if (bytes < 0)
		event->flags |= TRACE_SPAN_UNREAD;
	if (bytes <= 0)
		return 0;
	if (bytes == most + 1)
		event->flags |= TRACE_SPAN_CUT;
	return bytes - 1;
}

static __always_inline __u32 span_args(struct event_span *event, __u32 at,
				       const struct span_told *told)
{
	__u64 bytes = told->args_bytes;

	if (bytes > EVENT_SPAN_ARGS_BYTES) { /* the library then gives no address */
		event->flags |= TRACE_SPAN_CUT;
		return 0;
	}
	if (!told->args || !bytes)
		return 0;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_ARGS_BYTES)
		return 0;
	if (bpf_probe_read_user(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)), bytes,
				(const void *)told->args)) {
		event->flags |= TRACE_SPAN_UNREAD;
		return 0;
	}
	return bytes;
}

/* Global: the verifier looks at it once, not for each kind. */
__noinline int send_span(const struct span_told *told)
{
	struct event_span *event;
	__u64 bytes;
	__u32 at;

	if (!told)
		return 0;
	event = scratch_get();
	if (!event) {
		ring_lose(told->kind);
		goto out;
	}
	event->id = told->id;
	event->flags = told->flags;
	at = event->name_bytes = span_string(event, 0, EVENT_SPAN_NAME_BYTES, told->name);
	event->category_bytes = span_string(event, at, EVENT_SPAN_CATEGORY_BYTES, told->category);
	at += event->category_bytes;
	event->args_bytes = span_args(event, at, told);
	bytes = at + event->args_bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_TEXT_BYTES + EVENT_SPAN_ARGS_BYTES)
		bytes = 0;
	ring_output(&event->header, told->kind, told->time_ns, sizeof(*event) + bytes,
		    owner_of(bpf_get_current_task_btf()));
out:
	scratch_put(event);
	return 0;
}

static __always_inline int send_span_end(struct task_struct *task, __u64 id, __u64 time_ns)
{
	struct event_span_end *event = ring_reserve(EVENT_SPAN_END, sizeof(*event), owner_of(task));

	if (!event)
		return 0;
	event->header.time_ns = time_ns;
	event->id = id;
	ring_submit(event);
	return 0;
}

/* --- what a marker is called with --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MARKER_SPECS_MAX);
	__type(key, __u32);
	__type(value, struct marker_spec);
} marker_specs SEC(".maps");

static __always_inline __u64 marker_register(const struct address *regs, __u32 offset)
{
	__u64 value = 0;

	if (offset <= MARKER_REGISTERS_BYTES - sizeof(value))
		bpf_probe_read_kernel(&value, sizeof(value), (void *)(regs->at + offset));
	return value;
}

/* Global: the verifier looks at it once, not for each argument. */
__noinline __u64 marker_value(const struct address *regs, const struct marker_arg *arg)
{
	__u64 value, shift;

	if (!regs || !arg)
		return 0;
	value = arg->value;
	shift = 64 - 8 * (arg->bytes & 15);
	if (arg->source == MARKER_CONSTANT)
		return value;
	value += marker_register(regs, arg->base);
	if (arg->scale)
		value += arg->scale * marker_register(regs, arg->index);
	if (arg->source == MARKER_MEMORY &&
	    bpf_probe_read_user(&value, sizeof(value), (void *)value))
		return 0;
	value <<= shift & 63;
	return arg->is_signed ? (__u64)((__s64)value >> (shift & 63)) : value >> (shift & 63);
}

/* Both times are the program's own word: kept between the process's start and now. */
static __always_inline void send_span_record(struct task_struct *task, struct span_told *told,
					     __u64 start_ns, __u64 end_ns)
{
	__u64 first_ns = TASK_POINTER(task, group_leader)->start_time, last_ns = told->time_ns;

	if (end_ns < last_ns)
		last_ns = end_ns > first_ns ? end_ns : first_ns;
	if (start_ns > first_ns)
		first_ns = start_ns < last_ns ? start_ns : last_ns;
	told->time_ns = first_ns;
	told->flags = TRACE_SPAN_RECORDED;
	send_span(told);
	send_span_end(task, told->id, last_ns);
}

/* Any marker: its cookie says which row tells of it. */
SEC("?uprobe")
int fl_marker(void *context)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct span_told told = { .time_ns = bpf_ktime_get_ns(), .kind = EVENT_SPAN_BEGIN };
	const struct address regs = { (__u64)context };
	__u32 which = bpf_get_attach_cookie(context);
	__u64 values[MARKER_ARGS_MAX], *text = values;
	const struct marker_spec *spec;

	spec = bpf_map_lookup_elem(&marker_specs, &which);
	if (!spec || recording_ended || !task_followed(task))
		return 0;
	values[0] = marker_value(&regs, &spec->args[0]);
	if (spec->kind == MARKER_SPAN_END)
		return send_span_end(task, values[0], told.time_ns);
	for (int i = 1; i < MARKER_ARGS_MAX; i++)
		values[i] = marker_value(&regs, &spec->args[i]);
	if (spec->kind == MARKER_INSTANT) {
		told.kind = EVENT_INSTANT;
	} else {
		told.id = values[0];
		text++;
	}
	told.name = text[0];
	told.category = text[1];
	told.args = text[2];
	told.args_bytes = text[3];
	if (spec->kind == MARKER_SPAN_RECORD)
		send_span_record(task, &told, values[5], values[6]);
	else
		send_span(&told);
	return 0;
}
