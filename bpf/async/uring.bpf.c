// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * io_uring requests, from submission until their completion is posted. A request's arguments are
 * read from its command at submission, its file at completion: by then it has one, even if another
 * request of its chain had to open the file first.
 */
#include "async/uring_file.h"
#include "async/uring_paths.h"
#include "async/uring_unnamed.h"
#include "fault/vma.h"

/* --- owner --- */

/* Sets the owner: the submitter, or the creator of the SQPOLL thread that submits. */
static __always_inline void uring_take_owner(struct async_operation *operation,
					     struct task_struct *task, void *ring)
{
	struct io_sq_data *polling = KREAD(io_ring_ctx, ring, sq_data);

	if (polling && task->flags & PF_IO_WORKER) {
		operation->owner.pid = KREAD(io_sq_data, polling, task_tgid);
		operation->owner.tid = KREAD(io_sq_data, polling, task_pid);
		operation->account.flags |= TRACE_OP_POLLED;
		return;
	}
	operation->owner = owner_of(task);
}

/* --- submission --- */

static __always_inline void uring_take_range(struct async_operation *operation, void *request)
{
	if (operation->row.shape == ASYNC_SYNC) {
		operation->account.offset = KREAD(io_sync, request, off);
		operation->requested_bytes = KREAD(io_sync, request, len);
	} else if (operation->row.shape == ASYNC_ADVICE) {
		struct io_fadvise *advice = request;

		operation->account.offset = KREAD(io_fadvise, request, offset);
		operation->requested_bytes = BPF_CORE_READ_BITFIELD_PROBED(advice, len);
		operation->account.flags |= advice_flags(KREAD(io_fadvise, request, advice), false);
	} else if (operation->row.shape == ASYNC_RW) {
		operation->account.offset = KREAD(io_rw, request, kiocb.ki_pos);
		operation->requested_bytes = KREAD(io_rw, request, len);
		if (operation->row.traits & ASYNC_VECTOR)
			operation->requested_bytes = vector_bytes(KREAD(io_rw, request, addr),
								  operation->requested_bytes);
	} else if (operation->row.shape == ASYNC_SPLICE) {
		operation->account.offset = KREAD(io_splice, request, off_in);
		operation->requested_bytes = KREAD(io_splice, request, len);
	}
}

/* Notes whether the next request is linked to this one; returns whether this one is in a chain. */
static __always_inline bool uring_link(struct async_task *submitter, void *request)
{
	bool links = KREAD(io_kiocb, request, flags) & (REQ_LINK | REQ_HARDLINK);
	bool linked = links || submitter->linked;

	submitter->linked = links;
	return linked;
}

/* Has its own stack frame, because file lookups go deep. Global, so that the verifier checks it
 * once, not on every path to it; so are other functions here that are not static. */
__noinline int uring_begin(struct async_key *key, struct async_row *row,
			   struct async_task *submitter)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct async_operation operation = {};
	struct async_key at; /* on the stack: up to 6.1, maps take no other keys */
	void *request, *ring;
	__u32 flags;

	if (!key || !row || !submitter)
		return 0;
	at = *key;
	request = (void *)at.address;
	ring = KREAD(io_kiocb, request, ctx);
	flags = KREAD(io_kiocb, request, flags);
	operation.context = (__u64)ring;
	operation.user_data = uring_user_data(request);
	operation.fd = uring_fd(request);
	operation.row = *row;
	op_account_open(&operation.account);
	operation.account.offset = -1;
	async_begin(&operation.account, row->op, bpf_ktime_get_ns());
	uring_take_owner(&operation, task, ring);
	uring_take_range(&operation, request);
	if (flags & REQ_FIXED_FILE)
		operation.account.flags |= TRACE_OP_FIXED_FILE;
	if (flags & REQ_CQE_SKIP)
		operation.account.flags |= TRACE_OP_SILENT;
	if (row->traits & ASYNC_MULTISHOT)
		operation.account.flags |= TRACE_OP_MULTISHOT;
	if (row->traits & ASYNC_BUFFER)
		operation.account.flags |= TRACE_OP_FIXED_BUFFER;
	if (uring_link(submitter, request))
		operation.account.flags |= TRACE_OP_LINKED;
	async_mark_user(submitter, operation.owner.pid);
	submitter->writes |= row->traits & ASYNC_WRITES;
	return async_put(&at, &operation);
}

/* --- files known only at submission: the completion does not show them --- */

__noinline int uring_take_early_file(struct async_operation *operation, __u64 request,
				     struct task_state *state)
{
	struct address file;
	void *ring;

	if (!operation)
		return 0;
	ring = (void *)operation->context;
	if (operation->row.shape < ASYNC_SPLICE) {
		file.at = (__u64)uring_own_file(operation, (void *)request);
	} else if (operation->row.shape == ASYNC_CLOSE) {
		operation->slot = KREAD(io_close, request, file_slot);
		file.at = (__u64)uring_file_of(
			ring, operation->slot ? operation->slot - 1 : KREAD(io_close, request, fd),
			operation->slot);
	} else {
		file.at = uring_spliced_file(ring, request);
	}
	/* A splice from an unrecorded file may go to a recorded one. */
	if (file.at && !async_take_file(operation, &file, state) &&
	    operation->row.shape != ASYNC_SPLICE)
		op_account_close(&operation->account);
	return 0;
}

static __noinline int uring_take_open(struct async_operation *operation, void *request)
{
	__u32 given = KREAD(io_open, request, how.flags);

	operation->slot = KREAD(io_open, request, file_slot);
	operation->account.flags |= opening_flags(given);
	return 0;
}

/* Reads what is specific to the request's shape. */
static __noinline int uring_take_details(struct async_key *key, struct task_state *state)
{
	struct async_operation *operation = async_find(key);
	__u32 shape;

	if (!operation)
		return 0;
	shape = operation->row.shape;
	if (shape <= ASYNC_CLOSE) {
		uring_take_early_file(operation, key->address, state);
		return 0;
	}
	if (shape == ASYNC_OPEN)
		uring_take_open(operation, (void *)key->address);
	if (!uring_keep_names(key, shape))
		operation->account.flags |= TRACE_OP_PATH_CUT;
	if (state)
		uring_keep_directories(key, state, shape);
	return 0;
}

/* Takes the file and the range that are mapped at a request's address. */
__noinline int uring_take_map(struct async_key *key, struct task_state *state)
{
	struct async_operation *operation;
	struct io_madvise *advice;
	struct vm_area_struct *vma;
	struct address file = {};
	struct async_key at;
	__u64 address;

	if (!key || !state)
		return 0;
	at = *key;
	operation = async_find(&at);
	if (!operation)
		return 0;
	advice = (struct io_madvise *)at.address;
	address = KREAD(io_madvise, advice, addr);
	operation->requested_bytes = BPF_CORE_READ_BITFIELD_PROBED(advice, len);
	operation->account.flags |= advice_flags(KREAD(io_madvise, advice, advice), true);
	vma = vma_find(address);
	if (vma)
		file.at = (__u64)KREAD(vm_area_struct, vma, vm_file);
	if (!file.at)
		return 0; /* memory without a file */
	operation->account.offset = KREAD(vm_area_struct, vma, vm_pgoff) * PAGE_BYTES + address -
				    KREAD(vm_area_struct, vma, vm_start);
	if (!async_take_file(operation, &file, state))
		op_account_close(&operation->account);
	else
		async_range_put(&at, &file);
	return 0;
}

/* Notes the range that a request works on, if its file is known. */
__noinline int uring_store_range(struct async_key *key)
{
	struct async_operation *operation;
	struct address file;
	struct async_key at;
	void *ring;

	if (!key)
		return 0;
	at = *key;
	operation = async_find(&at);
	/* A sync adds no pages to the cache. */
	if (!operation || operation->account.mapping || operation->row.shape < ASYNC_RW ||
	    operation->row.shape == ASYNC_SYNC || operation->row.shape > ASYNC_SPLICE)
		return 0;
	ring = (void *)operation->context;
	if (operation->row.shape == ASYNC_SPLICE)
		file.at = uring_spliced_file(ring, at.address);
	else
		file.at = (__u64)uring_own_file(operation, (void *)at.address);
	return async_range_put(&at, &file);
}

/* A request of a chain has ended; it may have opened the file of the next one. */
static __noinline int uring_follow_link(void *request)
{
	struct async_key next = {};

	if (!bpf_core_field_exists(struct io_kiocb, link))
		return 0;
	next.address = (__u64)KREAD(io_kiocb, request, link);
	return next.address ? uring_store_range(&next) : 0;
}

static __always_inline struct async_row uring_row(void *request)
{
	__u32 opcode = KREAD(io_kiocb, request, opcode);

	return *(const struct async_row *)&uring_rows[opcode & (URING_TABLE_SIZE - 1)];
}

static __always_inline int uring_submit(void *request)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct async_key key = { 0, (__u64)request };
	struct async_operation *before;
	struct task_state *state = task_followed(task);
	struct async_task *submitter;
	struct async_row row;

	if (!state)
		return 0;
	before = async_find(&key);
	if (before)
		async_end_unseen(&key, before);
	row = uring_row(request);
	submitter = &state->async;
	if (row.shape == ASYNC_COUNTED) {
		async_count(row.op);
		uring_link(submitter, request);
		return 0;
	}
	if (uring_begin(&key, &row, submitter))
		return 0;
	if (uring_is_unnamed(request, &row) && uring_unnamed_put(&key)) {
		async_remove(&key);
		if (uring_names_requests())
			async_overfull = true;
		else
			async_lose(row.op, 0, false);
		return 0;
	}
	if (row.shape == ASYNC_MAP)
		uring_take_map(&key, state);
	else
		uring_store_range(&key);
	if (row.shape >= ASYNC_SPLICE || KREAD(io_kiocb, request, flags) & REQ_CQE_SKIP)
		uring_take_details(&key, state);
	return 0;
}

/* --- completion --- */

/* Counts a request without room at submission, or submitted before its task was followed. */
static __noinline int uring_count_unknown(void *request, __s64 result)
{
	struct async_row row = uring_row(request);
	struct file *file = KREAD(io_kiocb, request, file);

	if (!(async_overfull || attach_to) || row.shape == ASYNC_COUNTED ||
	    !task_followed(bpf_get_current_task_btf()))
		return 0;
	if (row.shape < ASYNC_CLOSE && file &&
	    !(file_class(KREAD(file, file, f_inode)) & file_classes))
		return 0;
	if (!async_overfull) {
		note_add(NOTE_ASYNC_BEFORE);
		return 0;
	}
	return async_lose(row.op, result, row.traits & ASYNC_BYTES);
}

/* Sets the file of a completed request. Returns 0 if files of its kind are not recorded, else 1. */
__noinline int uring_take_file(struct async_operation *done, __u64 address, __s64 result)
{
	struct task_struct *task = bpf_get_current_task_btf();
	void *request = (void *)address;
	struct address file;
	__u32 first, appends = 0;
	bool written, taken;

	if (!done)
		return 0;
	if (done->row.shape == ASYNC_MAP)
		return 1;
	first = done->account.file;
	file.at = (__u64)uring_file(done, request, result);
	written = done->row.traits & ASYNC_WRITES && done->row.shape == ASYNC_RW && result >= 0;
	if (written && KREAD(io_rw, request, kiocb.ki_flags) & IOCB_APPEND)
		appends = TRACE_OP_APPEND;
	if (done->row.shape == ASYNC_RW && result >= 0 && file.at &&
	    (done->account.offset == -1 || appends))
		done->account.offset = uring_position(done, request, (void *)file.at, result);
	if (!file.at) {
		if (done->row.shape < ASYNC_CLOSE)
			done->account.flags |= TRACE_OP_NO_FILE;
		return 1;
	}
	taken = async_take_file(done, &file, task_followed(task));
	if (written) /* the request may differ from the flags of its file */
		done->account.flags = (done->account.flags & ~TRACE_OP_APPEND) | appends;
	if (done->row.shape != ASYNC_SPLICE)
		return taken;
	done->file2 = taken ? done->account.file : 0;
	done->account.file = first;
	return taken || first;
}

static __noinline int uring_end(struct async_key *key, struct async_operation *done,
				struct uring_end *end)
{
	bool more = end->flags & IORING_CQE_F_MORE;
	__u64 now_ns = bpf_ktime_get_ns();

	done->account.flags &= ~TRACE_OP_SILENT; /* a failure posts a completion */
	if (done->account.op && uring_take_file(done, key->address, end->result))
		async_emit(key, done, end->result, now_ns);
	if (done->account.flags & TRACE_OP_LINKED)
		uring_follow_link((void *)key->address);
	if (!more) {
		async_remove(key);
		return 0;
	}
	done->account.fetched_pages = 0;
	done->account.created_pages = 0;
	done->account.read_for_write_bytes = 0;
	async_begin(&done->account, done->row.op, now_ns);
	return 0;
}

static __always_inline int uring_complete(void *request, struct uring_end *end)
{
	struct async_key key = { 0, (__u64)request };
	struct async_operation *done;

	if (!request && !uring_unnamed_take(end, &key))
		return 0;
	done = async_find(&key);
	if (done && (done->context != end->ring || done->user_data != end->user_data)) {
		async_end_unseen(&key, done);
		done = NULL;
	}
	if (done)
		uring_end(&key, done, end);
	else if (request)
		uring_count_unknown(request, end->result);
	return 0;
}

/* --- variant: tracepoints with typed arguments --- */

SEC("?tp_btf/io_uring_submit_req")
int BPF_PROG(fl_uring_begin, void *request)
{
	return uring_submit(request);
}

SEC("?tp_btf/io_uring_submit_sqe")
int BPF_PROG(fl_uring_begin6, void *request)
{
	return uring_submit(request);
}

SEC("?tp_btf/io_uring_complete")
int BPF_PROG(fl_uring_end, void *ring, void *request, struct io_uring_cqe *cqe)
{
	struct uring_end end = {
		.ring = (__u64)ring,
		.user_data = KREAD(io_uring_cqe, cqe, user_data),
		.result = KREAD(io_uring_cqe, cqe, res),
		.flags = KREAD(io_uring_cqe, cqe, flags),
	};

	return uring_complete(request, &end);
}

/* Before 6.16. */
SEC("?tp_btf/io_uring_complete")
int BPF_PROG(fl_uring_end6, void *ring, void *request, __u64 user_data, int result, __u32 flags)
{
	struct uring_end end = { (__u64)ring, user_data, result, flags };

	return uring_complete(request, &end);
}

/* --- variant: classic tracepoints, which cost a little more and are never preempted --- */

SEC("?tp/io_uring/io_uring_submit_req")
int fl_uring_b_tp(struct trace_event_raw_io_uring_submit_req *event)
{
	return uring_submit(event->req);
}

SEC("?tp/io_uring/io_uring_submit_sqe")
int fl_uring_b6_tp(struct trace_event_raw_io_uring_submit_sqe *event)
{
	return uring_submit(event->req);
}

SEC("?tp/io_uring/io_uring_complete")
int fl_uring_e_tp(struct trace_event_raw_io_uring_complete *event)
{
	struct uring_end end = { (__u64)event->ctx, event->user_data, event->res, event->cflags };

	return uring_complete(uring_names_requests() ? event->req : NULL, &end);
}
