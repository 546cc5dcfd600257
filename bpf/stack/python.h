/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which processes run an interpreter of Python, and where. A process is set up here, when it
 * executes or maps a file whose name fits; the user side supplies only the layout, once per file,
 * so short-lived processes have stacks, too.
 */
#pragma once

#include "core/identity.h"
#include "core/pid.h"
#include "task/code.h"
#include "vmlinux/mm.h"

/* By file; filled by the user side, also for files that turned out to be no interpreters. Those not
 * used for long may be replaced: then they are asked for again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct code_file);
	__type(value, struct python_layout);
} python_files SEC(".maps");

/* By process. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct python_process);
} python_processes SEC(".maps");

/* Without branches: the verifier follows both sides of each. */
static __always_inline bool name_begins(const char *name, const char *with, const __u32 bytes)
{
	__u32 differ = 0;

#pragma unroll
	for (__u32 i = 0; i < bytes; i++)
		differ |= name[i] ^ with[i];
	return !differ;
}

/* Whether a file's name is that of an interpreter. If a program has mapped it, it is a library:
 * libpython3.11.so.1.0, but not libpython3.so, which only refers to it. Or the program is the
 * dynamic loader, which has been given the interpreter's path. */
static __always_inline bool python_may_be(const struct file *file, const bool mapped)
{
	struct dentry *dentry = KREAD(file, file, f_path.dentry);
	char name[16] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), KREAD(dentry, dentry, d_name.name));
	if (!mapped)
		return name_begins(name, "python", 6);
	return name_begins(name, "python3.", 8) ||
	       (name_begins(name, "libpython3.", 11) && name[11] != 's');
}

static __always_inline void python_mapping_fill(struct python_mapping *mapping,
						const struct file *file, __u64 address)
{
	struct address inode = { (__u64)KREAD(file, file, f_inode) };
	struct file_key key = {};

	file_key_of(&key, &inode);
	mapping->file.ino = key.ino;
	mapping->file.dev = inode_dev((struct inode *)inode.at);
	mapping->file.generation = key.generation;
	mapping->address = address;
}

/* Returns NULL if it is not known yet, or no longer. */
static __always_inline struct python_layout *python_layout_of(const struct python_mapping *mapping)
{
	struct code_file file = mapping->file; /* on the stack: see overlay_link */

	return bpf_map_lookup_elem(&python_files, &file);
}

/* Asks for the layout of a file unless it is known. Returns whether it has asked. */
static __always_inline bool python_ask(const struct python_mapping *mapping, __u64 bytes)
{
	struct code_file file = mapping->file;

	if (!mapping->address || python_layout_of(mapping))
		return false;
	code_send(mapping->address, bytes, &file);
	return true;
}

/* The current task has executed a program. */
static __always_inline void python_exec(const struct mm_struct *mm)
{
	__u32 process = bpf_get_current_task_btf()->tgid;
	struct file *program = KREAD(mm_struct, mm, exe_file);
	struct python_process made = {};

	bpf_map_delete_elem(&python_processes, &process);
	if (!program || !python_may_be(program, false))
		return;
	python_mapping_fill(&made.program, program,
			    KREAD(mm_struct, mm, start_code) & ~(PAGE_BYTES - 1));
	bpf_map_update_elem(&python_processes, &process, &made, BPF_ANY);
	python_ask(&made.program, PAGE_BYTES);
}

/* The current task has mapped code. Returns whether that was reported. Global because it is rarely
 * called. */
__noinline int python_map(__u64 address, __u64 bytes, const struct address *mapped)
{
	__u32 process = bpf_get_current_task_btf()->tgid;
	struct python_process made = {}, *known;

	if (!mapped || !mapped->at || !python_may_be((const struct file *)mapped->at, true))
		return 0;
	python_mapping_fill(&made.library, (const struct file *)mapped->at, address);
	known = bpf_map_lookup_elem(&python_processes, &process);
	if (!known)
		bpf_map_update_elem(&python_processes, &process, &made, BPF_ANY);
	else if (!known->library.address)
		known->library = made.library;
	return python_ask(&made.library, bytes);
}

#define PYTHON_ASK_AGAIN_NS 1000000000ull

/* Repeats unanswered requests, at most once a second. Global, for a frame of its own. */
__noinline int python_ask_again(__u32 pid)
{
	struct python_process *process = bpf_map_lookup_elem(&python_processes, &pid);
	__u64 now_ns = bpf_ktime_get_ns();

	if (!process || now_ns - process->asked_ns < PYTHON_ASK_AGAIN_NS)
		return 0;
	process->asked_ns = now_ns;
	python_ask(&process->program, PAGE_BYTES);
	python_ask(&process->library, PAGE_BYTES);
	return 0;
}

/* --- state of a thread --- */

#define PYTHON_THREADS_MAX 4096 /* of a process; new ones come first */

static __always_inline bool python_read(__u64 *value, __u64 address)
{
	return !bpf_probe_read_user(value, sizeof(*value), (void *)address);
}

/* The number by which the interpreter knows the current thread; 0: none. */
static __always_inline __u64 python_thread_number(const struct python_layout *layout)
{
	__u64 task = (__u64)bpf_get_current_task_btf(), pid;

	if (layout->flags & PYTHON_BY_THREAD_POINTER) {
#ifdef __TARGET_ARCH_x86
		return KREAD(task_struct, task, thread.fsbase);
#else
		return 0; /* not the thread pointer itself, but relative to it */
#endif
	}
	pid = (__u64)KREAD(task_struct, task, thread_pid);
	return pid ? pid_at_level(pid, KREAD(pid, pid, level)) : 0;
}

/* Reads which frame a thread is in; 0: none. */
static __always_inline bool python_read_frame(const struct python_layout *layout, __u64 thread,
					      __u64 *frame)
{
	return python_read(frame, thread + layout->thread_frame) &&
	       (layout->cframe_frame == PYTHON_NOWHERE ||
		python_read(frame, *frame + layout->cframe_frame));
}

struct python_threads_walk {
	const struct python_layout *layout;
	__u64 number; /* searched for */
	__u64 interpreter, thread;
	__u64 found; /* a state of the thread */
	__u64 frame; /* of that state */
	__u64 failed;
};

/* Fails if the memory cannot be read. */
static __always_inline long python_threads_fail(struct python_threads_walk *walk)
{
	walk->failed = 1;
	return 1;
}

static long python_threads_step(__u32 i, struct python_threads_walk *walk)
{
	const struct python_layout *layout = walk->layout;
	__u64 number;

	if (!walk->thread) { /* the next interpreter of the process */
		if (!python_read(&walk->interpreter, walk->interpreter + layout->interpreter_next))
			return python_threads_fail(walk);
		if (!walk->interpreter)
			return 1;
		if (!python_read(&walk->thread, walk->interpreter + layout->interpreter_threads))
			return python_threads_fail(walk);
		return 0;
	}
	if (!python_read(&number, walk->thread + layout->thread_id))
		return python_threads_fail(walk);
	if (number == walk->number) {
		walk->found = walk->thread;
		if (!python_read_frame(layout, walk->thread, &walk->frame))
			return python_threads_fail(walk);
		if (walk->frame)
			return 1;
	}
	if (!python_read(&walk->thread, walk->thread + layout->thread_next))
		return python_threads_fail(walk);
	return 0;
}
LOOP_STEP(python_threads_step)

/* Finds the interpreter's state of the current thread, from the address of _PyRuntime. Returns 0 or
 * TRACE_SAMPLE_*. A thread has a state in each subinterpreter that it has entered; the newest that
 * is in a frame is where it runs. */
__noinline int python_find_thread(struct task_state *state, const struct python_layout *layout,
				  __u64 runtime)
{
	struct python_threads_walk walk = {};
	__u64 number, frame, next = 0;

	if (!state || !layout)
		return TRACE_SAMPLE_NO_PYTHON;
	walk.number = python_thread_number(layout);
	if (!walk.number)
		return TRACE_SAMPLE_NO_THREAD;
	if (!python_read(&walk.interpreter, runtime + layout->runtime_interpreters))
		return TRACE_SAMPLE_UNREAD;
	if (!walk.interpreter) /* not started, or finalized */
		return TRACE_SAMPLE_NO_THREAD;
	if (!python_read(&next, walk.interpreter + layout->interpreter_next))
		return TRACE_SAMPLE_UNREAD;
	/* A state that was freed may still have its number, but no frame. */
	if (!next && state->stack.thread &&
	    python_read(&number, state->stack.thread + layout->thread_id) &&
	    number == walk.number && python_read_frame(layout, state->stack.thread, &frame) &&
	    frame)
		return 0;
	if (!python_read(&walk.thread, walk.interpreter + layout->interpreter_threads))
		return TRACE_SAMPLE_UNREAD;
	walk.layout = layout;
	LOOP(PYTHON_THREADS_MAX, python_threads_step, &walk);
	if (!walk.found && walk.failed)
		return TRACE_SAMPLE_UNREAD;
	if (!walk.found) /* after the last thread there is no other interpreter */
		return walk.interpreter ? TRACE_SAMPLE_MANY_THREADS : TRACE_SAMPLE_NO_THREAD;
	state->stack.thread = walk.found;
	return 0;
}
