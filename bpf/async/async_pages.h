/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages that an io_uring or libaio operation adds to its file's cache: attributes them to the
 * operation the task is executing, if any.
 */
#pragma once

#include "async/async_ranges.h"

/* The request that an io worker is processing; 0: none. */
static __always_inline __u64 async_worker_request(struct task_struct *task)
{
	struct io_wq_work *work;
	void *worker;

	if (bpf_core_field_exists(task->worker_private))
		worker = TASK_POINTER(task, worker_private);
	else
		worker = KREAD(task_struct___old, task, pf_io_worker);
	work = worker ? KREAD(io_worker, worker, cur_work) : NULL;
	return work ? (__u64)work - bpf_core_field_offset(struct io_kiocb, work) : 0;
}

/* Whether the task may be executing operations: an io worker, or a task that has submitted some
 * and is not in an unrelated call. */
static __always_inline bool async_may_carry_out(struct task_state *state, struct task_struct *task)
{
	__u32 number = state->call.number & (CALL_TABLE_SIZE - 1);

	if (task->flags & PF_IO_WORKER)
		return true;
	return state->async.user == (__u32)task->tgid &&
	       (!state->call.account.op || number == uring_enter_number ||
		calls[number].traits & CALL_AIO_SUBMIT);
}

/* Returns the operation an io worker is executing, also if its file was unknown at submission; NULL
 * if the page is of another file. */
static __noinline struct async_operation *async_worker_operation(__u64 request,
								 const struct page_add *add)
{
	struct async_key key = { .address = request };
	struct async_operation *operation = async_find(&key);
	struct file *file;

	if (!operation)
		return NULL;
	file = KREAD(io_kiocb, request, file);
	if (operation->account.mapping != add->mapping &&
	    (!file || file_page_cache(file) != add->mapping))
		return NULL;
	return operation;
}

/* Returns the operation that the task executes while it adds a page; NULL: none. */
static __noinline struct async_operation *async_find_current(struct task_state *state,
							     const struct page_add *add)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct range_search search = { .add = add, .pid = task->tgid };
	struct async_task *submitter = &state->async;
	struct async_operation *operation = NULL;
	struct async_key key = submitter->range.key;
	__u64 request;

	if (!async_may_carry_out(state, task))
		return NULL;
	request = task->flags & PF_IO_WORKER ? async_worker_request(task) : 0;
	if (request)
		return async_worker_operation(request, add);
	/* Readahead adds one page after the other. */
	if (key.address && submitter->range.mapping == add->mapping &&
	    submitter->next == add->index)
		operation = async_find(&key);
	if (operation && operation->account.mapping == add->mapping)
		return operation;
	if (!range_find(&search))
		return NULL;
	submitter->range = search.best;
	return async_find(&search.best.key);
}

/* These functions are global, so each is verified once. Attributes a page to the operation that
 * adds it; returns 0 if there is none. */
__noinline int async_book_page(struct task_state *state, struct page_add *add)
{
	struct async_operation *operation;

	if (!state || !add)
		return 0;
	operation = async_find_current(state, add);
	if (!operation)
		return 0;
	state->async.next = add->index + add->pages;
	op_account_book(&operation->account, add->pages, operation->row.traits & ASYNC_WRITES);
	return 1;
}

/* Attributes reads that complete a page to the operation that writes it, if there is one. */
__noinline int async_book_read_for_write(struct task_state *state, struct page_add *add,
					 __u32 bytes)
{
	struct async_operation *operation;

	if (!state || !add)
		return 0;
	/* Tasks that only read are common, and need no search. */
	if (!state->async.writes && !(bpf_get_current_task_btf()->flags & PF_IO_WORKER))
		return 0;
	operation = async_find_current(state, add);
	if (operation && operation->row.traits & ASYNC_WRITES)
		op_account_read_for_write(&operation->account, bytes);
	return 0;
}
