/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state of a followed task, shared by all layers. What the task is doing is kept in accounts
 * (op_account.h): the call in flight, the fault in flight, and page-cache fills of other files.
 */
#pragma once

#include "core/loop.h"
#include "core/op_account.h"

/* A file whose id the task has looked up, with the address it was reached through: a struct file,
 * or the dentry of a working directory. Valid only while the address leads to the same inode, and
 * the inode has the same number and generation, on the same mount. */
struct known_file {
	__u64 address;
	__u64 inode;
	__u64 ino;
	__u64 mapping;
	__u32 generation;
	__u32 id;
	__u32 epoch;  /* the epoch when this was stored: see file.h */
	__u16 class;  /* FILE_CLASS_* */
	__u16 tagged; /* `generation` is a tag: see identity.h */
};

struct call_state {
	struct op_account account;
	__u64 file;	/* address: compared and read from, never trusted */
	__u64 mapping2; /* the file that a transfer writes */
	__u32 file2;	/* id of that file */
	__u32 number;
	__u32 fault_fetched_pages; /* of faults inside the call */
	__u32 major_start;	   /* the task's own count, for faults that appear nowhere else */
	__u32 major_seen;
	__u32 pad;
};

/* A call that a signal interrupted and that the kernel may restart, and what identifies the
 * restarted call. */
struct suspended_call {
	struct call_state call;
	__u64 end_ns;
	__u64 ip, sp;	 /* of the call in the program */
	__u32 major_end; /* the task's own count at end_ns */
	__u32 pad;
};

/* Whether a call is suspended. The kernel restarts it at once, or when its handler has returned:
 * only the next call may then be it. */
enum { SUSPENDED_NONE, SUSPENDED_HANDLER, SUSPENDED_RESUMES };

/* The account's mapping and offset are set when filemap_fault is reached. */
struct fault_state {
	struct op_account account;
	__u64 address;
	__u64 dirtied_mapping; /* page cache with the dirtied pages */
	__u64 cut_ns;	       /* when a signal reported the end; 0: none did */
	__u32 cut_is_certain;  /* that signal rules out a mere attempt */
	__u32 count_start;     /* the task's own counts of completed faults */
	__u32 major_start;
	__u32 pad;
};

/* Page-cache fills of a file other than the one that the operation in flight is about. */
struct other_fill_state {
	struct op_account account;
	__u32 during; /* operation in flight; 0: none */
	__u32 pad;
};

/* The last bio that the task has handed to a stacked device, if its completion function identifies
 * the file: see parent_bio.h. */
struct parent_bio {
	__u64 vector;	  /* its bio_vec array: only compared; 0: none */
	__s64 offset;	  /* in the file; -1: unknown */
	__u32 index;	  /* index of its first bio_vec, */
	__s32 done_bytes; /* and the bytes skipped in that one */
	__u32 file;
	__u32 flags; /* TRACE_BLOCK_* */
};

/* The address of an io_uring request, or of an iocb in the program's memory. */
struct async_key {
	__u64 mm; /* for an iocb */
	__u64 address;
};

/* The pages that an io_uring or libaio operation covers: see async_ranges.h. */
struct async_range {
	__u64 mapping;
	struct async_key key;
	__u64 first, last; /* page indexes */
};

/* State of a task that submits to io_uring or libaio. */
struct async_task {
	struct async_range range; /* the operation that last added pages */
	__u64 next;		  /* the next page after those */
	__u32 user;		  /* process known to have operations in flight */
	__u32 linked;		  /* the last one starts or continues a chain */
	__u32 writes;		  /* some operation has written */
	__u32 pad;
};

/* The time of a task in each state: see thread_times.h. */
struct thread_account {
	__u64 from_ns;	/* start of what `times` sum up */
	__u64 since_ns; /* end of it: when the task last left the CPU */
	__u64 in_ns;	/* when it got a CPU again; before since_ns: it has none */
	__u64 woken_ns; /* when its wait ended; before since_ns: it has not */
	__u64 cpu_ns;	/* the kernel's counts at since_ns */
	__u64 runnable_ns;
	__u64 user_ns, system_ns; /* at from_ns */
	__u64 ahead_ns;		  /* how far `times` is ahead of since_ns: the clocks differ */
	__u64 times[THREAD_STATE_COUNT];
	__u64 io_wait_ns, io_ns;
	__u32 waker_pid, waker_tid;
	__u32 state; /* since since_ns: of the wait, or RUNNABLE */
	__u32 flags; /* THREAD_* */
	__u32 call;  /* number of the call that it last waited in; WAIT_CALL_COUNT or above: none */
	__u32 owner_pid, owner_tid; /* of the lock that it last waited for; 0: unknown */
	__u32 pad;
};

#define THREAD_IN_IO (1u << 0) /* left the CPU inside a recorded I/O operation */
#define THREAD_NEW (1u << 1)   /* the kernel's counts may include time before since_ns */

/* What decides when the task's stack is taken: see stack/sample.h. */
struct stack_task {
	/* Time shorter than a period, and in no sample yet: in operations, and in other waits. */
	__u64 operations_ns, waits_ns;
	/* Waits in the system call or fault in flight, and the longest of them. */
	__u64 wait_start_ns, wait_ns, wait_longest_ns;
	__u64 before_fault_ns; /* of wait_ns, before the fault in flight */
	__u64 thread;	       /* the interpreter's state of the thread; only a hint */
	__u32 wait_state;
	__u32 walking;	/* programs that walk its stack: what they fault on is not the task's */
	__u32 ended_at; /* id of its stack when it ended its process; 0: it has not */
	__u32 sampled;	/* its operation in flight has a sample, at the end of the recording */
};

#define KNOWN_VMAS 4 /* a power of two */

/* Operations that may have been in flight when following began; cleared by the next one. */
#define BEFORE_CALL (1u << 0)
#define BEFORE_FAULT (1u << 1)

struct task_state {
	__u32 mode;	      /* enum task_mode */
	__u32 call_suspended; /* SUSPENDED_* */
	__u32 pid, tid;	      /* of the task */

	struct call_state call;
	__u32 known_next; /* entry to replace next, of the two */
	struct known_file known[2];
	struct fault_state fault;

	/* The mappings of the last faults (vma_of_fault), 0: none; the entry to replace next; the
	 * change count at which the mappings were found. */
	__u64 known_vmas[KNOWN_VMAS];
	__u32 known_vmas_next;
	__u32 known_vmas_sequence;

	/* The last event handled by copies of a program: see task_copy_is_first. */
	__u64 copy_event;
	__u32 copy_number;

	struct other_fill_state other_fill;
	struct suspended_call suspended;
	struct parent_bio parent_bio;
	struct async_task async;
	struct stack_task stack;

	/* For a task that was already running: BEFORE_*, and its fault counts at that time. */
	__u32 before;
	__u32 pad;
	__u64 major_before, minor_before;
	__u64 armed_ns; /* set by the iterator over tasks; 0: followed by other means */

	struct thread_account thread;
};

/* Whether a task is followed, enum task_mode. The user side arms the command. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, __u32);
} tasks SEC(".maps");

/*
 * Task states are kept in slots selected by thread id. A lookup, at each entry and exit of any
 * process's calls, takes a third of the time of a task-storage lookup. A task whose slot belongs to
 * another task has its state in task storage, and the slot's `overflow` is set from then on.
 */
#define TASK_SLOTS 4096		/* a power of two: about as many threads at once */
#define SLOT_REST_NS 1000000000 /* after the task's exit, which several programs handle */

struct task_slot {
	__u64 owner;	 /* address of the task, only compared; 0: free */
	__u64 exited_ns; /* when the owner exited; 0: still running */
	__u64 regs;	 /* address of its registers in a call: see call_places */
	__u32 tid;	 /* of the owner */
	__u32 overflow;
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
} overflow_states SEC(".maps");

/*
 * Finding the current task takes a kernel call at each entry and exit of any process's calls, and
 * such calls are expensive with return-speculation mitigations. But each program gets the address
 * of the call's registers, at the top of the task's stack, which is unique among living tasks. That
 * address selects the slot.
 */
#define CALL_SLOTS 8192	   /* a power of two */
#define CALL_SLOT_SHIFT 14 /* stacks are at least this large */

struct call_slot {
	__u64 regs;	/* only compared; 0: free */
	__u32 tid;	/* of the task, for its slot */
	__u32 overflow; /* tasks without an entry here may be followed, too */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CALL_SLOTS);
	__type(key, __u32);
	__type(value, struct call_slot);
} call_places SEC(".maps");

static __always_inline struct call_slot *call_slot(struct pt_regs *regs)
{
	__u32 key = lower_half((__u64)regs) >> CALL_SLOT_SHIFT & (CALL_SLOTS - 1);

	return bpf_map_lookup_elem(&call_places, &key);
}

static __always_inline struct task_slot *task_slot(__u32 tid)
{
	__u32 key = tid & (TASK_SLOTS - 1);

	return bpf_map_lookup_elem(&task_slots, &key);
}

static __always_inline bool task_slot_matches(const struct task_slot *slot,
					      struct task_struct *task, __u32 tid)
{
	return slot->owner == (__u64)task && slot->tid == tid;
}

/* Returns the state of a task that is or was followed, or NULL. */
static __always_inline struct task_state *task_state(struct task_struct *task)
{
	struct task_slot *slot = task_slot(task->pid);

	if (!slot)
		return NULL;
	if (task_slot_matches(slot, task, task->pid))
		return &slot->state;
	return slot->overflow ? bpf_task_storage_get(&overflow_states, task, 0, 0) : NULL;
}

/* Returns the state of a task that is followed now, or NULL. When attached, all following stops at
 * once when the recording ends, because the programs are detached one by one. */
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

/* The task that makes a call. */
struct caller {
	struct task_struct *task;
	struct task_state *state; /* NULL if the task is not followed now */
};

/*
 * Finds the caller by the registers of its call. `nonpreemptible` requires a kernel that does not
 * preempt the programs that count calls, so that no exit of a task is missed, and that can cast an
 * address to a task. The stack of an exited task may belong to another task, but then the slot's
 * owner is gone.
 */
static __always_inline void caller_find(struct caller *caller, struct pt_regs *regs,
					const bool nonpreemptible)
{
	struct task_struct *task;

	caller->state = NULL;
	if (nonpreemptible) {
		struct call_slot *entry = call_slot(regs);

		if (!entry)
			return;
		if (entry->regs == (__u64)regs) {
			struct task_slot *slot = task_slot(entry->tid);

			if (slot && slot->regs == (__u64)regs) {
				if (slot->state.mode != TASK_FOLLOWED ||
				    (attach_to && recording_ended))
					return;
				caller->task = KTASK(slot->owner);
				caller->state = &slot->state;
				return;
			}
		} else if (!entry->overflow) {
			return;
		}
	}
	task = bpf_get_current_task_btf();
	caller->task = nonpreemptible ? KTASK(task) : task;
	caller->state = task_followed(task);
}

/*
 * If the kernel preempts a program at a tracepoint, it skips that program for every other task on
 * the CPU until the program has finished. Copies of the program, attached in the order of their
 * numbers, make that rare; the first copy to run for an event does the work. `event` distinguishes
 * consecutive events of a task; a repeated event starts with a number that is not above the last
 * one.
 */
static __always_inline bool task_copy_is_first(struct task_state *state, __u64 event, __u32 number)
{
	bool first = state->copy_event != event || number <= state->copy_number;

	state->copy_event = event;
	state->copy_number = number;
	return first;
}

/*
 * A program and its copies NAME_2 and NAME_3. Each evaluates `work`, in which `copy` is 0 to 2; the
 * remaining arguments are the tracepoint's. The probe table says when copies are loaded.
 */
#define COPIED_PROGRAM(section, name, work, ...)                                                   \
	PROGRAM_COPY(section, name, 0, work, __VA_ARGS__)                                          \
	PROGRAM_COPY(section, name##_2, 1, work, __VA_ARGS__)                                      \
	PROGRAM_COPY(section, name##_3, 2, work, __VA_ARGS__)
#define PROGRAM_COPY(section, name, number, work, ...)                                             \
	SEC(section)                                                                               \
	int BPF_PROG(name, __VA_ARGS__)                                                            \
	{                                                                                          \
		const __u32 copy __attribute__((unused)) = number;                                 \
                                                                                                   \
		return work;                                                                       \
	}
