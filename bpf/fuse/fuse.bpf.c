// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests to the daemons of FUSE file systems: those of the run, and the counts of all per mount.
 *
 * FORGET and INTERRUPT (no reply) are not seen, nor are requests that a fatal signal withdraws
 * before the daemon takes them, nor a RELEASE that the daemon's own thread sends: readahead that
 * ends after the close keeps the file open. Requests in the background that exceed the daemon's
 * limit wait before they are sent: that time is not included.
 *
 * Variants: tracepoints (6.11, fuse_request_sent 7.2); else functions at the same places, by fentry
 * or kprobes. By the tracepoint, a request is taken when the kernel has copied it to the daemon; by
 * the function, when it begins to.
 */
#include "block/block.h"
#include "remote/remote.h"
#include "vmlinux/fuse.h"

volatile __u64 remote_marks_count;

/* A request and its target. */
struct fuse_request {
	__u64 args; /* address */
	__u64 node;
	__u64 sb;
};

static __always_inline struct fuse_conn *fuse_connection(struct fuse_req *req)
{
	if (bpf_core_field_exists(struct fuse_req, fm))
		return KREAD_MODULE(fuse_mount, KREAD_MODULE(fuse_req, req, fm), fc);
	return KREAD_MODULE(fuse_chan, KREAD_MODULE(fuse_req___chan, req, chan), conn);
}

/* Since 7.2 a request does not lead to its mount. Uses the connection's first; only virtiofs
 * submounts have others. */
static __always_inline struct super_block *fuse_super_block(struct fuse_req *req)
{
	struct fuse_conn *connection;
	void *entry, *list, *mount;

	if (bpf_core_field_exists(struct fuse_req, fm))
		return KREAD_MODULE(fuse_mount, KREAD_MODULE(fuse_req, req, fm), sb);
	connection = fuse_connection(req);
	list = (void *)connection + bpf_core_field_offset(struct fuse_conn, mounts);
	entry = KREAD_MODULE(fuse_conn, connection, mounts.next);
	mount = entry - bpf_core_field_offset(struct fuse_mount, fc_entry);
	return entry && entry != list ? KREAD_MODULE(fuse_mount, mount, sb) : NULL;
}

static __always_inline bool fuse_flag(struct fuse_req *req, __u32 bit)
{
	return KREAD_MODULE(fuse_req, req, flags) >> (bit & 63) & 1;
}

/* --- target --- */

static __always_inline bool fuse_is_about(const struct fuse_request *request, struct inode *inode)
{
	void *fuse = (void *)inode - bpf_core_field_offset(struct fuse_inode, inode);

	return inode && (__u64)KREAD(inode, inode, i_sb) == request->sb &&
	       KREAD_MODULE(fuse_inode, fuse, nodeid) == request->node;
}

/*
 * Returns the file of a read or write by its first page. The page of direct I/O is the program's
 * own memory, which is not of this file. `interned`: only a file that the run has used. Global, so
 * it is verified once.
 */
__noinline __u32 fuse_file_of_page(struct fuse_request *request, bool interned)
{
	struct address mapping, host;
	__u64 pages, page;

	if (!request)
		return 0;
	if (bpf_core_field_exists(struct fuse_args_pages, folios))
		pages = (__u64)KREAD_MODULE(fuse_args_pages, request->args, folios);
	else
		pages = (__u64)KREAD_MODULE(fuse_args_pages___pages, request->args, pages);
	page = pages ? (__u64)KREAD_POINTER(pages) : 0;
	mapping.at = page ? KFOLIO(KNUMBER, page, mapping) : 0;
	if (!mapping.at || mapping.at & PAGE_MAPPING_FLAGS)
		return 0;
	host.at = (__u64)KREAD(address_space, mapping.at, host);
	if (!fuse_is_about(request, (struct inode *)host.at))
		return 0;
	return interned ? file_find_interned(&host) : file_id_of_mapping(&mapping);
}

/* Returns the file of the call in flight if the request concerns that file. */
static __always_inline __u32 fuse_file_of_call(const struct fuse_request *request,
					       const struct task_state *state)
{
	if (!state || !state->call.account.op || !state->call.file ||
	    !fuse_is_about(request, KREAD(file, state->call.file, f_inode)))
		return 0;
	return state->call.account.file;
}

/* --- owner --- */

/*
 * Sets the request's owner. Returns the task's state if the requester is the current task and
 * followed. Background requests may be sent later from the context of any task, or the daemon's,
 * but carry the requester's thread id as the daemon sees it.
 */
static __always_inline struct task_state *fuse_requester(struct remote_mark *mark,
							 struct fuse_req *req)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct fuse_conn *connection = fuse_connection(req);
	__u32 level = KREAD(pid_namespace, KREAD_MODULE(fuse_conn, connection, pid_ns), level);
	__u32 tid = level ? 0 : KREAD_MODULE(fuse_req, req, in.h.pid);
	struct task_slot *slot;

	if (!tid || tid == (__u32)task->pid)
		return remote_requester(mark);
	slot = task_slot(tid);
	if (slot && slot->tid == tid && slot->state.mode == TASK_FOLLOWED &&
	    !(attach_to && recording_ended)) {
		mark->pid = slot->state.pid;
		mark->tid = tid;
	}
	return NULL;
}

static __always_inline int fuse_send(struct fuse_req *req)
{
	struct address at = { (__u64)req };
	struct fuse_request request = { .args = (__u64)KREAD_MODULE(fuse_req, req, args),
					.sb = (__u64)fuse_super_block(req) };
	__u32 opcode = KREAD_MODULE(fuse_args, request.args, opcode);
	bool moves = opcode == FUSE_READ || opcode == FUSE_WRITE;
	struct remote_mark mark = { .offset = -1 };
	struct fuse_range_in range = {};
	struct task_state *state;

	if (!fuse_node_offset)
		fuse_node_offset = FUSE_NODE_OFFSET;
	request.node = mark.node = KREAD_MODULE(fuse_args, request.args, nodeid);
	mark.op = OP_FUSE + (opcode < FUSE_OPERATION_COUNT ? opcode : 0);
	state = fuse_requester(&mark, req);
	if (moves || opcode == FUSE_READDIR || opcode == FUSE_READDIRPLUS) {
		bpf_probe_read_kernel(&range, sizeof(range),
				      KREAD_MODULE(fuse_args, request.args, in_args[0].value));
		mark.asked_bytes = range.size;
		if (moves)
			mark.offset = range.offset;
	}
	if (mark.pid) {
		mark.file = moves ? fuse_file_of_page(&request, false) : 0;
		if (!mark.file)
			mark.file = fuse_file_of_call(&request, state);
	} else if (opcode == FUSE_WRITE && range.flags & FUSE_WRITE_CACHE) {
		mark.file = fuse_file_of_page(&request, true);
	}
	mark.recorded = mark.pid || mark.file;
	if (fuse_flag(req, bpf_core_enum_value(enum fuse_req_flag, FR_BACKGROUND)))
		mark.flags = TRACE_REMOTE_BACKGROUND;
	mark.start_ns = bpf_ktime_get_ns();
	remote_mark_put(&at, &mark);
	return 0;
}

COPIED_PROGRAM("?tp_btf/fuse_request_send", fl_fuse_send, fuse_send(req), struct fuse_req *req)
FUNCTION_PROGRAMS("queue_request_and_unlock", fl_fuse_send, fuse_send(req), void *queue,
		  struct fuse_req *req)

static __always_inline int fuse_sent(struct fuse_req *req)
{
	struct address at = { (__u64)req };

	return remote_mark_taken(&at, bpf_ktime_get_ns());
}

COPIED_PROGRAM("?tp_btf/fuse_request_sent", fl_fuse_sent, fuse_sent(req), struct fuse_req *req)

/* Called to copy a request's arguments to the daemon, and later its reply back. */
static __always_inline int fuse_copied(struct fuse_copy_state *copy)
{
	struct fuse_req *req = KREAD_MODULE(fuse_copy_state, copy, req);

	return req && !KREAD_MODULE(fuse_req, req, out.h.unique) ? fuse_sent(req) : 0;
}

FUNCTION_PROGRAMS("fuse_copy_args", fl_fuse_sent, fuse_copied(copy), struct fuse_copy_state *copy)

/* --- completion --- */

static __always_inline __u32 fuse_class(__u32 opcode)
{
	if (opcode == FUSE_READ)
		return DEVICE_READ;
	if (opcode == FUSE_WRITE)
		return DEVICE_WRITE;
	return opcode == FUSE_FSYNC || opcode == FUSE_FSYNCDIR || opcode == FUSE_SYNCFS
		       ? DEVICE_FLUSH
		       : DEVICE_CLASSES;
}

/* Returns the bytes that a successful request has moved. The kernel refuses replies that are longer
 * than requested, but not a write's reply with a larger number. */
static __always_inline __u32 fuse_moved(__u64 args, __u32 opcode, __u32 asked)
{
	__u32 bytes = 0;

	if (opcode == FUSE_WRITE)
		bpf_probe_read_kernel(&bytes, sizeof(bytes),
				      KREAD_MODULE(fuse_args, args, out_args[0].value));
	else if (asked)
		bytes = KREAD_MODULE(fuse_args, args, out_args[0].size);
	return bytes < asked ? bytes : asked;
}

static __always_inline int fuse_end(struct fuse_req *req)
{
	struct address at = { (__u64)req };
	struct remote_end end = { .now_ns = bpf_ktime_get_ns(), .rtt_ns = -1 };
	__u64 args = (__u64)KREAD_MODULE(fuse_req, req, args);
	__u32 opcode = KREAD_MODULE(fuse_args, args, opcode);
	struct super_block *sb = fuse_super_block(req);
	struct remote_mark mark = {}; /* up to 6.1, functions take only initialized memory */

	/* A different mark belongs to a request whose end was not seen. */
	if (!remote_mark_take(&at, &mark) || mark.node != KREAD_MODULE(fuse_args, args, nodeid) ||
	    mark.op != OP_FUSE + (opcode < FUSE_OPERATION_COUNT ? opcode : 0) ||
	    end.now_ns < mark.start_ns)
		return 0;
	end.error = -KREAD_MODULE(fuse_req, req, out.h.error);
	if (!end.error)
		end.bytes = fuse_moved(args, opcode, mark.asked_bytes);
	if (KREAD_MODULE(fuse_req, req, out.h.unique))
		end.server_pid = bpf_get_current_pid_tgid() >> 32;
	else
		end.flags |= TRACE_REMOTE_UNANSWERED;
	if (fuse_flag(req, bpf_core_enum_value(enum fuse_req_flag, FR_INTERRUPTED)))
		end.flags |= TRACE_REMOTE_INTERRUPTED;
	return remote_finish(sb, fuse_class(opcode), &mark, &end);
}

COPIED_PROGRAM("?tp_btf/fuse_request_end", fl_fuse_end, fuse_end(req), struct fuse_req *req)
FUNCTION_PROGRAMS("fuse_request_end", fl_fuse_end, fuse_end(req), struct fuse_req *req)
