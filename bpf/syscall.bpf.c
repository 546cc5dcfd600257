// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * System calls that touch files, decoded by the table of calls. Knows no call by its number.
 *
 * The file is looked up at the entry, because the descriptor may be closed or reused before the
 * exit; everything else is read at the exit, when the arguments still stand in their registers and
 * the strings that they point to are in memory.
 *
 * Plain calls (CALL_PLAIN) on files that the task knows are done by the programs themselves, all
 * others by global functions.
 */
#include "code.h"
#include "fault.h"
#include "vmlinux/ptrace.h"
#include "vmlinux/trace.h"

#define AT_FDCWD (-100)
#define MAP_SHARED_OR_VALIDATE 0x3 /* MAP_SHARED 1, MAP_PRIVATE 2, MAP_SHARED_VALIDATE 3 */
#define MAP_PRIVATE 0x2
#define MAP_ANONYMOUS 0x20
#define MAP_POPULATE 0x8000
#define PROT_WRITE 0x2
#define PROT_EXEC 0x4
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#define EINTR 4
#define ERESTART_FIRST 512 /* ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND */
#define ERESTART_COUNT 3
#define IORING_SETUP_SQPOLL 0x2
#define IORING_PARAMS_FLAGS 8 /* where a struct io_uring_params has them */

struct user_iovec {
	__u64 base, length;
};

/* --- arguments --- */

static __always_inline struct call_row call_row(__u32 number)
{
	return *(const struct call_row *)&calls[number & (CALL_TABLE_SIZE - 1)];
}

/* The arguments by their numbers, which count from 1, for the functions that any call may need. */
struct call_args {
	__u64 at[8];
};

static __always_inline void call_args_read(struct call_args *args, struct pt_regs *regs)
{
	*args = (struct call_args) { { 0, SYSCALL_ARG0(regs), SYSCALL_ARG1(regs),
				       SYSCALL_ARG2(regs), SYSCALL_ARG3(regs), SYSCALL_ARG4(regs),
				       SYSCALL_ARG5(regs) } };
}

static __always_inline __u64 call_arg(const struct call_args *args, __u32 number)
{
	return args->at[number & 7];
}

/* Where the row of a request stands, counted from 1; 0: it has none. */
__noinline __u32 request_find(__u32 number, __u32 request)
{
	for (__u32 i = 0; i < CALL_REQUESTS; i++)
		if (requests[i].number == number && requests[i].request == request)
			return i + 1;
	return 0;
}

/* The row of a call that is many, by what its argument asks for; one with op 0 where that is not
 * recorded. */
static __always_inline struct call_row request_row(struct call_row row, __u32 number,
						   const struct call_args *args)
{
	__u32 request = call_arg(args, row.request), found;

	if (row.traits & CALL_RING) {
		__u32 flags = 0;

		bpf_probe_read_user(&flags, sizeof(flags),
				    (void *)call_arg(args, row.request) + IORING_PARAMS_FLAGS);
		request = flags & IORING_SETUP_SQPOLL;
	}
	row.op = 0;
	found = request_find(number, request) - 1;
	if (found < CALL_REQUESTS)
		row = *(const struct call_row *)&requests[found].row;
	return row;
}

static __always_inline bool in_compat_call(struct task_struct *task)
{
#ifdef __TARGET_ARCH_x86
	return task->thread_info.status & X86_TS_COMPAT;
#else
	return task->thread_info.flags & ARM64_TIF_32BIT;
#endif
}

struct vector_sum {
	__u64 address, bytes;
};

static long vector_step(__u32 i, struct vector_sum *sum)
{
	struct user_iovec entry;

	if (bpf_probe_read_user(&entry, sizeof(entry), (void *)(sum->address + i * sizeof(entry))))
		return 1;
	sum->bytes += entry.length;
	return 0;
}

static __noinline __u64 vector_bytes(__u64 address, __u32 count)
{
	struct vector_sum sum = { .address = address };

	bpf_loop(count > 1024 ? 1024 : count, vector_step, &sum, 0);
	return sum.bytes;
}

/* --- entry --- */

static __always_inline __u32 open_flags(__u32 flags)
{
	return (flags & O_DIRECT ? TRACE_OP_DIRECT : 0) | (flags & O_APPEND ? TRACE_OP_APPEND : 0) |
	       (flags & O_DSYNC ? TRACE_OP_SYNC : 0);
}

/* Takes the file at `address`, which the task does not remember or which is to be looked at anew.
 * False when its kind is not recorded. */
__noinline int call_meet_file(struct task_state *state, struct address *address, bool refresh)
{
	struct file_facts facts = {};
	struct inode *inode;
	struct file *file;
	__u32 id;

	if (!state || !address)
		return 0;
	file = (struct file *)address->at;
	inode = KREAD(file, file, f_inode);
	if (!(file_class(inode) & file_classes))
		return 0;
	file_facts_of(file, &facts);
	id = file_id(&facts, refresh);
	state->call_file_id = id & ~FILE_UNTOLD;
	state->call_mapping = file_mapping(file, inode);
	if (!(id & FILE_UNTOLD))
		file_remember(state, address->at, inode, state->call_mapping, state->call_file_id);
	return 1;
}

/* Takes `file` as the file of the call in flight; false when its kind is not recorded. `refresh`
 * looks whether its name or size has changed. */
static __always_inline bool call_take_file(struct task_state *state, struct file *file,
					   bool refresh)
{
	struct inode *inode = KREAD(file, file, f_inode);
	struct known_file *known = refresh ? NULL : file_known(state, (__u64)file, inode);

	if (known) {
		if (!(known->class & file_classes))
			return false;
		state->call_file_id = known->id;
		state->call_mapping = known->mapping;
	} else {
		struct address address = { (__u64)file };

		if (!call_meet_file(state, &address, refresh))
			return false;
	}
	state->call_file = (__u64)file;
	state->call_flags |= open_flags(KREAD(file, file, f_flags));
	if (!KREAD(inode, inode, i_nlink))
		state->call_flags |= TRACE_OP_UNLINKED;
	return true;
}

/* The file a descriptor stands for; false when its kind is not recorded. */
static __always_inline bool call_take_fd(struct task_state *state, struct task_struct *task,
					 __u32 fd, bool refresh)
{
	struct file *file = file_of_fd(task, fd);

	if (!file) {
		state->call_flags |= TRACE_OP_NO_FILE;
		return true;
	}
	return call_take_file(state, file, refresh);
}

/* The same for what any call needs. */
__noinline int call_take_any_file(struct task_state *state, struct address *address)
{
	return state && address ? call_take_file(state, (struct file *)address->at, false) : 0;
}

__noinline int call_take_any_fd(struct task_state *state, __u32 fd, bool refresh)
{
	return state ? call_take_fd(state, bpf_get_current_task_btf(), fd, refresh) : 0;
}

/* The file of a plain call. A close is the last look at a file that was written: what its size has
 * come to. */
static __always_inline bool enter_plain(struct task_state *state, struct task_struct *task,
					__u32 traits, __u32 fd)
{
	struct file *file = file_of_fd(task, fd);

	if (!file) {
		state->call_flags = TRACE_OP_NO_FILE;
		return true;
	}
	return call_take_file(state, file,
			      traits & CALL_CLOSES && KREAD(file, file, f_mode) & FMODE_WRITE);
}

/* The files of any call. Returns its operation, 0 when it or their kind is not recorded. */
__noinline int enter_any(struct task_state *state, struct call_args *args, __u32 number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_row row = call_row(number);

	if (!state || !args)
		return 0;
	if (row.traits & CALL_REQUEST) {
		row = request_row(row, number, args);
		if (!row.op)
			return 0;
	}
	if (row.traits & CALL_TRANSFER) {
		bool wanted = file_of_fd(task, call_arg(args, row.fd2)) &&
			      call_take_any_fd(state, call_arg(args, row.fd2), false);

		/* Recorded when either end is of a recorded kind. */
		state->call_file2_id = state->call_file_id;
		state->call_mapping2 = state->call_mapping;
		state->call_file_id = 0;
		state->call_flags = 0;
		state->call_file = 0;
		state->call_mapping = 0;
		return call_take_any_fd(state, call_arg(args, row.fd), false) || wanted ? row.op
											: 0;
	}
	if (row.traits & CALL_MAP) {
		struct vm_area_struct *vma = vma_find(call_arg(args, 1));
		struct address file = { vma ? (__u64)KREAD(vm_area_struct, vma, vm_file) : 0 };

		if (file.at)
			call_take_any_file(state, &file);
		return row.op;
	}
	if (row.traits & CALL_MMAP) {
		if (!(call_arg(args, 4) & MAP_ANONYMOUS))
			call_take_any_fd(state, call_arg(args, row.fd), false);
		return row.op;
	}
	return call_take_any_fd(state, call_arg(args, row.fd), false) ? row.op : 0;
}

static __always_inline void count_undecoded(struct task_struct *task)
{
	__u32 op = OP_UNDECODED;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (total && task_followed(task))
		count_add(&total->count, 1, calls_preempted);
}

/* --- calls that do not end as they begin --- */

/* Counts a call whose end was not seen: of its result and its time nothing is known. */
__noinline int call_left(struct task_state *state)
{
	struct op_total *total;
	__u32 op;

	if (!state)
		return 0;
	op = state->call_op;
	total = bpf_map_lookup_elem(&op_totals, &op);
	if (total)
		count_add(&total->count, 1, calls_preempted);
	ring_lose(EVENT_SYSCALL);
	state->call_op = 0;
	state->call_mapping = 0;
	return 0;
}

/*
 * A signal interrupted the call in flight. The kernel makes it again, once the signal's handler has
 * returned, or gives EINTR to the program: only what follows tells. Returns 0 when the place is
 * taken by a call that is further out, made before the handler that made this one.
 */
__noinline int call_suspend(struct task_state *state, __u64 ip, __u64 sp)
{
	if (!state || state->call_suspended)
		return 0;
	__builtin_memcpy(state->suspended.words, &state->call_start_ns,
			 sizeof(state->suspended.words));
	state->suspended.end_ns = bpf_ktime_get_ns();
	state->suspended.ip = ip;
	state->suspended.sp = sp;
	state->suspended.op = state->call_op;
	state->suspended.number = state->call_number;
	state->call_suspended = 1;
	state->call_op = 0;
	state->call_mapping = 0;
	return 1;
}

static __always_inline void call_restore(struct task_state *state)
{
	__builtin_memcpy(&state->call_start_ns, state->suspended.words,
			 sizeof(state->suspended.words));
	state->call_op = state->suspended.op;
	state->call_number = state->suspended.number;
	state->call_suspended = 0;
}

/* The call that has just begun may be the suspended one, made again. */
__noinline int call_continue(struct task_state *state, __u64 ip, __u64 sp)
{
	if (!state || state->suspended.number != state->call_number || state->suspended.ip != ip ||
	    state->suspended.sp != sp)
		return 0;
	call_restore(state);
	return 1;
}

/* A handler has returned to where the suspended call was made; true when that ended so. */
__noinline int call_interrupted(struct task_state *state, __u64 ip, __u64 sp, __s64 result)
{
	if (!state || state->suspended.ip != ip || state->suspended.sp != sp || result != -EINTR)
		return 0;
	call_restore(state);
	return 1;
}

static __always_inline int entered(struct pt_regs *regs, long number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state;
	struct call_row row;

	if (in_compat_call(task)) {
		count_undecoded(task);
		return 0;
	}
	if ((unsigned long)number >= CALL_TABLE_SIZE)
		return 0;
	row = call_row(number);
	if (!row.op)
		return 0;
	state = task_followed(task);
	if (!state)
		return 0;
	if (state->call_op)
		call_left(state);

	state->call_file = 0;
	state->call_mapping = 0;
	state->call_file_id = 0;
	state->call_file2_id = 0;
	state->call_flags = 0;
	state->call_fetched_pages = 0;
	state->call_created_pages = 0;
	state->call_dirtied_pages = 0;
	state->call_fault_fetched_pages = 0;
	state->call_major_seen = 0;
	state->call_major_start = task->maj_flt;
	if (state->fault_start_ns)
		fault_settle(state, 0, false);
	if (row.traits & CALL_PLAIN) {
		if (!enter_plain(state, task, row.traits, SYSCALL_ARG0(regs)))
			return 0;
	} else if (row.fd && !row.path) {
		struct call_args args;

		call_args_read(&args, regs);
		row.op = enter_any(state, &args, number);
		if (!row.op)
			return 0;
	}
	state->call_op = row.op;
	state->call_number = number;
	state->call_start_ns = bpf_ktime_get_ns();
	if (state->call_suspended)
		call_continue(state, REGS_IP(regs), REGS_SP(regs));
	return 0;
}

/* --- exit --- */

struct call_end {
	struct call_row row;
	__u64 now_ns;
	__s64 result;
	__s64 offset;
	__u64 asked;
};

static __always_inline bool has_position(struct task_state *state)
{
	struct inode *inode = KREAD(file, state->call_file, f_inode);
	__u32 type = KREAD(inode, inode, i_mode) & S_IFMT;

	return type == S_IFREG || type == S_IFBLK;
}

/* The file position before the call, where it has moved that, or -1. It is read at the exit, less
 * what was moved: at the entry it may be another thread's turn with the same descriptor. */
static __always_inline __s64 file_offset(struct task_state *state, struct call_end *end)
{
	if (!(end->row.traits & CALL_FPOS) || !state->call_file || !has_position(state))
		return -1;
	return KREAD(file, state->call_file, f_pos) - (end->result > 0 ? end->result : 0);
}

/* Where the call read or wrote. */
__noinline int exit_offset(struct task_state *state, struct call_end *end, struct call_args *args)
{
	const struct call_row *row = &end->row;
	__u32 traits;

	if (!state || !end || !args)
		return 0;
	traits = row->traits;
	end->offset = -1;
	if (traits & CALL_SEEK) {
		if (end->result >= 0)
			end->offset = end->result;
		return 0;
	}
	if (traits & CALL_OFFSET_PTR) {
		__u64 pointer = call_arg(args, row->offset);

		if (pointer) {
			__s64 after;

			if (!bpf_probe_read_user(&after, sizeof(after), (void *)pointer))
				end->offset = after - (end->result > 0 ? end->result : 0);
			return 0;
		}
	} else if (row->offset) {
		end->offset = call_arg(args, row->offset);
		if (end->offset != -1 || !(traits & CALL_FPOS))
			return 0;
	}
	end->offset = file_offset(state, end);
	return 0;
}

static __always_inline void exit_asked(struct call_end *end, struct call_args *args)
{
	const struct call_row *row = &end->row;

	end->asked = 0;
	if (row->traits & CALL_OPEN_FLAGS)
		return;
	if (row->traits & CALL_VECTOR)
		end->asked =
			vector_bytes(call_arg(args, row->length), call_arg(args, row->length + 1));
	else if (row->length)
		end->asked = call_arg(args, row->length);
}

__noinline int exit_flags(struct task_state *state, struct call_end *end, struct call_args *args)
{
	__u32 traits, flags = 0;

	if (!state || !end || !args)
		return 0;
	traits = end->row.traits;
	if (traits & (CALL_OPEN_FLAGS | CALL_OPEN_HOW)) {
		__u64 given = call_arg(args, end->row.length);

		if (traits & CALL_OPEN_HOW) {
			__u64 how = 0;

			bpf_probe_read_user(&how, sizeof(how), (void *)call_arg(args, 3));
			given = how;
		}
		flags = open_flags(given) | (given & O_ACCMODE ? TRACE_OP_WRITABLE : 0) |
			(given & O_CREAT ? TRACE_OP_CREATE : 0) |
			(given & O_TRUNC ? TRACE_OP_TRUNCATE : 0);
	} else if (traits & CALL_MMAP) {
		__u64 map_flags = call_arg(args, 4);

		if ((map_flags & MAP_SHARED_OR_VALIDATE) != MAP_PRIVATE)
			flags |= TRACE_OP_SHARED;
		if (map_flags & MAP_POPULATE)
			flags |= TRACE_OP_POPULATE;
		if (call_arg(args, 3) & PROT_WRITE)
			flags |= TRACE_OP_WRITABLE;
		if (call_arg(args, 3) & PROT_EXEC)
			flags |= TRACE_OP_EXECUTABLE;
	} else if (traits & CALL_MADVISE) {
		__u64 advice = call_arg(args, 3);

		if (advice == MADV_POPULATE_READ || advice == MADV_POPULATE_WRITE)
			flags |= TRACE_OP_POPULATE;
	}
	state->call_flags |= flags;
	return 0;
}

static __always_inline void count_call(struct task_state *state, struct call_end *end)
{
	__u32 op = end->row.op;
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (!total)
		return;
	count_add(&total->count, 1, calls_preempted);
	count_add(&total->time_ns, end->now_ns - state->call_start_ns, calls_preempted);
	if (state->call_fetched_pages)
		count_add(&total->fetched_pages, state->call_fetched_pages, calls_preempted);
	if (state->call_created_pages)
		count_add(&total->created_pages, state->call_created_pages, calls_preempted);
	if (state->call_dirtied_pages)
		count_dirtied(state->call_dirtied_pages);
	if (end->result < 0 && end->result >= -4095)
		count_add(&total->errors, 1, calls_preempted);
	else if (end->row.traits & CALL_BYTES)
		count_add(&total->bytes, end->result, calls_preempted);
}

static __always_inline void count_submissions(__u32 op, __u64 submissions)
{
	struct op_total *total = bpf_map_lookup_elem(&op_totals, &op);

	if (total)
		count_add(&total->submissions, submissions, calls_preempted);
}

static __always_inline void fill_call(struct event_syscall *event, struct task_state *state,
				      struct task_struct *task, struct call_end *end)
{
	event->header.time_ns = state->call_start_ns;
	event->duration_ns = end->now_ns - state->call_start_ns;
	event->offset = end->offset;
	event->asked_bytes = end->asked;
	event->result = end->result;
	event->file = state->call_file_id;
	event->op = end->row.op;
	event->flags = state->call_flags;
	event->fetched_pages = state->call_fetched_pages;
	event->fault_fetched_pages = state->call_fault_fetched_pages;
	event->major_faults =
		(__u32)task->maj_flt - state->call_major_start - state->call_major_seen;
	event->created_pages = state->call_created_pages;
	event->dirtied_pages = state->call_dirtied_pages;
	event->pad = 0;
}

/* A call that has no room in a slot. */
__noinline int send_wide_call(struct task_state *state, struct call_end *end)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_syscall *event;

	if (!state || !end)
		return 0;
	event = ring_reserve(EVENT_SYSCALL, sizeof(*event), task);
	if (!event)
		return 0;
	fill_call(event, state, task, end);
	ring_submit(event);
	return 0;
}

static __always_inline void send_call(struct task_state *state, struct task_struct *task,
				      struct call_end *end)
{
	__u64 duration_ns = end->now_ns - state->call_start_ns;
	struct lane_place place;
	struct lane_call *call;

	if (duration_ns >> 32 || state->call_fault_fetched_pages || state->call_dirtied_pages ||
	    (state->call_fetched_pages | state->call_created_pages) >> 16 ||
	    (__u32)task->maj_flt != state->call_major_start + state->call_major_seen) {
		send_wide_call(state, end);
		return;
	}
	if (!lane_take(&place, EVENT_SYSCALL))
		return;
	call = &place.slot->call;
	call->time_ns = state->call_start_ns;
	call->offset = end->offset;
	call->asked_bytes = end->asked;
	call->result = end->result;
	call->pid = task->tgid;
	call->tid = task->pid;
	call->file = state->call_file_id;
	call->duration_ns = duration_ns;
	call->op = end->row.op;
	call->flags = state->call_flags;
	call->fetched_pages = state->call_fetched_pages;
	call->created_pages = state->call_created_pages;
	lane_give(&place);
}

/* --- calls that name a path --- */

/* The directory that a path is relative to: 0 for an absolute one, or when it is not known. */
static __always_inline __u32 dir_id(struct task_state *state, struct task_struct *task,
				    struct call_args *args, __u32 argument, char first)
{
	struct file_facts facts = {};
	struct fs_struct *fs = task->fs;
	struct known_file *known;
	int fd = AT_FDCWD;
	__u32 id;

	if (first == '/')
		return 0;
	if (argument)
		fd = call_arg(args, argument);
	if (fd != AT_FDCWD) {
		struct file *file = file_of_fd(task, fd);

		return file ? file_id_of(state, file) : 0;
	}
	if (!fs)
		return 0;
	facts.mnt = fs->pwd.mnt;
	facts.dentry = fs->pwd.dentry;
	facts.inode = KREAD(dentry, facts.dentry, d_inode);
	if (!facts.inode)
		return 0;
	known = file_known(state, (__u64)facts.dentry, facts.inode);
	if (known)
		return known->id;
	id = file_id(&facts, false);
	if (!(id & FILE_UNTOLD))
		file_remember(state, (__u64)facts.dentry, facts.inode, 0, id);
	return id & ~FILE_UNTOLD;
}

/* Reads a path behind what the record holds so far; the number of its bytes without the NUL. */
static __always_inline __u32 read_path(struct event_syscall_path *event, __u32 at, __u64 pointer)
{
	long bytes = bpf_probe_read_user_str(event->text + (at & (EVENT_PATH_BYTES - 1)),
					     EVENT_PATH_BYTES, (void *)pointer);

	if (bytes <= 0 || bytes == EVENT_PATH_BYTES)
		event->call.flags |= TRACE_OP_PATH_CUT;
	return bytes > 0 ? bytes - 1 : 0;
}

__noinline int send_path_call(struct task_state *state, struct call_end *end,
			      struct call_args *args)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct call_row *row = &end->row;
	struct event_syscall_path *event;
	__u64 bytes;

	if (!state || !end || !args)
		return 0;
	event = scratch_get();
	if (!event) {
		ring_lose(EVENT_SYSCALL_PATH);
		return 0;
	}
	fill_call(&event->call, state, task, end);
	event->file2 = state->call_file2_id;
	event->dir = 0;
	event->dir2 = 0;
	event->path_bytes = 0;
	event->path2_bytes = 0;
	if (row->path) {
		event->path_bytes = read_path(event, 0, call_arg(args, row->path));
		event->dir = dir_id(state, task, args, row->path_dir, event->text[0]);
	}
	bytes = event->path_bytes;
	if (row->path2) {
		__u32 at = bytes & (EVENT_PATH_BYTES - 1);

		event->path2_bytes = read_path(event, at, call_arg(args, row->path2));
		event->dir2 = dir_id(state, task, args, row->path2_dir, event->text[at]);
		bytes += event->path2_bytes;
	}
	BARRIER_VAR(bytes);
	if (bytes > 2 * EVENT_PATH_BYTES)
		bytes = 2 * EVENT_PATH_BYTES;
	ring_output(&event->call.header, EVENT_SYSCALL_PATH, state->call_start_ns,
		    sizeof(*event) + bytes, task);
	scratch_put(event);
	return 0;
}

/* The program that the task runs now. */
static __always_inline bool take_program(struct task_state *state)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct address file = { (__u64)KREAD(mm_struct, mm, exe_file) };

	return !file.at || call_take_any_file(state, &file);
}

/*
 * A call that names a path is about a file when the path is empty (fstat by another name: the file
 * is the directory descriptor's), or when it opened one. False when it must not be recorded.
 */
static __always_inline bool path_call_file(struct task_state *state, struct call_end *end,
					   struct call_args *args)
{
	const struct call_row *row = &end->row;
	char first = 1;

	if (row->traits & CALL_EXECS && end->result >= 0)
		return take_program(state);
	if (row->traits & CALL_OPENS)
		return end->result < 0 || call_take_any_fd(state, end->result, true);
	if (!row->path_dir || row->path2)
		return true;
	if (!call_arg(args, row->path))
		first = 0; /* since 6.11 NULL stands for the empty path */
	else
		bpf_probe_read_user(&first, sizeof(first), (void *)call_arg(args, row->path));
	if (first)
		return true;
	return call_take_any_fd(state, call_arg(args, row->path_dir), false);
}

/* The exit of any call. */
__noinline int exit_any(struct task_state *state, struct call_args *args, __s64 result,
			__u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct call_end end = { .result = result, .now_ns = now_ns };

	if (!state || !args)
		return 0;
	end.row = call_row(state->call_number);
	if (end.row.traits & CALL_REQUEST) {
		end.row = request_row(end.row, state->call_number, args);
		if (!end.row.op)
			return 0;
	}
	if (end.row.path && !path_call_file(state, &end, args))
		return 0;
	exit_offset(state, &end, args);
	exit_asked(&end, args);
	exit_flags(state, &end, args);
	count_call(state, &end);
	if (end.row.traits & CALL_SUBMITS && result > 0)
		count_submissions(end.row.op, result);
	if (state->call_flags & TRACE_OP_EXECUTABLE && state->call_file && result > 0)
		code_send(task, result, call_arg(args, 2));
	if (end.row.traits & CALL_TRANSFER ||
	    (end.row.path && !state->call_file && !(state->call_flags & TRACE_OP_NO_FILE)))
		send_path_call(state, &end, args);
	else
		send_call(state, task, &end);
	return 0;
}

/* The exit of a plain call: its length is the third argument, its offset the fourth. */
static __always_inline void exit_plain(struct task_state *state, struct task_struct *task,
				       struct pt_regs *regs, struct call_end *end)
{
	end->asked = end->row.length ? SYSCALL_ARG2(regs) : 0;
	if (end->row.offset)
		end->offset = SYSCALL_ARG3(regs);
	else
		end->offset = file_offset(state, end);
	count_call(state, end);
	send_call(state, task, end);
}

static __always_inline int left(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct call_row row;
	__u64 now_ns;

	if (!state)
		return 0;
	if (!state->call_op) {
		if (!state->call_suspended ||
		    !call_interrupted(state, REGS_IP(regs), REGS_SP(regs), result))
			return 0;
		now_ns = state->suspended.end_ns;
	} else {
		if (SYSCALL_NUMBER(regs) != state->call_number) {
			call_left(state);
			return 0;
		}
		if ((__u64)(-ERESTART_FIRST - result) < ERESTART_COUNT &&
		    call_suspend(state, REGS_IP(regs), REGS_SP(regs)))
			return 0;
		now_ns = bpf_ktime_get_ns();
	}
	if (state->fault_start_ns)
		fault_settle(state, 0, false);
	row = call_row(state->call_number);
	if (row.traits & CALL_PLAIN) {
		struct call_end end = { .row = row, .now_ns = now_ns, .result = result };

		exit_plain(state, task, regs, &end);
	} else {
		struct call_args args;

		call_args_read(&args, regs);
		exit_any(state, &args, result, now_ns);
	}
	if (state->aside_mapping)
		aside_send(state);
	state->call_op = 0;
	state->call_mapping = 0;
	return 0;
}

/* Where calls are not recorded: only the mappings of code, for what carries markers. */
static __always_inline int code_mapped(struct pt_regs *regs, long result)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (SYSCALL_NUMBER(regs) != mmap_number || in_compat_call(task) || !task_followed(task))
		return 0;
	if (SYSCALL_ARG2(regs) & PROT_EXEC && !(SYSCALL_ARG3(regs) & MAP_ANONYMOUS) && result > 0)
		code_send(task, result, SYSCALL_ARG1(regs));
	return 0;
}

/*
 * The end of a thread whose call did not end: a signal interrupted that, and killed the thread.
 * Where its end is told before, it is not followed any more.
 */
SEC("?tp_btf/sched_process_exit")
int BPF_PROG(fl_call_cut, struct task_struct *task)
{
	struct task_state *state = bpf_task_storage_get(&tasks, task, 0, 0);
	struct call_end end = { .result = -EINTR, .offset = -1 };

	if (!state || !(state->call_suspended || state->call_op))
		return 0;
	if (state->call_suspended) {
		call_restore(state);
		end.now_ns = state->suspended.end_ns;
	} else {
		end.now_ns = bpf_ktime_get_ns();
	}
	end.row.op = state->call_op;
	state->call_flags |= TRACE_OP_UNFINISHED;
	count_call(state, &end);
	send_call(state, task, &end);
	if (state->aside_mapping)
		aside_send(state);
	state->call_op = 0;
	return 0;
}

/* --- variant: tracepoints with typed arguments --- */

SEC("?tp_btf/sys_enter")
int BPF_PROG(fl_sys_enter, struct pt_regs *regs, long number)
{
	return entered(regs, number);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_sys_exit, struct pt_regs *regs, long result)
{
	return left(regs, result);
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(fl_code, struct pt_regs *regs, long result)
{
	return code_mapped(regs, result);
}

/* --- variant: classic tracepoints, which cost a little more and are never preempted --- */

static __always_inline struct pt_regs *current_regs(void)
{
	return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

SEC("?tp/raw_syscalls/sys_enter")
int fl_enter_tp(struct trace_raw_syscall *call)
{
	return entered(current_regs(), call->number);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_exit_tp(struct trace_raw_syscall *call)
{
	return left(current_regs(), call->value);
}

SEC("?tp/raw_syscalls/sys_exit")
int fl_code_tp(struct trace_raw_syscall *call)
{
	return code_mapped(current_regs(), call->value);
}
