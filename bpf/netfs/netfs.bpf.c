// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads and writes that file systems hand to the kernel's module netfs (CIFS, AFS, Ceph): those of
 * the run, and the counts of all per mount. 9p and NFS have layers of their own.
 *
 * It sees no other requests to these servers, such as opens and lookups.
 */
#include "block/block.h"
#include "remote/remote.h"
#include "vmlinux/netfs.h"

#define NETFS_SOURCE(name) bpf_core_enum_value(enum netfs_io_source, NETFS_##name)
#define NETFS_TRACE(name) bpf_core_enum_value(enum netfs_sreq_trace, netfs_sreq_trace_##name)

/* Returns OP_NONE unless the server is asked, and no other layer records that. */
static __always_inline __u32 netfs_operation(__u64 sreq, struct inode *inode)
{
	__u32 source = KREAD_MODULE(netfs_io_subrequest, sreq, source);
	unsigned long magic;

	if (!inode)
		return OP_NONE;
	magic = inode_magic(inode);
	if (magic == V9FS_MAGIC || magic == NFS_SUPER_MAGIC)
		return OP_NONE;
	if (source == NETFS_SOURCE(DOWNLOAD_FROM_SERVER))
		return OP_NETFS + NETFS_READ;
	return source == NETFS_SOURCE(UPLOAD_TO_SERVER) ? OP_NETFS + NETFS_WRITE : OP_NONE;
}

static __always_inline __u32 netfs_class(__u32 op)
{
	return op == OP_NETFS + NETFS_READ ? DEVICE_READ : DEVICE_WRITE;
}

static __always_inline __u64 netfs_position(__u64 sreq)
{
	return KREAD_MODULE(netfs_io_subrequest, sreq, start) +
	       KREAD_MODULE(netfs_io_subrequest, sreq, transferred);
}

static __always_inline struct inode *netfs_inode(__u64 sreq)
{
	return KREAD_MODULE(netfs_io_request, KREAD_MODULE(netfs_io_subrequest, sreq, rreq), inode);
}

/* Starts an attempt. */
static __always_inline int netfs_begin(__u64 sreq)
{
	struct address at = { sreq }, inode = { (__u64)netfs_inode(sreq) };
	struct remote_mark mark = {};

	mark.op = netfs_operation(sreq, (struct inode *)inode.at);
	if (mark.op == OP_NONE)
		return 0;
	mark.offset = netfs_position(sreq);
	mark.asked_bytes = KREAD_MODULE(netfs_io_subrequest, sreq, len) -
			   KREAD_MODULE(netfs_io_subrequest, sreq, transferred);
	mark.node = KREAD(inode, inode.at, i_ino);
	remote_requester(&mark);
	mark.start_ns = bpf_ktime_get_ns();
	return remote_begin(&at, &mark, &inode, netfs_class(mark.op));
}

static __always_inline int netfs_end(__u64 sreq)
{
	int error = KREAD_MODULE(netfs_io_subrequest, sreq, error);
	struct remote_end end = { .now_ns = bpf_ktime_get_ns(), .rtt_ns = -1 };
	struct remote_mark mark = {};
	struct address at = { sreq };
	struct inode *inode;
	__u64 bytes;

	if (!remote_mark_take(&at, &mark))
		return 0;
	inode = netfs_inode(sreq);
	end.error = error < 0 ? -error : 0;
	bytes = netfs_position(sreq) - mark.offset;
	end.bytes = bytes < mark.asked_bytes ? bytes : mark.asked_bytes;
	return remote_finish(KREAD(inode, inode, i_sb), netfs_class(mark.op), &mark, &end);
}

/* Whether `what` is this event, which some kernels lack. */
#define NETFS_HAPPENS(what, name)                                                                  \
	(bpf_core_enum_value_exists(enum netfs_sreq_trace, netfs_sreq_trace_##name) &&             \
	 (what) == NETFS_TRACE(name))

/* Whether a read has all its bytes: 6.12 and 6.13 may then give some to the read before or after
 * it, and end it later. */
static __always_inline bool netfs_is_read(__u64 sreq, __u32 what)
{
	__u32 source = KREAD_MODULE(netfs_io_subrequest, sreq, source);

	return (NETFS_HAPPENS(what, io_progress) || NETFS_HAPPENS(what, donate_to_prev) ||
		NETFS_HAPPENS(what, donate_to_next)) &&
	       source == NETFS_SOURCE(DOWNLOAD_FROM_SERVER);
}

static __always_inline int netfs_sreq(const struct netfs_io_subrequest *request, __u32 what)
{
	struct address at = { (__u64)request };
	__u64 sreq = address_number(&at);

	if (what == NETFS_TRACE(submit) || NETFS_HAPPENS(what, retry))
		return netfs_begin(sreq);
	return what == NETFS_TRACE(terminated) || netfs_is_read(sreq, what) ? netfs_end(sreq) : 0;
}

COPIED_PROGRAM("?tp_btf/netfs_sreq", fl_netfs_sreq, netfs_sreq(sreq, what),
	       struct netfs_io_subrequest *sreq, __u8 what)
