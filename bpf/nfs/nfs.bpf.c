// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Remote procedure calls of NFS clients, versions 3 and 4: those of the run, and the counts of all
 * per mount. One is recorded where the kernel adds it to the counts of /proc/self/mountstats; one
 * that the client repeats (a busy server, a lost lease) is recorded each time.
 *
 * It sees neither calls of other programs (mount, lockd, ACLs of version 3) nor what the client
 * does without calls: delegations, and files of a server on the same machine (LOCALIO).
 */
#include "block/block.h"
#include "remote/remote.h"
#include "vmlinux/nfs.h"

#define NFS_PROGRAM 100003

#define ERESTARTSYS 512

/* --- operation --- */

enum nfs_handle {
	NFS_HANDLE_NOWHERE,
	NFS_HANDLE_ITSELF,   /* the arguments are the handle */
	NFS_HANDLE_FIRST,    /* their first field points to it */
	NFS_HANDLE_SEQUENCE, /* pointer after nfs4_sequence_args, which version 4 always has */
};

/* A power of two. Constants of 32 bytes would get a section of their own, which loaders reject. */
#define NFS3_MAX 64

static const __u8 nfs3_operations[NFS3_MAX] = {
#define NFS3_OPERATION(id, handle) NFS_##id,
	NFS3_PROCEDURES(NFS3_OPERATION)
};
static const __u8 nfs3_handles[NFS3_MAX] = {
#define NFS3_HANDLE(id, handle) NFS_HANDLE_##handle,
	NFS3_PROCEDURES(NFS3_HANDLE)
};

/* The first seven characters of a name; a shorter one is padded with NULs. */
#define NFS_NAME(text)                                                                             \
	((__u64)(text)[0] | (__u64)(text)[1] << 8 | (__u64)(text)[2] << 16 |                       \
	 (__u64)(text)[3] << 24 | (__u64)(text)[4] << 32 | (__u64)(text)[5] << 40 |                \
	 (__u64)(text)[6] << 48)

static __always_inline __u32 nfs_operation_by_name(__u64 procedure)
{
	__u64 name = 0;

	bpf_probe_read_kernel_str(&name, sizeof(name),
				  KREAD_MODULE(rpc_procinfo, procedure, p_name));
	if (name == NFS_NAME("COPY\0\0\0"))
		return NFS_COPY;
	if (name == NFS_NAME("CLONE\0\0"))
		return NFS_CLONE;
	return name == NFS_NAME("READ_PL") ? NFS_READ_PLUS : NFS_OTHER;
}

static __always_inline __u32 nfs_version(__u64 task)
{
	return KREAD_MODULE(rpc_clnt, KREAD_MODULE(rpc_task, task, tk_client), cl_vers);
}

/* Returns OP_NONE for a call that is not one of an NFS client. The procedure may change until it is
 * sent. Global, so it is verified once, like the next one. */
__noinline __u32 nfs_operation(struct address *task)
{
	__u64 client, procedure;
	__u32 number;

	if (!task)
		return OP_NONE;
	client = (__u64)KREAD_MODULE(rpc_task, task->at, tk_client);
	if (!client || KREAD_MODULE(rpc_clnt, client, cl_prog) != NFS_PROGRAM)
		return OP_NONE;
	procedure = (__u64)KREAD_MODULE(rpc_task, task->at, tk_msg.rpc_proc);
	number = KREAD_MODULE(rpc_procinfo, procedure, p_statidx);
	switch (nfs_version(task->at)) {
	case 3:
		return OP_NFS + nfs3_operations[number & (NFS3_MAX - 1)];
	case 4:
		return OP_NFS + (number < NFS_NUMBERED ? NFS_OTHER + 1 + number
						       : nfs_operation_by_name(procedure));
	}
	return OP_NFS + NFS_OTHER;
}

static __always_inline bool nfs_op_is(__u32 op, __u32 operation)
{
	return op == OP_NFS + operation;
}

static __always_inline bool nfs_op_reads(__u32 op)
{
	return nfs_op_is(op, NFS_READ) || nfs_op_is(op, NFS_READ_PLUS);
}

static __always_inline __u32 nfs_class(__u32 op)
{
	if (nfs_op_reads(op))
		return DEVICE_READ;
	if (nfs_op_is(op, NFS_WRITE))
		return DEVICE_WRITE;
	return nfs_op_is(op, NFS_COMMIT) ? DEVICE_FLUSH : DEVICE_CLASSES;
}

/* --- target --- */

/* Returns the inode that has the file handle of a call; 0 if that is not part of an inode. `makes`:
 * a directory, link or special file. */
static __always_inline __u64 nfs_inode_by_handle(__u64 task, bool makes)
{
	__u64 arguments = (__u64)KREAD_MODULE(rpc_task, task, tk_msg.rpc_argp);
	__u32 where = NFS_HANDLE_SEQUENCE;
	struct inode *inode;
	__u64 handle;

	if (nfs_version(task) == 3)
		where = nfs3_handles[KREAD_MODULE(rpc_procinfo,
						  KREAD_MODULE(rpc_task, task, tk_msg.rpc_proc),
						  p_statidx) &
				     (NFS3_MAX - 1)];
	if (!arguments || where == NFS_HANDLE_NOWHERE)
		return 0;
	if (where == NFS_HANDLE_SEQUENCE && makes)
		arguments += bpf_core_field_offset(struct nfs4_create_arg, dir_fh);
	else if (where == NFS_HANDLE_SEQUENCE)
		arguments += bpf_core_type_size(struct nfs4_sequence_args);
	handle = where == NFS_HANDLE_ITSELF ? arguments : number_at(arguments);
	if (!handle)
		return 0;
	inode = (void *)handle - bpf_core_field_offset(struct nfs_inode, fh) +
		bpf_core_field_offset(struct nfs_inode, vfs_inode);
	return inode_magic(inode) == NFS_SUPER_MAGIC ? (__u64)inode : 0;
}

/* Returns the address of the inode that a call is about: of the file, or of the directory in which
 * it looks for a name, makes or removes one. 0: none, or unknown. */
__noinline __u64 nfs_inode(struct address *task, __u32 op)
{
	__u64 data;

	if (!task)
		return 0;
	data = (__u64)KREAD_MODULE(rpc_task, task->at, tk_calldata);
	if (nfs_op_reads(op) || nfs_op_is(op, NFS_WRITE))
		return (__u64)KREAD_MODULE(nfs_pgio_header, data, inode);
	if (nfs_op_is(op, NFS_COMMIT))
		return (__u64)KREAD_MODULE(nfs_commit_data, data, inode);
	return nfs_inode_by_handle(task->at,
				   (nfs_op_is(op, NFS_CREATE) || nfs_op_is(op, NFS_SYMLINK)) &&
					   bpf_core_type_exists(struct nfs4_create_arg));
}

/* --- start --- */

static __always_inline int nfs_begin(__u64 task)
{
	struct remote_mark mark = { .offset = -1 };
	struct address at = { task }, inode;
	__u32 class;

	mark.op = nfs_operation(&at);
	if (mark.op == OP_NONE)
		return 0;
	class = nfs_class(mark.op);
	inode.at = nfs_inode(&at, mark.op);
	if (inode.at)
		mark.node = KREAD(inode, inode.at, i_ino);
	if (class == DEVICE_READ || class == DEVICE_WRITE) {
		__u64 arguments = (__u64)KREAD_MODULE(rpc_task, task, tk_msg.rpc_argp);

		mark.offset = KREAD_MODULE(nfs_pgio_args, arguments, offset);
		mark.asked_bytes = KREAD_MODULE(nfs_pgio_args, arguments, count);
	}
	remote_requester(&mark);
	mark.start_ns = KREAD_MODULE(rpc_task, task, tk_start);
	return remote_begin(&at, &mark, &inode, class);
}

COPIED_PROGRAM("?raw_tp/rpc_task_begin", fl_nfs_begin, nfs_begin((__u64)task), void *task)

/* --- completion --- */

/* Returns the bytes that a successful read or write has moved. */
static __always_inline __u32 nfs_moved(__u64 task, __u32 asked)
{
	void *results = KREAD_MODULE(rpc_task, task, tk_msg.rpc_resp);
	__u64 count = 0;

	/* Before 6.1 it had 4 bytes. */
	bpf_probe_read_kernel(&count, bpf_core_field_size(struct nfs_pgio_res, count),
			      KFIELD(nfs_pgio_res, results, count));
	return count < asked ? count : asked;
}

/* Fills in how an attempt ended that has lasted until end->now_ns. */
static __always_inline void nfs_describe_end(__u64 task, const struct remote_mark *mark,
					     struct remote_end *end)
{
	__u64 request = (__u64)KREAD_MODULE(rpc_task, task, tk_rqstp);
	int status = KREAD_MODULE(rpc_task, task, tk_status);
	__u32 sent = KREAD_MODULE(rpc_rqst, request, rq_ntrans);

	end->sent_bytes = KREAD_MODULE(rpc_rqst, request, rq_xmit_bytes_sent);
	end->received_bytes = KREAD_MODULE(rpc_rqst, request, rq_reply_bytes_recvd);
	end->retransmits = sent ? sent - 1 : 0;
	end->error = status < 0 ? -status : 0;
	if (end->error == ERESTARTSYS) {
		end->error = EINTR;
		end->flags |= TRACE_REMOTE_INTERRUPTED;
	}
	if (end->error && !end->received_bytes)
		end->flags |= TRACE_REMOTE_UNANSWERED;
	if (!end->error && mark->offset >= 0)
		end->bytes = nfs_moved(task, mark->asked_bytes);
}

/* Times in ns since the attempt began: `queue_ns` is 0 if nothing was sent. */
static __always_inline int nfs_count(__u64 task, __u64 queue_ns, __u64 rtt_ns, __u64 time_ns)
{
	__u64 start_ns = KREAD_MODULE(rpc_task, task, tk_start);
	struct remote_end end = { .now_ns = start_ns + time_ns, .rtt_ns = rtt_ns };
	struct remote_mark mark = {};
	struct address at = { task };
	__u64 inode;

	/* The kernel does not say whether it will repeat the call. */
	if (!remote_mark_attempt(&at, &mark, start_ns))
		return 0;
	mark.op = nfs_operation(&at);
	mark.start_ns = start_ns;
	mark.taken_ns = queue_ns ? start_ns + queue_ns : end.now_ns;
	nfs_describe_end(task, &mark, &end);
	inode = nfs_inode(&at, mark.op);
	return remote_finish(inode ? KREAD(inode, inode, i_sb) : NULL, nfs_class(mark.op), &mark,
			     &end);
}

COPIED_PROGRAM("?raw_tp/rpc_stats_latency", fl_nfs_count,
	       nfs_count((__u64)task, queue_ns, rtt_ns, time_ns), void *task, __u64 queue_ns,
	       __u64 rtt_ns, __u64 time_ns)
