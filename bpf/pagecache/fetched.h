/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages added to the cache of a file other than the one in use by the operation in flight: recorded
 * as indirect, or as unattributed if no operation is in flight.
 */
#pragma once

#include "core/file.h"
#include "core/profile.h"

/* A page added to the cache, to be read or because a write creates it. */
struct page_add {
	__u64 mapping;
	struct inode *host;
	__u64 index;
	__u32 pages;
	__u32 locked; /* inode locked by the task: file systems lock it to write, never to read */
};

/* These functions are global, because they are needed once per file (bpf/core/file.h). Adds the
 * collected pages to their slot. */
__noinline int profile_other_fill(struct op_account *account)
{
	struct profile_done done;

	if (!account)
		return 0;
	profile_fill(&done, account, bpf_get_current_task_btf()->tgid, 0, 0, false);
	done.start_ns = bpf_ktime_get_ns();
	done.shared = 1;
	return profile_add(&done);
}

/* Sends the collected pages when the operation ends. */
__noinline int other_fill_send(struct task_state *state)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct event_pagecache *event;
	struct op_account *account;

	if (!state || !state->other_fill.account.op)
		return 0;
	account = &state->other_fill.account;
	op_account_done(account, 0, 0, false, true);
	if (profile_aggregates(task, bpf_ktime_get_ns())) {
		profile_other_fill(account);
		if (!profile_also_records(task->tgid)) {
			op_account_close(account);
			return 0;
		}
	}
	event = ring_reserve(RECORD_PAGECACHE, sizeof(*event), owner_of(task));
	if (event) {
		event->header.time_ns = bpf_ktime_get_ns();
		event->offset = account->offset;
		event->file = account->file;
		event->fetched_pages = account->fetched_pages;
		event->created_pages = account->created_pages;
		event->op = state->other_fill.during;
		ring_submit(event);
	}
	op_account_close(account);
	return 0;
}

/* Pages of one file that are added during one operation are collected into one record. */
__noinline int other_fill_add(struct task_state *state, struct page_add *add)
{
	struct op_account *account;
	struct address mapping;
	__u32 during;

	if (!state || !add)
		return 0;
	account = &state->other_fill.account;
	during = state->fault.account.op ? OP_FAULT : state->call.account.op;
	if (!account->op || account->mapping != add->mapping ||
	    state->other_fill.during != during) {
		other_fill_send(state);
		mapping.at = add->mapping;
		op_account_open(account);
		account->mapping = add->mapping;
		account->file = file_id_of_mapping(&mapping);
		account->offset = add->index * PAGE_BYTES;
		state->other_fill.during = during;
		op_account_begin(account, during ? OP_INDIRECT : OP_PAGECACHE, 0);
	}
	op_account_book(account, add->pages, add->locked);
	if (!during)
		other_fill_send(state);
	return 0;
}
