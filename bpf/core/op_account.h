/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * An account collects what belongs to one operation, from its start until it is done. Calls and
 * faults have accounts, and so do page-cache fills of other files (fetched.h); other kinds of
 * operations (requests, asynchronous reads) keep an account in memory of their own.
 *
 *	op_account_open(&account)			resets it, except start_ns, offset and
 *							summed_ns;
 *	account.file = ..., .mapping = ...		what is known in advance;
 *	op_account_begin(&account, op, now_ns)		in flight from here on: account.op is set;
 *	op_account_book(&account, pages, created)	for each folio added to the page cache;
 *	op_account_done(&account, ...)			once: adds it to the totals, whatever
 *							becomes of the record, which the layer
 *							makes next;
 *	op_account_close(&account)			no longer in flight.
 *
 * A record has an owner, which need not be the current task: requests end in interrupts, kworkers
 * write, and io workers read for the submitting task.
 */
#pragma once

#include "core/number.h"
#include "core/settings.h"
#include "core/totals.h"
#include "vmlinux/sched.h"

/* 0: the kernel */
struct owner {
	__u32 pid;
	__u32 tid;
};

static __always_inline struct owner owner_of(struct task_struct *task)
{
	return (struct owner) { .pid = task->tgid, .tid = task->pid };
}

struct op_account {
	__u64 start_ns;
	__s64 offset;  /* in the file, in bytes; -1: not applicable */
	__u64 mapping; /* page cache of the operation's file; 0: unknown */
	__u32 file;    /* id; 0: none or unknown */
	__u32 op;      /* 0: not in flight */
	__u32 flags;   /* as in the record: TRACE_OP_*, TRACE_FAULT_* */
	__u32 dirtied_pages;
	__u32 fetched_pages;	    /* added to the page cache for reading */
	__u32 created_pages;	    /* newly cached by writing */
	__u32 read_for_write_bytes; /* read from storage to complete partial pages */
	__u32 open_file;	    /* for asynchronous operations; see open_file_of */
	__u64 summed_ns;	    /* time up to here is in the sums: see op_account_end_summed */
};

static __always_inline void op_account_open(struct op_account *account)
{
	account->mapping = 0;
	account->file = 0;
	account->op = 0;
	account->flags = 0;
	account->dirtied_pages = 0;
	account->fetched_pages = 0;
	account->created_pages = 0;
	account->read_for_write_bytes = 0;
	account->open_file = 0;
}

static __always_inline void op_account_begin(struct op_account *account, __u32 op, __u64 now_ns)
{
	account->start_ns = now_ns;
	account->op = op;
}

static __always_inline void op_account_book(struct op_account *account, __u32 pages, bool created)
{
	if (created)
		account->created_pages += pages;
	else
		account->fetched_pages += pages;
}

/* A write that changes part of a page reads the rest from storage: that page is not newly
 * created. */
static __always_inline void op_account_read_for_write(struct op_account *account, __u32 bytes)
{
	__u32 pages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;

	account->read_for_write_bytes += bytes;
	account->created_pages = number_sub(account->created_pages, pages);
}

/* `now_ns` is 0 if the end is unknown. */
static __always_inline __u64 op_account_duration_ns(const struct op_account *account, __u64 now_ns)
{
	return number_sub(now_ns, account->start_ns);
}

/* Counts pages dirtied by a store, or by a call that prepares for stores. */
static __always_inline void op_account_count_dirtied(__u32 pages)
{
	struct op_total *total = op_total(OP_DIRTIED);

	if (!total)
		return;
	count_add(&total->count, 1, true);
	count_add(&total->bytes, pages * PAGE_BYTES, true);
}

/* `result` is a negative errno, or what the operation returned, in bytes or in units of its own.
 * `preempted`: see count_add. */
static __always_inline void op_account_done(const struct op_account *account, __u64 duration_ns,
					    __s64 result, bool in_bytes, bool preempted)
{
	struct op_total *total = op_total(account->op);

	if (!total)
		return;
	count_add(&total->count, 1, preempted);
	count_add(&total->time_ns, duration_ns, preempted);
	if (account->fetched_pages)
		count_add(&total->fetched_pages, account->fetched_pages, preempted);
	if (account->created_pages)
		count_add(&total->created_pages, account->created_pages, preempted);
	if (account->read_for_write_bytes)
		count_add(&total->read_for_write_bytes, account->read_for_write_bytes, preempted);
	if (account->dirtied_pages)
		op_account_count_dirtied(account->dirtied_pages);
	if (result < 0 && result >= -4095) {
		/* An unfinished operation has no result, so it is no error. */
		if (!(account->flags & TRACE_OP_UNFINISHED))
			count_add(&total->errors, 1, preempted);
	} else if (in_bytes) {
		count_add(&total->bytes, result, preempted);
	}
}

/*
 * An iterator over tasks adds the time of operations in flight to the sums while their tasks keep
 * running. summed_ns is the time up to which an operation is in the sums; before start_ns, none of
 * it is. The iterator reads summed_ns first and claims the time up to now by compare-and-exchange,
 * so it claims nothing once the operation has ended. The end claims the rest by an exchange.
 * Operations shorter than IN_FLIGHT_ENDS_NS skip that; the iterator ignores those younger than
 * IN_FLIGHT_MIN_NS.
 */
#define IN_FLIGHT_MIN_NS 10000000
#define IN_FLIGHT_ENDS_NS 1000000

/* Returns the part of an ending operation's duration that was added while it was in flight. */
static __always_inline __u64 op_account_end_summed(struct op_account *account, __u64 duration_ns)
{
	__u64 end_ns = account->start_ns + duration_ns;
	__u64 summed_ns = __sync_lock_test_and_set(&account->summed_ns, end_ns);

	if (summed_ns <= account->start_ns)
		return 0;
	return summed_ns < end_ns ? summed_ns - account->start_ns : duration_ns;
}

static __always_inline void op_account_close(struct op_account *account)
{
	account->op = 0;
}
