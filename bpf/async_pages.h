/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that an operation of io_uring or libaio brings into the cache of its file, booked on the
 * operation that the task carries out, or on none.
 */
#ifndef FAULTLINE_BPF_ASYNC_PAGES_H
#define FAULTLINE_BPF_ASYNC_PAGES_H

#include "async_ranges.h"

/* The request that an io worker works on; 0: none. */
static __always_inline __u64 worker_request(struct task_struct *task)
{
	void *worker = TASK_POINTER(task, worker_private);
	struct io_wq_work *work = worker ? KREAD(io_worker, worker, cur_work) : NULL;

	return work ? (__u64)work - bpf_core_field_offset(struct io_kiocb, work) : 0;
}

/* Whether the task may be carrying out operations: an io worker, or a task that has submitted any
 * and is not in a call that does something else. */
static __always_inline bool carries_out(struct task_state *state, struct task_struct *task)
{
	__u32 number = state->call.number & (CALL_TABLE_SIZE - 1);

	if (task->flags & PF_IO_WORKER)
		return true;
	return state->async.user == (__u32)task->tgid &&
	       (!state->call.account.op || number == uring_enter_number ||
		calls[number].traits & CALL_AIO_SUBMIT);
}

/* The operation of an io worker, whose file may not have been known when it was submitted. */
static __noinline int worker_takes_page(__u64 request, struct page_add *add)
{
	struct async_key key = { .address = request };
	struct async_operation *operation = async_find(&key);
	struct file *file;

	if (!operation)
		return 0;
	file = KREAD(io_kiocb, request, file);
	if (operation->account.mapping != add->mapping && (!file || cache_of(file) != add->mapping))
		return 0;
	account_book(&operation->account, add->pages, operation->row.traits & ASYNC_WRITES);
	return 1;
}

/* Books pages on the operation that brings them in; 0: there is none. Global: the verifier looks at
 * it once. */
__noinline int async_takes_page(struct task_state *state, struct page_add *add)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct range_search search = { .add = add, .pid = task->tgid };
	struct async_operation *operation = NULL;
	struct async_task *doing;
	struct async_key key;
	__u64 request;

	if (!state || !add || !carries_out(state, task))
		return 0;
	request = task->flags & PF_IO_WORKER ? worker_request(task) : 0;
	if (request)
		return worker_takes_page(request, add);
	/* Readahead brings in one page after the other. */
	doing = &state->async;
	key = doing->range.key;
	if (key.address && doing->range.mapping == add->mapping && doing->next == add->index)
		operation = async_find(&key);
	if (!operation || operation->account.mapping != add->mapping) {
		if (!range_find(&search))
			return 0;
		key = search.best.key;
		operation = async_find(&key);
		if (!operation)
			return 0;
		doing->range = search.best;
	}
	doing->next = add->index + add->pages;
	account_book(&operation->account, add->pages, operation->row.traits & ASYNC_WRITES);
	return 1;
}

#endif
