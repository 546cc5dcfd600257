/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests to servers of file systems. A request is marked when it is sent, often by another task
 * than the one in whose context it ends, and the mark becomes its record.
 */
#pragma once

#include "block/block.h"
#include "block/device.h"
#include "core/profile.h"

#define EINTR 4
#define EIO 5

#define NFS_SUPER_MAGIC 0x6969
#define V9FS_MAGIC 0x01021997

/* Programs at a function's entry, by fentry and by a kprobe. */
#define FUNCTION_PROGRAMS(target, name, work, ...)                                                 \
	SEC("?fentry/" target)                                                                     \
	int BPF_PROG(name##_in, __VA_ARGS__)                                                       \
	{                                                                                          \
		return work;                                                                       \
	}                                                                                          \
	SEC("?kprobe/" target)                                                                     \
	int BPF_KPROBE(name##_kp, __VA_ARGS__)                                                     \
	{                                                                                          \
		return work;                                                                       \
	}

struct remote_mark {
	__u64 start_ns;
	__u64 taken_ns; /* when the server got it; 0: unknown; for RPC calls: start of the last
			   attempt that was counted */
	__u64 node;
	__s64 offset; /* in the file; -1: none */
	__u32 pid, tid;
	__u32 file; /* id; 0: none or unknown */
	__u32 asked_bytes;
	__u32 flags; /* TRACE_REMOTE_* */
	__u16 op;
	__u8 recorded; /* belongs to the run; otherwise only counted for its device */
	__u8 counted;  /* may be repeated, but was counted: another request may take its slot */
};

/* How it ended. */
struct remote_end { /* without padding: 5.14 passes only what is initialized */
	__u64 now_ns;
	__s64 rtt_ns; /* since the last transmission; -1: unknown */
	__u32 dev;
	__u32 bytes;
	__u32 error; /* errno; 0: none */
	__u32 server_pid;
	__u32 flags;
	__u32 sent_bytes, received_bytes;
	__u32 retransmits;
	__u32 instance; /* of the device */
	__u32 pad;
};

/* Lost requests are counted per layer. */
static __always_inline __u32 remote_kind(__u32 op)
{
	__u32 kind = RECORD_NONE;

#define KIND_OF_SERVER(id, ...)                                                                    \
	if (op >= OP_##id)                                                                         \
		kind = RECORD_##id;
	TRACE_SERVER_LAYERS(KIND_OF_SERVER)
	return kind;
}

#define REMOTE_SLOTS_LOG 12

struct remote_slot {
	__u64 request; /* address; 0: free */
	struct remote_mark mark;
};

ADDR_TABLE(remote_slots, struct remote_slot, REMOTE_SLOTS_LOG)
ADDR_OVERFLOW(remote_marks, __u64, struct remote_mark, 4096)

/*
 * These functions are global, so each is verified once.
 *
 * Marks a request. A mark that is still there is of an earlier request at this address: a fatal
 * signal withdrew it before the server took it, or another copy of this program made the mark. A
 * request for which there is no room is counted as lost.
 */
__noinline int remote_mark_put(struct address *request, struct remote_mark *mark)
{
	struct remote_slot *slot;
	struct remote_mark copy;
	__u64 at, holder;

	if (!request || !mark)
		return 0;
	at = request->at;
	slot = remote_slots_at(at);
	if (!slot)
		return 0;
	holder = __sync_val_compare_and_swap(&slot->request, 0, at);
	if (holder && holder != at && slot->mark.counted &&
	    __sync_val_compare_and_swap(&slot->request, holder, at) == holder)
		holder = 0;
	if (!holder || holder == at) {
		slot->mark = *mark;
		return 0;
	}
	copy = *mark; /* on the stack: up to 6.1, maps accept no other value */
	if (remote_marks_put(&at, &copy) < 0 && copy.recorded)
		ring_lose(remote_kind(copy.op));
	return 0;
}

static __always_inline struct remote_mark *remote_mark_find(__u64 *at)
{
	struct remote_slot *slot = remote_slots_at(*at);

	return slot && slot->request == *at ? &slot->mark : remote_marks_find(at);
}

/* The server has received the request. */
__noinline int remote_mark_taken(struct address *request, __u64 now_ns)
{
	struct remote_mark *mark;
	__u64 at;

	if (!request)
		return 0;
	at = request->at;
	mark = remote_mark_find(&at);
	if (mark)
		mark->taken_ns = now_ns;
	return 0;
}

/* Copies a request's mark and removes it. Returns 1 to one of several concurrent callers, 0 to the
 * others. */
__noinline int remote_mark_take(struct address *request, struct remote_mark *mark)
{
	struct remote_mark *overflow;
	struct remote_slot *slot;
	__u64 at;

	if (!request || !mark)
		return 0;
	at = request->at;
	slot = remote_slots_at(at);
	if (slot && slot->request == at) {
		*mark = slot->mark;
		return __sync_val_compare_and_swap(&slot->request, at, 0) == at;
	}
	overflow = remote_marks_find(&at);
	if (!overflow)
		return 0;
	*mark = *overflow;
	return remote_marks_remove(&at);
}

/* Copies the mark of a request that may be repeated, for an attempt, which its start identifies.
 * The mark stays, until its slot is needed. Returns 1 to one of several callers for the same
 * attempt, 0 to the others. */
__noinline int remote_mark_attempt(struct address *request, struct remote_mark *mark,
				   __u64 start_ns)
{
	struct remote_slot *slot;
	__u64 at, last;

	if (!request || !mark)
		return 0;
	at = request->at;
	slot = remote_slots_at(at);
	if (!slot || slot->request != at)
		return remote_mark_take(request, mark);
	last = slot->mark.taken_ns;
	*mark = slot->mark;
	if (slot->request != at || last == start_ns ||
	    __sync_val_compare_and_swap(&slot->mark.taken_ns, last, start_ns) != last)
		return 0;
	slot->mark.counted = 1;
	return 1;
}

/* --- owner --- */

/* Whether the task was followed until its exit, after which the kernel closes its files: many
 * clients write a file to its server only then. */
static __always_inline bool remote_requests_at_exit(struct task_struct *task)
{
	struct task_slot *slot = task_slot(task->pid);

	return slot && task_slot_matches(slot, task, task->pid) && slot->exited_ns &&
	       !(attach_to && recording_ended);
}

/* Returns the state of the current task if it is followed. Sets the owner of its request. */
static __always_inline struct task_state *remote_requester(struct remote_mark *mark)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);

	if (state || remote_requests_at_exit(task)) {
		mark->pid = task->tgid;
		mark->tid = task->pid;
	}
	return state;
}

/* --- what it is about --- */

/* Returns the file of an inode. `own`: of a read or write of the run; otherwise only a file that
 * the run has used. */
__noinline __u32 remote_file(struct address *inode, bool own)
{
	struct address mapping;

	if (!inode || !inode->at)
		return 0;
	if (!own)
		return file_find_interned(inode);
	mapping.at = (__u64)KREAD(inode, inode->at, i_mapping);
	return file_id_of_mapping(&mapping);
}

/* Starts a request that the requesting task or a kernel thread sends. Of a kernel thread, only
 * writes and syncs of files that the run has used are recorded. `class`: see remote_count. */
static __always_inline int remote_begin(struct address *request, struct remote_mark *mark,
					struct address *inode, __u32 class)
{
	bool moves = class == DEVICE_READ || class == DEVICE_WRITE;

	if (mark->pid || class != DEVICE_CLASSES)
		mark->file = remote_file(inode, mark->pid && moves);
	if (!mark->pid)
		mark->flags = TRACE_REMOTE_BACKGROUND;
	mark->recorded = mark->pid || (mark->file && class != DEVICE_READ);
	return remote_mark_put(request, mark);
}

/* --- completion --- */

/* A file system that is not mounted yet has no name. */
static __always_inline void remote_source(struct device_source *source, struct super_block *sb)
{
	__u64 mount;

	if (bpf_core_field_exists(struct mount, mnt_next_for_sb)) {
		mount = (__u64)KREAD(super_block, sb, s_mounts);
	} else {
		mount = (__u64)KREAD(super_block___list, sb, s_mounts.next);
		if (mount == (__u64)KFIELD(super_block___list, sb, s_mounts.next)) /* empty */
			mount = 0;
		if (mount)
			mount -= bpf_core_field_offset(struct mount___list, mnt_instance);
	}
	source->name = mount ? (__u64)KREAD(mount, mount, mnt_devname) : 0;
	source->type = (__u64)KREAD(file_system_type, KREAD(super_block, sb, s_type), name);
	source->subtype = (__u64)KREAD(super_block, sb, s_subtype);
}

/* Counts a call to the server of an NFS mount. */
static __always_inline void remote_count_call(__u32 number, __u32 class,
					      const struct remote_end *end)
{
	struct device_slot *slot = bpf_map_lookup_elem(&device_slots, &number);
	struct device_calls *calls;

	if (!slot)
		return;
	if (class >= DEVICE_CLASSES)
		class = DEVICE_OTHER_CALLS;
	BARRIER_VAR(class); /* as in device_class_counts */
	calls = &slot->calls[class & (DEVICE_CLASSES - 1)];
	__sync_fetch_and_add(&calls->calls, 1);
	__sync_fetch_and_add(&calls->retransmits, end->retransmits);
	__sync_fetch_and_add(&calls->round_trip_ns, end->rtt_ns);
}

/* Counts a request to a server as one to its device, unless that is a block device (fuseblk), to
 * which the server makes requests of its own. `class`: DEVICE_CLASSES for requests that are
 * neither reads, writes nor syncs. */
static __always_inline void remote_count(const struct device_source *source, __u32 class,
					 const struct remote_mark *mark,
					 const struct remote_end *end)
{
	__u32 number = end->dev && !(end->dev >> 20)
			       ? device_number(source, end->dev, end->instance)
			       : DEVICES_MAX;
	struct device_total *total = device_total(number);
	struct device_counts *counts;

	if (end->rtt_ns >= 0)
		remote_count_call(number, class, end);
	if (!total || class >= DEVICE_CLASSES)
		return;
	counts = device_class_counts(total, class);
	__sync_fetch_and_add(&counts->requests, 1);
	__sync_fetch_and_add(&counts->bytes, end->bytes);
	__sync_fetch_and_add(&counts->errors, end->error ? 1 : 0);
	__sync_fetch_and_add(&counts->time_ns, end->now_ns - mark->start_ns);
}

/* Counts a request of the run and sends its record. */
__noinline int remote_send(struct remote_mark *mark, struct remote_end *end)
{
	struct event_remote *event;
	struct op_total *total;

	if (!mark || !end)
		return 0;
	total = op_total(mark->op);
	if (total) {
		count_add(&total->count, 1, true);
		count_add(&total->errors, end->error ? 1 : 0, true);
		count_add(&total->bytes, end->bytes, true);
		count_add(&total->time_ns, end->now_ns - mark->start_ns, true);
	}
	if (profile_aggregates_others() && !profile_also_records(mark->pid))
		return 0;
	event = ring_reserve(remote_kind(mark->op), sizeof(*event),
			     (struct owner) { mark->pid, mark->tid });
	if (!event)
		return 0;
	event->header.time_ns = mark->start_ns;
	event->duration_ns = end->now_ns - mark->start_ns;
	event->queue_ns = mark->taken_ns >= mark->start_ns && mark->taken_ns <= end->now_ns
				  ? mark->taken_ns - mark->start_ns
				  : -1;
	event->offset = mark->offset;
	event->node = mark->node;
	event->dev = end->dev;
	event->instance = end->instance;
	event->pad = 0;
	event->bytes = end->bytes;
	event->asked_bytes = mark->asked_bytes;
	event->server_pid = end->server_pid;
	event->file = mark->file;
	event->flags = mark->flags | end->flags;
	event->op = mark->op;
	event->error = end->error;
	event->rtt_ns = end->rtt_ns;
	event->sent_bytes = end->sent_bytes;
	event->received_bytes = end->received_bytes;
	event->retransmits = end->retransmits;
	ring_submit(event);
	return 0;
}

/* Ends a request to the server of a mount; NULL: unknown. */
static __always_inline int remote_finish(struct super_block *sb, __u32 class,
					 struct remote_mark *mark, struct remote_end *end)
{
	struct device_source source = {};
	struct address at;

	if (sb) {
		end->dev = KREAD(super_block, sb, s_dev);
		at.at = (__u64)sb;
		end->instance = mount_instance(&at);
		remote_source(&source, sb);
	}
	remote_count(&source, class, mark, end);
	if (mark->recorded)
		remote_send(mark, end);
	return 0;
}
