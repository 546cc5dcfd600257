// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Spans that the application marks through USDT probes. Its arguments are not trusted: lengths are
 * bounded here, and unreadable data is flagged.
 */
#include "core/ring.h"
#include "fault/vma.h"
#include "vmlinux/ptrace.h"

/*
 * A begin or an instant under construction, in scratch memory (scratch_get). Since 6.13, a function
 * with 64 bytes of stack or more may have its frame in memory that all tasks of a CPU share. The
 * kernel then prevents reentry, except of uprobe programs, which are preempted and would continue
 * with another task's data. So every frame of this layer must stay below 64 bytes.
 */
struct span_draft {
	__u64 values[MARKER_ARGS_MAX];
	__u64 time_ns;
	__u32 kind;
	__u32 first; /* index of the text values: name, category, arguments, their length */
	__u64 id;
	__u64 flags; /* TRACE_SPAN_*, those known beforehand */
	__u8 record[sizeof(struct event_span) + EVENT_SPAN_TEXT_BYTES + EVENT_SPAN_ARGS_BYTES];
};

_Static_assert(sizeof(struct span_draft) <= SCRATCH_BYTES, "a span fits where it is made");

/* Appends a string to the record's text at `at`; returns its length without the NUL. */
static __always_inline __u32 span_string(struct event_span *event, __u32 at, __u32 max_bytes,
					 __u64 from)
{
	long bytes;

	if (!from)
		return 0;
	bytes = bpf_probe_read_user_str(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)),
					max_bytes + 1, (const char *)from);
	if (bytes < 0)
		event->flags |= TRACE_SPAN_UNREAD;
	if (bytes <= 0)
		return 0;
	if (bytes == max_bytes + 1) /* the library cuts longer ones to this length */
		event->flags |= TRACE_SPAN_CUT;
	return bytes - 1;
}

static __always_inline __u32 span_args(struct event_span *event, __u32 at, __u64 from, __u64 bytes)
{
	if (bytes > EVENT_SPAN_ARGS_BYTES) { /* the library then passes no address */
		event->flags |= TRACE_SPAN_CUT;
		return 0;
	}
	if (!from || !bytes)
		return 0;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_ARGS_BYTES)
		return 0;
	if (read_user(event->text + (at & (EVENT_SPAN_TEXT_BYTES - 1)), bytes,
		      (const void *)from)) {
		event->flags |= TRACE_SPAN_UNREAD;
		return 0;
	}
	return bytes;
}

/* Global, so that the verifier checks it once, not for each kind. */
__noinline int span_send(struct span_draft *draft)
{
	struct event_span *event;
	const __u64 *text;
	__u64 bytes;
	__u32 at;

	if (!draft)
		return 0;
	event = (struct event_span *)draft->record;
	event->id = draft->id;
	event->flags = draft->flags;
	text = &draft->values[draft->first & 1];
	/* Lengths are read back, so that all paths to here look the same to the verifier. */
	event->name_bytes = span_string(event, 0, EVENT_SPAN_NAME_BYTES, text[0]);
	at = *(volatile __u16 *)&event->name_bytes;
	event->category_bytes = span_string(event, at, EVENT_SPAN_CATEGORY_BYTES, text[1]);
	at += *(volatile __u16 *)&event->category_bytes;
	event->args_bytes = span_args(event, at, text[2], text[3]);
	bytes = at + event->args_bytes;
	BARRIER_VAR(bytes);
	if (bytes > EVENT_SPAN_TEXT_BYTES + EVENT_SPAN_ARGS_BYTES)
		bytes = 0;
	ring_output(&event->header, draft->kind, draft->time_ns, sizeof(*event) + bytes,
		    owner_of(bpf_get_current_task_btf()));
	return 0;
}

/* Not inlined, for a stack frame of its own. */
static __noinline int span_send_end(__u64 id, __u64 time_ns)
{
	struct event_span_end *event =
		ring_reserve(RECORD_SPAN_END, sizeof(*event), owner_of(bpf_get_current_task_btf()));

	if (!event)
		return 0;
	event->header.time_ns = time_ns;
	event->id = id;
	ring_submit(event);
	return 0;
}

/* --- marker arguments --- */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MARKER_SPECS_MAX);
	__type(key, __u32);
	__type(value, struct marker_spec);
} marker_specs SEC(".maps");

/* Rows of marker_specs. The user side makes room and fills it in if uprobes have no cookies. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct marker_position);
	__type(value, __u32);
} marker_rows SEC(".maps");

/* Returns the row of the marker that was reached; MARKER_SPECS_MAX: unknown. */
static __always_inline __u32 marker_row(struct pt_regs *regs)
{
#ifdef FAULTLINE_PROBE_READ
	/* Before 5.15. */
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_attach_cookie)) {
		struct marker_position position = {};
		__u64 ip = REGS_IP(regs), vma = vma_at(ip);
		struct file *file = vma ? KREAD(vm_area_struct, vma, vm_file) : NULL;
		__u32 *row;

		if (!file)
			return MARKER_SPECS_MAX;
		position.offset = KREAD(vm_area_struct, vma, vm_pgoff) * PAGE_BYTES + ip -
				  KREAD(vm_area_struct, vma, vm_start);
		position.ino = KREAD(inode, KREAD(file, file, f_inode), i_ino);
		row = bpf_map_lookup_elem(&marker_rows, &position);
		return row ? *row : MARKER_SPECS_MAX;
	}
#endif
	return bpf_get_attach_cookie(regs);
}

static __always_inline __u64 marker_register(const struct address *regs, __u32 offset)
{
	__u64 value = 0;

	if (offset <= MARKER_REGISTERS_BYTES - sizeof(value))
		bpf_probe_read_kernel(&value, sizeof(value), (void *)(regs->at + offset));
	return value;
}

/* Global, so that the verifier checks it once, not for each argument. */
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

/* Returns how far the program's clock is ahead of the host's: it may be in a time namespace. */
static __always_inline __s64 span_clock_offset_ns(struct task_struct *task)
{
	struct nsproxy *proxy = KREAD(task_struct, task, nsproxy);
	struct time_namespace *time;

	if (!proxy || !bpf_core_field_exists(struct time_namespace, offsets.monotonic))
		return 0;
	time = KREAD(nsproxy, proxy, time_ns);
	return time ? KREAD(time_namespace, time, offsets.monotonic.tv_sec) * 1000000000 +
			       KREAD(time_namespace, time, offsets.monotonic.tv_nsec)
		    : 0;
}

/* Converts the program's time to the host's. A time before the host's boot becomes 0. */
static __always_inline __u64 span_host_time(__u64 time_ns, __s64 offset_ns)
{
	__s64 host_ns = time_ns - offset_ns;

	return (__s64)time_ns < 0 ? time_ns : host_ns < 0 ? 0 : host_ns;
}

/* Clamps both times, which come from the program, to between its process's start and now. */
static __always_inline void span_send_record(struct span_draft *draft)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 first_ns = TASK_POINTER(task, group_leader)->start_time, last_ns = draft->time_ns;
	__s64 offset_ns = span_clock_offset_ns(task);
	__u64 start_ns = span_host_time(draft->values[5], offset_ns);
	__u64 end_ns = span_host_time(draft->values[6], offset_ns);

	if (end_ns < last_ns)
		last_ns = end_ns > first_ns ? end_ns : first_ns;
	if (start_ns > first_ns)
		first_ns = start_ns < last_ns ? start_ns : last_ns;
	draft->time_ns = first_ns;
	draft->flags = TRACE_SPAN_RECORDED;
	span_send(draft);
	span_send_end(draft->id, last_ns);
}

static __always_inline void span_make(struct span_draft *draft, const struct marker_spec *spec,
				      const struct address *regs)
{
	for (int i = 0; i < MARKER_ARGS_MAX; i++)
		draft->values[i] = marker_value(regs, &spec->args[i]);
	draft->kind = spec->kind == MARKER_INSTANT ? RECORD_INSTANT : RECORD_SPAN_BEGIN;
	draft->first = spec->kind == MARKER_INSTANT ? 0 : 1;
	draft->id = draft->first ? draft->values[0] : 0;
	draft->flags = 0;
	if (spec->kind == MARKER_SPAN_RECORD)
		span_send_record(draft);
	else
		span_send(draft);
}

/* Serves all markers; the cookie is the row in marker_specs. */
SEC("?uprobe")
int fl_marker(struct pt_regs *context)
{
	const struct address regs = { (__u64)context };
	__u32 which = marker_row(context);
	__u64 time_ns = bpf_ktime_get_ns();
	const struct marker_spec *spec;
	struct span_draft *draft;

	spec = bpf_map_lookup_elem(&marker_specs, &which);
	if (!spec || recording_ended || !task_followed(bpf_get_current_task_btf()))
		return 0;
	if (spec->kind == MARKER_SPAN_END)
		return span_send_end(marker_value(&regs, &spec->args[0]), time_ns);
	draft = scratch_get();
	if (!draft)
		return ring_lose(spec->kind == MARKER_INSTANT ? RECORD_INSTANT : RECORD_SPAN_BEGIN);
	draft->time_ns = time_ns;
	span_make(draft, spec, &regs);
	scratch_put(draft);
	return 0;
}
