/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that a request of io_uring brings into the cache of its file: which request a task is
 * carrying out. Knows nothing of what is told of requests.
 */
#ifndef FAULTLINE_BPF_ASYNC_PAGES_H
#define FAULTLINE_BPF_ASYNC_PAGES_H

#include "async.h"
#include "fetched.h"

/* The request that a task carries out: an io worker the one that it works on; who submits, or polls
 * for those who do, the last one submitted. 0: none. */
static __always_inline __u64 async_request_of(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	struct task_state *state;
	struct io_wq_work *work;
	void *worker;

	if (task->flags & PF_IO_WORKER) {
		worker = TASK_POINTER(task, worker_private);
		work = worker ? KREAD(io_worker, worker, cur_work) : NULL;
		if (work)
			return (__u64)work - bpf_core_field_offset(struct io_kiocb, work);
	} else if (SYSCALL_NUMBER(regs) != uring_enter_number) {
		return 0;
	}
	state = task_state(task);
	return state ? state->async.request : 0;
}

/* Books pages on the operation that brings them in; false when there is none, or they are of
 * another kind of file: that is where file systems keep their own. Global: the verifier looks at it
 * once. */
__noinline int async_takes_page(struct page_add *add)
{
	struct async_operation *operation;
	struct async_key key = {};
	struct file *file;

	key.address = async_request_of(bpf_get_current_task_btf());
	if (!add || !key.address)
		return 0;
	operation = async_find(&key);
	if (!operation)
		return 0;
	file = KREAD(io_kiocb, key.address, file);
	/* A file of an overlay keeps its pages in one of a layer. */
	if (!inode_is_regular(add->host) &&
	    (!file || (__u64)KREAD(file, file, f_mapping) != add->mapping))
		return 0;
	account_book(&operation->account, add->pages,
		     add->locked || operation->row.traits & ASYNC_WRITES);
	return 1;
}

#endif
