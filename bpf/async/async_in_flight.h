/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Asynchronous operations in flight, for the iterator that lists what a process is waiting for.
 */
#pragma once

#include "async/async_cut.h"
#include "syscall/in_flight.h"

/* The process that the iterator is at. */
struct async_process {
	struct task_struct *leader;
	struct seq_file *out;
	__u32 pid;
	__u32 rows;		 /* written so far */
	struct async_key oldest; /* of the rest: those without a row of their own */
	__u64 oldest_ns;	 /* its start; 0: there is no rest */
	__u32 rest;
	__u32 count; /* operations that a row stands for */
};

/* A silent operation has no completion event: it may have ended. */
static __always_inline bool async_is_listed(struct async_operation *operation)
{
	return operation->account.op && !(operation->account.flags & TRACE_OP_SILENT);
}

static __noinline int async_list(struct async_key *key, struct async_operation *operation,
				 struct async_process *process)
{
	struct in_flight found = { .account = &operation->account, .task = process->leader };

	found.summed_ns = *(volatile __u64 *)&operation->account.summed_ns;
	found.start_ns = operation->account.start_ns;
	found.flags = IN_FLIGHT_ASYNC;
	found.tid = operation->owner.tid;
	found.key.pid = process->pid;
	found.key.op = operation->account.op;
	found.key.file = operation->account.file;
	found.key.file2 = operation->file2;
	found.key.flags = async_profile_flags(operation->account.flags);
	if (!key->mm && operation->row.shape < ASYNC_SPLICE) {
		if (!uring_find_file((void *)key->address, &found.key.file))
			return 0;
		if (!found.key.file)
			found.summed_ns = ~0ull; /* its end has a file to book the time on */
	}
	if (!in_flight_is_due(&found))
		return 0;
	if (process->rows < IN_FLIGHT_ASYNC_MAX) {
		process->rows++;
		found.count = process->count;
		in_flight_send(&found, process->out);
		return 0;
	}
	process->rest++;
	if (!process->oldest_ns || found.start_ns < process->oldest_ns) {
		process->oldest_ns = found.start_ns;
		process->oldest = *key;
	}
	return 0;
}

static long async_list_slot(struct bpf_map *map, __u32 *number, struct async_slot *slot,
			    struct async_process *process)
{
	if (slot->key.address && slot->operation.owner.pid == process->pid &&
	    async_is_listed(&slot->operation))
		async_list(&slot->key, &slot->operation, process);
	return 0;
}

static long async_list_overflow(struct bpf_map *map, struct async_key *key,
				struct async_operation *operation, struct async_process *process)
{
	if (operation->owner.pid == process->pid && async_is_listed(operation))
		async_list(key, operation, process);
	return 0;
}

/* Lists the operations of the process that `task` leads. */
static __always_inline void async_in_flight(struct task_struct *task, struct seq_file *out)
{
	struct async_process process = {
		.leader = task, .out = out, .pid = task->tgid, .count = 1
	};
	struct async_operation *oldest;

	if (!async_recorded || task->pid != task->tgid ||
	    !bpf_map_lookup_elem(&async_users, &process.pid))
		return;
	bpf_for_each_map_elem(&async_slots, async_list_slot, &process, 0);
	if (async_flight_count)
		bpf_for_each_map_elem(&async_flight, async_list_overflow, &process, 0);
	oldest = process.rest ? async_find(&process.oldest) : NULL;
	if (oldest && async_is_listed(oldest)) {
		process.rows = 0;
		process.count = process.rest;
		async_list(&process.oldest, oldest, &process);
	}
}
