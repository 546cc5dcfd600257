/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Asynchronous operations that are still in flight when their process or the recording ends.
 */
#pragma once

#include "async/async.h"
#include "block/block.h"

/* Ends all operations of a process that have been in flight for min_ns or longer. */
struct async_cut {
	__u64 now_ns;
	__u64 min_ns;
	__s64 result; /* recorded as their result */
	__u32 pid;
};

/* Finds the file of an incomplete io_uring request, 0 unless the run has used it before: other
 * lookups would exceed the stack. Returns false if files of its class are not recorded. */
static __always_inline bool uring_find_file(void *request, __u32 *id)
{
	struct file *file = KREAD(io_kiocb, request, file);
	struct file_facts facts = {};
	struct address inode;

	if (!file)
		return true;
	if (!(file_class(KREAD(file, file, f_inode)) & file_classes))
		return false;
	file_facts_of(file, &facts);
	inode.at = (__u64)facts.inode;
	*id = file_find_interned(&inode);
	return true;
}

static __noinline int async_cut_one(struct async_key *key, struct async_operation *operation,
				    struct async_cut *cut)
{
	struct async_key at = *key;

	if (operation->account.start_ns + cut->min_ns > cut->now_ns)
		return 0;
	if (operation->account.flags & TRACE_OP_SILENT || !operation->account.op) {
		async_end_unseen(&at, operation);
		return 0;
	}
	operation->account.flags |= TRACE_OP_UNFINISHED;
	if (at.mm || operation->row.shape >= ASYNC_SPLICE ||
	    uring_find_file((void *)at.address, &operation->account.file))
		async_emit(&at, operation, cut->result, cut->now_ns);
	async_remove(&at);
	return 0;
}

static long async_cut_step(struct bpf_map *map, struct async_key *key,
			   struct async_operation *operation, struct async_cut *cut)
{
	if (operation->owner.pid == cut->pid)
		async_cut_one(key, operation, cut);
	return 0;
}

static long async_cut_slot(struct bpf_map *map, __u32 *number, struct async_slot *slot,
			   struct async_cut *cut)
{
	if (slot->key.address && slot->operation.owner.pid == cut->pid)
		async_cut_one(&slot->key, &slot->operation, cut);
	return 0;
}

static __always_inline void async_cut_all(struct async_cut *cut)
{
	bpf_for_each_map_elem(&async_slots, async_cut_slot, cut, 0);
	if (async_flight_count)
		bpf_for_each_map_elem(&async_flight, async_cut_step, cut, 0);
}
