/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What every layer shares: the state of a followed task, the totals, and the settings made before
 * loading.
 */
#ifndef FAULTLINE_BPF_STATE_H
#define FAULTLINE_BPF_STATE_H

#include "kernel.h"
#include "event.h"
#include "vmlinux/sched.h"

/* --- settings: constants to the verifier --- */

extern const volatile struct call_row calls[CALL_TABLE_SIZE];
extern const volatile struct call_request requests[CALL_REQUESTS];
extern const volatile __u32 file_classes; /* FILE_CLASS_* to record */
extern const volatile __u32 mmap_number;  /* of the system call */
extern const volatile __u32 page_bytes;
extern const volatile bool follow_privileged;  /* programs that gain rights at their exec, too */
extern const volatile bool have_filemap_fault; /* filemap_fault is seen when it is reached */
#define PAGE_BYTES ((__u64)page_bytes)
extern const volatile __u32 lane_mask;	     /* number of lanes less one, a power of two less one */
extern const volatile __u32 lane_slot_count; /* of one lane, a power of two */
extern const volatile __u32 ring_wake_bytes; /* in a ring that wake its reader */
/* Several programs may be filling slots of a lane at a time: of several CPUs, or of one when they
 * can be preempted. */
extern const volatile bool lane_shared;
/* The kernel may preempt the programs that count system calls, or faults: another one then counts
 * on the same CPU meanwhile. */
extern const volatile bool calls_preempted;
extern const volatile bool faults_preempted;

/* Set when the recording ends, for programs that are detached only later. */
extern volatile bool recording_ended;

/* --- a followed task --- */

/* A file whose id the task has looked up, by the address it was reached through: a struct file, or
 * the dentry of a working directory. Trusted only while that leads to the same inode, and the inode
 * still has the same number and generation. */
struct known_file {
	__u64 address;
	__u64 inode;
	__u64 ino;
	__u64 mapping;
	__u32 generation;
	__u32 id;
	__u32 class;   /* FILE_CLASS_* */
	__u32 overlay; /* its generation is that of a layer */
};

/*
 * A call that a signal interrupted and that the kernel may make again: the task's fields from
 * call_start_ns to call_major_seen, and what tells whether it is this call that goes on.
 */
#define CALL_WORDS 8

struct suspended_call {
	__u64 words[CALL_WORDS];
	__u64 end_ns;
	__u64 ip, sp; /* of the call in the program */
	__u32 op;
	__u32 number;
};

struct task_state {
	__u32 mode; /* enum task_mode */

	/* The system call in flight. */
	__u32 call_op; /* 0: none */
	__u32 call_number;
	__u32 call_suspended; /* `suspended` holds a call that a signal interrupted */
	__u64 call_start_ns;
	__u64 call_file; /* addresses: compared and read from, never trusted */
	__u64 call_mapping;
	__u64 call_mapping2; /* of the file that a transfer writes */
	__u32 call_file_id;
	__u32 call_file2_id;
	__u32 call_flags;
	__u32 call_fetched_pages;
	__u32 call_created_pages;
	__u32 call_fault_fetched_pages;
	__u32 call_major_start; /* the task's own count, for faults that show nowhere else */
	__u32 call_major_seen;
	__u32 call_dirtied_pages; /* by a call that maps, which is never interrupted */

	/* The page fault in flight. */
	__u32 fault_flags;
	__u64 fault_start_ns; /* 0: none */
	__u64 fault_address;
	__u64 fault_mapping; /* set once filemap_fault is reached */
	__u64 fault_index;
	__u32 fault_fetched_pages;
	__u32 fault_dirtied_pages;
	__u64 fault_dirtied_mapping; /* whose they are */
	__u32 fault_count_start;     /* the task's own counts of faults that are done */
	__u32 fault_major_start;

	/* The mapping of the last fault, and the count of changes that it was found at. */
	__u64 known_vma; /* 0: none */
	__u32 known_vma_sequence;

	/* Pages of a file that is not the operation's in flight, which they came on account of. */
	__u32 aside_op;
	__u64 aside_mapping; /* 0: none */
	__u64 aside_index;
	__u32 aside_file;
	__u32 aside_fetched_pages;
	__u32 aside_created_pages;

	/* The last event of which copies of a program ran: see copy_is_first. */
	__u64 copy_event;
	__u32 copy_number;

	__u32 known_next;
	struct known_file known[2];

	struct suspended_call suspended;
};

_Static_assert(__builtin_offsetof(struct task_state, call_major_seen) + 4 -
			       __builtin_offsetof(struct task_state, call_start_ns) ==
		       CALL_WORDS * 8,
	       "what is kept of a suspended call");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* The state of a task that is followed now, or NULL. */
static __always_inline struct task_state *task_followed(struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);

	if (!state || state->mode != TASK_FOLLOWED)
		return NULL;
	return state;
}

/*
 * Where the kernel may preempt a program at a tracepoint, it passes over that program for every
 * other task of the CPU until it has gone on. Copies of it, attached in the order of their numbers,
 * make that rare; the first of them that runs for an event does the work. `event` tells apart what
 * a task does one after the other; the same again begins with a number that is not above the last.
 */
static __always_inline bool copy_is_first(struct task_state *state, __u64 event, __u32 number)
{
	bool first = state->copy_event != event || number <= state->copy_number;

	state->copy_event = event;
	state->copy_number = number;
	return first;
}

/* --- totals, exact: counted before anything can be lost --- */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, OP_TABLE_SIZE);
	__type(key, __u32);
	__type(value, struct op_total);
} op_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, EVENT_KIND_COUNT);
	__type(key, __u32);
	__type(value, struct kind_total);
} kind_totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, NOTE_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} notes SEC(".maps");

/* Adds to a counter of this CPU. */
static __always_inline void count_add(__u64 *counter, __u64 amount, bool preempted)
{
	if (preempted)
		__sync_fetch_and_add(counter, amount);
	else
		*counter += amount;
}

static __always_inline void note(__u32 which)
{
	__u64 *count = bpf_map_lookup_elem(&notes, &which);

	if (count)
		__sync_fetch_and_add(count, 1);
}

/* What a store, or a call that stores ahead of one, has made to be written back. */
static __always_inline void count_dirtied(__u32 pages)
{
	__u32 op = OP_DIRTIED;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	count_add(&total->count, 1, true);
	count_add(&total->bytes, pages * PAGE_BYTES, true);
}

#endif
