/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What every layer shares: the state of a followed task. What the task is doing is an account each
 * (account.h): the call in flight, the fault in flight, what is set aside for them.
 */
#ifndef FAULTLINE_BPF_STATE_H
#define FAULTLINE_BPF_STATE_H

#include "account.h"

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
	__u32 turn;    /* when this was stored: see file.h */
	__u16 class;   /* FILE_CLASS_* */
	__u16 derived; /* its generation is: see identity.h */
};

struct call_state {
	struct account account;
	__u64 file;	/* its address: compared and read from, never trusted */
	__u64 mapping2; /* of the file that a transfer writes */
	__u32 file2;	/* its id */
	__u32 number;
	__u32 fault_fetched_pages; /* of the faults in it */
	__u32 major_start;	   /* the task's own count, for faults that show nowhere else */
	__u32 major_seen;
	__u32 pad;
};

/* A call that a signal interrupted and that the kernel may make again, and what tells whether it is
 * this call that goes on. */
struct suspended_call {
	struct call_state call;
	__u64 end_ns;
	__u64 ip, sp; /* of the call in the program */
};

/* Its account's mapping and offset are set once filemap_fault is reached. */
struct fault_state {
	struct account account;
	__u64 address;
	__u64 dirtied_mapping; /* whose pages are dirtied */
	__u64 cut_ns;	       /* when a signal said that it ended; 0: none did */
	__u32 cut_for_sure;    /* by that signal, not by what it was an attempt for */
	__u32 count_start;     /* the task's own counts of faults that are done */
	__u32 major_start;
	__u32 pad;
};

/* Pages of a file that is not the operation's in flight, which they came on account of. */
struct aside_state {
	struct account account;
	__u32 during; /* the operation in flight; 0: none */
	__u32 pad;
};

/* The last bio that the task has handed to a device which lies on others, as far as its end tells
 * its file: see above.h. */
struct bio_above {
	__u64 vector; /* its list of memory: compared only; 0: there is none */
	__s64 offset; /* in the file; -1: not known */
	__u32 index;  /* where it began in the list, */
	__s32 into;   /* and in that stretch */
	__u32 file;
	__u32 flags; /* TRACE_BLOCK_* */
};

/* A request of io_uring by its address; an iocb by its address in the program's memory. */
struct async_key {
	__u64 mm; /* of an iocb */
	__u64 address;
};

/* The pages that an operation of io_uring or libaio is about: see async_ranges.h. */
struct async_range {
	__u64 mapping;
	struct async_key key;
	__u64 first, last; /* pages */
};

/* What is kept of a task that submits to io_uring, or to libaio. */
struct async_task {
	struct async_range range; /* of the operation whose pages came in last */
	__u64 next;		  /* the page behind them */
	__u32 user;		  /* the process that is known to have operations in flight */
	__u32 linked;		  /* the last one begins or continues a chain */
	__u32 writes;		  /* any of them has written */
	__u32 pad;
};

#define KNOWN_VMAS 4 /* a power of two */

/* What a task may have begun before it was followed, until it begins another one. */
#define BEFORE_CALL (1u << 0)
#define BEFORE_FAULT (1u << 1)

struct task_state {
	__u32 mode;	      /* enum task_mode */
	__u32 call_suspended; /* `suspended` holds a call */
	__u32 pid, tid;	      /* the task's */

	struct call_state call;
	__u32 known_next; /* the one that goes next, of the two */
	struct known_file known[2];
	struct fault_state fault;

	/* The mappings of the last faults (vma_of_fault), 0: none; the one to go next; the count of
	 * changes that they were found at. */
	__u64 known_vmas[KNOWN_VMAS];
	__u32 known_vmas_next;
	__u32 known_vmas_sequence;

	/* The last event of which copies of a program ran: see copy_is_first. */
	__u64 copy_event;
	__u32 copy_number;

	struct aside_state aside;
	struct suspended_call suspended;
	struct bio_above above;
	struct async_task async;

	/* Of one that ran already: BEFORE_*, and its counts of faults then. */
	__u32 before;
	__u32 pad;
	__u64 major_before, minor_before;
	__u64 armed_ns; /* by the iterator over tasks; 0: by something else */
};

/* Whether a task is followed, enum task_mode; the user side arms the command. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} tasks SEC(".maps");

/*
 * The states of tasks stand in slots by thread id: to find one there, or none, takes a third of the
 * time that storage of the task takes, at each entry and exit of a call of any process. A task
 * whose slot is another's has its state in storage; for the slot is crowded from then on.
 */
#define TASK_SLOTS 4096		/* a power of two: threads at a time, about */
#define SLOT_REST_NS 1000000000 /* after the end of its task, which several programs look at */

struct task_slot {
	__u64 owner;   /* address of the task, compared only; 0: nobody's */
	__u64 left_ns; /* when the owner ended; 0: it has not */
	__u64 regs;    /* where its registers stand in a call: see call_places */
	__u32 tid;     /* the owner's */
	__u32 crowded;
	struct task_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TASK_SLOTS);
	__type(key, __u32);
	__type(value, struct task_slot);
} task_slots SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_state);
} crowded_states SEC(".maps");

/*
 * To ask who runs takes a call of the kernel's, at each entry and exit of a call of any process,
 * and calls are dear where returns are guarded. But each program is told where the registers of the
 * call stand: on top of the task's stack, where no other living task's are. So that tells the slot.
 */
#define CALL_PLACES 8192    /* a power of two */
#define CALL_PLACE_SHIFT 14 /* stacks are as large, or larger */

struct call_place {
	__u64 regs; /* compared only; 0: nobody's */
	__u32 slot;
	__u32 crowded; /* tasks that it does not tell of may be followed, too */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_PLACES);
	__type(key, __u32);
	__type(value, struct call_place);
} call_places SEC(".maps");

static __always_inline struct call_place *call_place(struct pt_regs *regs)
{
	__u32 key = lower_half((__u64)regs) >> CALL_PLACE_SHIFT & (CALL_PLACES - 1);

	return bpf_map_lookup_elem(&call_places, &key);
}

static __always_inline struct task_slot *task_slot(__u32 tid)
{
	__u32 key = tid & (TASK_SLOTS - 1);

	return bpf_map_lookup_elem(&task_slots, &key);
}

static __always_inline bool slot_is_of(const struct task_slot *slot, struct task_struct *task,
				       __u32 tid)
{
	return slot->owner == (__u64)task && slot->tid == tid;
}

/* The state of a task that is or was followed, or NULL. */
static __always_inline struct task_state *task_state(struct task_struct *task)
{
	struct task_slot *slot = task_slot(task->pid);

	if (!slot)
		return NULL;
	if (slot_is_of(slot, task, task->pid))
		return &slot->state;
	return slot->crowded ? bpf_task_storage_get(&crowded_states, task, 0, 0) : NULL;
}

/* The state of a task that is followed now, or NULL. What goes on while the recording ends is
 * followed by nobody, at once: programs are detached one after the other. */
static __always_inline struct task_state *task_followed(struct task_struct *task)
{
	struct task_state *state;

	if (attach_to && recording_ended)
		return NULL;
	state = task_state(task);

	if (!state || state->mode != TASK_FOLLOWED)
		return NULL;
	return state;
}

/* Who makes a call. */
struct caller {
	struct task_struct *task;
	struct task_state *state; /* of a task that is followed now, or NULL */
};

/*
 * By the registers of the call; `quick` where the kernel preempts no program that counts calls, so
 * that no end of a task is missed, and takes an address for a task. A stack of a task that has
 * ended may be another one's already, but then the slot's owner has left.
 */
static __always_inline void caller_find(struct caller *caller, struct pt_regs *regs,
					const bool quick)
{
	struct task_struct *task;

	caller->state = NULL;
	if (quick) {
		struct call_place *place = call_place(regs);

		if (!place)
			return;
		if (place->regs == (__u64)regs) {
			struct task_slot *slot = task_slot(place->slot);

			if (slot && slot->regs == (__u64)regs) {
				if (slot->state.mode != TASK_FOLLOWED ||
				    (attach_to && recording_ended))
					return;
				caller->task = KTASK(slot->owner);
				caller->state = &slot->state;
				return;
			}
		} else if (!place->crowded) {
			return;
		}
	}
	task = bpf_get_current_task_btf();
	caller->task = quick ? KTASK(task) : task;
	caller->state = task_followed(task);
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

#endif
