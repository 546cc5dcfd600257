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

/* The operation of an io worker, whose file may not have been known when it was submitted; NULL:
 * that is about another file. */
static __noinline struct async_operation *worker_operation(__u64 request,
							   const struct page_add *add)
{
	struct async_key key = { .address = request };
	struct async_operation *operation = async_find(&key);
	struct file *file;

	if (!operation)
		return NULL;
	file = KREAD(io_kiocb, request, file);
	if (operation->account.mapping != add->mapping && (!file || cache_of(file) != add->mapping))
		return NULL;
	return operation;
}

/* The operation that a task carries out when it brings in a page; NULL: none. */
static __noinline struct async_operation *async_carried_out(struct task_state *state,
							    const struct page_add *add)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct range_search search = { .add = add, .pid = task->tgid };
	struct async_task *doing = &state->async;
	struct async_operation *operation = NULL;
	struct async_key key = doing->range.key;
	__u64 request;

	if (!carries_out(state, task))
		return NULL;
	request = task->flags & PF_IO_WORKER ? worker_request(task) : 0;
	if (request)
		return worker_operation(request, add);
	/* Readahead brings in one page after the other. */
	if (key.address && doing->range.mapping == add->mapping && doing->next == add->index)
		operation = async_find(&key);
	if (operation && operation->account.mapping == add->mapping)
		return operation;
	if (!range_find(&search))
		return NULL;
	doing->range = search.best;
	return async_find(&search.best.key);
}

/* These are global: the verifier looks at each once. Books a page on the operation that brings it
 * in; 0: there is none. */
__noinline int async_takes_page(struct task_state *state, struct page_add *add)
{
	struct async_operation *operation;

	if (!state || !add)
		return 0;
	operation = async_carried_out(state, add);
	if (!operation)
		return 0;
	state->async.next = add->index + add->pages;
	account_book(&operation->account, add->pages, operation->row.traits & ASYNC_WRITES);
	return 1;
}

/* Books what is read to complete a page on the operation that writes it, if there is one. */
__noinline int async_reads_for_write(struct task_state *state, struct page_add *add, __u32 bytes)
{
	struct async_operation *operation;

	if (!state || !add)
		return 0;
	/* Reads are many, and need no search. */
	if (!state->async.writes && !(bpf_get_current_task_btf()->flags & PF_IO_WORKER))
		return 0;
	operation = async_carried_out(state, add);
	if (operation && operation->row.traits & ASYNC_WRITES)
		account_read_for_write(&operation->account, bytes);
	return 0;
}

#endif
