// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Requests of 9p clients to their servers: those of the run, and the counts of all per mount.
 *
 * A request without a reply (the server is gone, a signal) ends with its last reference. It is
 * missed if two references are dropped at the same moment.
 */
#include "block/block.h"
#include "remote/remote.h"
#include "vmlinux/p9.h"

/* --- what it is about --- */

struct p9_key {
	__u64 client; /* address */
	__u64 path;   /* number by which the server knows a file; P9_MOUNT: the mount */
};

#define P9_MOUNT (~0ull)

struct p9_place {
	__u64 inode, sb; /* addresses; 0: unknown */
	__u64 ino;
};

/* Inodes and mounts that earlier requests led to. Until 6.3, the kernel writes back through fids
 * that are in no inode's list. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct p9_key);
	__type(value, struct p9_place);
} p9_places SEC(".maps");

struct p9_target {
	struct p9_key key;
	__u64 file; /* of the call in flight */
	__u64 inode;
	__u32 fid;
	__u32 padding;
};

#define P9_IDR_LEVELS 4 /* for 16 million fids */
#define P9_LIST_MAX 16

/* Looks up an entry of an IDR. A number beyond its range returns another entry: callers check it.
 */
static __always_inline __u64 p9_by_number(__u64 at, __u32 number)
{
	for (int level = 0; level < P9_IDR_LEVELS && (at & 3) == 2; level++) {
		__u64 node = at - 2;
		__u32 slot = number >> (KREAD(xa_node, node, shift) & 31) &
			     (bpf_core_field_size(struct xa_node, slots) / sizeof(void *) - 1);

		at = number_at(node + bpf_core_field_offset(struct xa_node, slots) +
			       slot * sizeof(void *));
	}
	return at;
}

/* Returns the address of a request in flight; 0: there is none with this tag. */
__noinline __u64 p9_request_of(struct address *client, __u16 tag)
{
	__u64 at = client ? (__u64)KREAD_MODULE(p9_client, client->at, reqs.idr_rt.xa_head) : 0;

	at = p9_by_number(at, tag);
	return at && KREAD_MODULE(p9_req_t, at, tc.tag) == tag ? at : 0;
}

/* Returns the address of a fid; 0: there is none with this number. */
static __always_inline __u64 p9_fid_of(__u64 client, __u32 number)
{
	__u64 at = (__u64)KREAD_MODULE(p9_client, client, fids.idr_rt.xa_head);

	at = p9_by_number(at, number);
	return at && KREAD_MODULE(p9_fid, at, fid) == number &&
			       (__u64)KREAD_MODULE(p9_fid, at, clnt) == client
		       ? at
		       : 0;
}

/* Returns the address of the inode or dentry in whose list of fids a node is. Its list begins at
 * `list`, its super block is at `sb`. */
static __always_inline __u64 p9_holder(__u64 node, __u32 list, __u32 sb, __u64 *found)
{
	for (int i = 0; i < P9_LIST_MAX; i++) {
		/* The list's head, or the previous node. */
		node = number_at(node + bpf_core_field_offset(struct hlist_node, pprev));
		if (!node)
			break;
		*found = number_at(node - list + sb);
		if (*found && KREAD(super_block, *found, s_magic) == V9FS_MAGIC)
			return node - list;
	}
	*found = 0;
	return 0;
}

/* Finds the place of a fid; `file`: of the call in flight. */
static __always_inline void p9_place_of(__u64 fid, __u64 file, struct p9_place *place)
{
	__u64 dentry;

	if (file && (__u64)KREAD(file, file, private_data) == fid) {
		place->inode = (__u64)KREAD(file, file, f_inode);
		place->sb = (__u64)KREAD(inode, place->inode, i_sb);
		return;
	}
	place->inode = p9_holder(fid + bpf_core_field_offset(struct p9_fid, ilist),
				 bpf_core_field_offset(struct inode, i_private),
				 bpf_core_field_offset(struct inode, i_sb), &place->sb);
	if (place->inode)
		return;
	dentry = p9_holder(fid + bpf_core_field_offset(struct p9_fid, dlist),
			   bpf_core_field_offset(struct dentry, d_fsdata),
			   bpf_core_field_offset(struct dentry, d_sb), &place->sb);
	if (dentry)
		place->inode = (__u64)KREAD(dentry, dentry, d_inode);
}

/* Returns the super block in which the current task looks up a path, if it is one of 9p. Since 7.1,
 * fids that are not open are in no list. */
static __always_inline __u64 p9_looks_up(void)
{
	struct dentry *dentry = task_lookup_dentry(bpf_get_current_task_btf());
	__u64 sb = dentry ? (__u64)KREAD(dentry, dentry, d_sb) : 0;

	return sb && KREAD(super_block, sb, s_magic) == V9FS_MAGIC ? sb : 0;
}

/* Finds the file of a request. Global, so it is verified once. */
__noinline int p9_find(struct p9_target *target)
{
	struct p9_place place = {}, *known;
	struct p9_key key = {};
	__u64 fid;

	if (!target)
		return 0;
	fid = p9_fid_of(target->key.client, target->fid);
	if (!fid)
		return 0;
	key.client = target->key.client;
	key.path = target->key.path = KREAD_MODULE(p9_fid, fid, qid.path);
	p9_place_of(fid, target->file, &place);
	if (place.inode) {
		place.ino = KREAD(inode, place.inode, i_ino);
		bpf_map_update_elem(&p9_places, &key, &place, BPF_ANY);
		target->inode = place.inode;
	} else {
		known = bpf_map_lookup_elem(&p9_places, &key);
		if (known && (__u64)KREAD(inode, known->inode, i_sb) == known->sb &&
		    KREAD(inode, known->inode, i_ino) == known->ino)
			target->inode = known->inode;
	}
	if (!place.sb)
		place.sb = p9_looks_up();
	if (place.sb) {
		key.path = P9_MOUNT;
		bpf_map_update_elem(&p9_places, &key, &place, BPF_ANY);
	}
	return 0;
}

/* --- start --- */

static __always_inline bool p9_op_is(__u32 op, __u32 type)
{
	return op == OP_P9 + type / 2;
}

static __always_inline __u32 p9_class(__u32 op)
{
	if (p9_op_is(op, P9_TREAD))
		return DEVICE_READ;
	if (p9_op_is(op, P9_TWRITE))
		return DEVICE_WRITE;
	return p9_op_is(op, P9_TFSYNC) ? DEVICE_FLUSH : DEVICE_CLASSES;
}

static __always_inline int p9_begin(const struct p9_client *clnt, __u8 type, __u16 tag)
{
	struct address client_at = { (__u64)clnt }, at = { p9_request_of(&client_at, tag) };
	__u64 client = address_number(&client_at);
	struct remote_mark mark = { .offset = -1, .op = OP_P9 + type % P9_TYPES / 2 };
	struct p9_target target = { .key = { client, P9_MOUNT } };
	struct p9_request request = {};
	struct task_state *state;
	struct address inode;

	if (!at.at)
		return 0;
	bpf_probe_read_kernel(&request, sizeof(request), KREAD_MODULE(p9_req_t, at.at, tc.sdata));
	state = remote_requester(&mark);
	if (type == P9_TVERSION) {
		bpf_map_delete_elem(&p9_places, &target.key); /* a new client */
	} else if (type != P9_TAUTH && type != P9_TFLUSH) {
		target.key.path = 0;
		target.fid = request.fid;
		if (state && state->call.account.op)
			target.file = (__u64)state->call.file;
		p9_find(&target);
		mark.node = target.key.path;
	}
	if (type == P9_TREAD || type == P9_TWRITE)
		mark.offset = request.offset;
	inode.at = target.inode;
	mark.start_ns = bpf_ktime_get_ns();
	return remote_begin(&at, &mark, &inode, p9_class(mark.op));
}

COPIED_PROGRAM("?tp_btf/9p_client_req", fl_p9_begin, p9_begin(client, type, tag),
	       struct p9_client *client, __s8 type, int tag)

/* --- completion --- */

#define P9_STATUS(name) bpf_core_enum_value(enum p9_req_status_t, REQ_STATUS_##name)

static __always_inline __u32 p9_status(__u64 req)
{
	return KREAD_MODULE(p9_req_t, req, status);
}

/* Ends a request. Callers set how; this adds sizes, times and the mount. */
static __always_inline int p9_end(__u64 client, __u64 req, struct remote_end *end)
{
	struct remote_mark mark = {};
	struct p9_key key = { client, P9_MOUNT };
	struct p9_request request = {};
	struct address at = { req };
	struct p9_place *mount;

	end->now_ns = bpf_ktime_get_ns();
	end->rtt_ns = -1;
	if (!remote_mark_take(&at, &mark) || end->now_ns < mark.start_ns)
		return 0;
	/* Not before it is sent: the transport may lower the count. */
	bpf_probe_read_kernel(&request, sizeof(request), KREAD_MODULE(p9_req_t, req, tc.sdata));
	if (mark.offset >= 0 || p9_op_is(mark.op, P9_TREADDIR))
		mark.asked_bytes = request.count;
	end->sent_bytes = KREAD_MODULE(p9_req_t, req, tc.size);
	if (p9_op_is(mark.op, P9_TWRITE)) /* its data need not be in the message itself */
		end->sent_bytes = sizeof(struct p9_request) + mark.asked_bytes;
	if (end->bytes > mark.asked_bytes) /* or not a count */
		end->bytes = mark.asked_bytes;
	mount = bpf_map_lookup_elem(&p9_places, &key);
	return remote_finish(mount ? (struct super_block *)mount->sb : NULL, p9_class(mark.op),
			     &mark, end);
}

/* A thread continues with the reply or, without one, with an error. */
static __always_inline int p9_reply(const struct p9_client *clnt, __u16 tag, int error)
{
	struct address client = { (__u64)clnt };
	__u64 req = p9_request_of(&client, tag);
	struct remote_end end = { .error = error < 0 ? -error : 0 };
	struct p9_reply reply = {};

	if (!req || (p9_status(req) != P9_STATUS(RCVD) && p9_status(req) != P9_STATUS(ERROR)))
		return 0; /* the tag is of an old reply */
	if (p9_status(req) == P9_STATUS(RCVD)) {
		bpf_probe_read_kernel(&reply, sizeof(reply), KREAD_MODULE(p9_req_t, req, rc.sdata));
		end.received_bytes = reply.size;
		end.bytes = end.error ? 0 : reply.value;
	} else {
		end.flags = TRACE_REMOTE_UNANSWERED;
	}
	return p9_end(address_number(&client), req, &end);
}

COPIED_PROGRAM("?tp_btf/9p_client_res", fl_p9_reply, p9_reply(client, tag, error),
	       struct p9_client *client, __s8 type, int tag, int error)

/* Drops a reference. With the last one, a request is over. */
static __always_inline int p9_put(const struct p9_client *clnt, const struct p9_req_t *request)
{
	struct address client = { (__u64)clnt }, at = { (__u64)request };
	__u64 req = address_number(&at);
	struct remote_end end = { .error = -KREAD_MODULE(p9_req_t, req, t_err),
				  .flags = TRACE_REMOTE_UNANSWERED };

	if (KREAD_MODULE(p9_req_t, req, refcount.refs.counter) != 1)
		return 0;
	if (!end.error && p9_status(req) != P9_STATUS(ALLOC) &&
	    p9_status(req) != P9_STATUS(ERROR)) {
		end.error = EINTR;
		end.flags |= TRACE_REMOTE_INTERRUPTED;
	} else if (!end.error) {
		end.error = EIO;
	}
	return p9_end(address_number(&client), req, &end);
}

FUNCTION_PROGRAMS("p9_req_put", fl_p9_put, p9_put(client, req), struct p9_client *client,
		  struct p9_req_t *req)
