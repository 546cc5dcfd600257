/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls without a regular end: calls whose end was not seen, and calls that a signal suspends and
 * the kernel restarts.
 */
#pragma once

#include "syscall/call_exit.h"

/* Counts a call whose end was not seen, and whose result and duration are unknown. Not counted once
 * the recording is ending: exit programs are detached before entry programs. */
__noinline int call_end_unseen(struct task_state *state)
{
	if (!state)
		return 0;
	if (!recording_ended) {
		op_account_done(&state->call.account, 0, 0, false, calls_preempted);
		ring_lose(RECORD_SYSCALL);
	}
	op_account_close(&state->call.account);
	return 0;
}

static __noinline int call_cut_at(struct task_state *state, __u64 end_ns)
{
	struct call_end end = { .result = -EINTR };

	end.duration_ns = end_ns - state->call.account.start_ns;
	state->call.account.offset = -1;
	state->call.account.flags |= TRACE_OP_UNFINISHED;
	call_done_any(state, &end, 0);
	if (state->other_fill.account.op)
		other_fill_send(state);
	op_account_close(&state->call.account);
	return 0;
}

/* Major faults since then are not the call's. */
static __always_inline void call_restore(struct task_state *state)
{
	struct task_struct *task = bpf_get_current_task_btf();

	state->call = state->suspended.call;
	state->call.major_start += (__u32)task->maj_flt - state->suspended.major_end;
	state->call_suspended = SUSPENDED_NONE;
}

/* The suspended call will not go on: its thread exits, or its handler did not return. */
static __noinline int call_cut_suspended(struct task_state *state)
{
	call_restore(state);
	return call_cut_at(state, state->suspended.end_ns);
}

/* Exchanges the call in flight with the suspended one, word by word to save stack. */
static __always_inline void call_exchange(struct task_state *state)
{
	__u64 *call = (__u64 *)&state->call, *suspended = (__u64 *)&state->suspended.call;

	for (__u32 i = 0; i < sizeof(state->call) / sizeof(*call); i++) {
		__u64 word = call[i];

		call[i] = suspended[i];
		suspended[i] = word;
	}
}

/*
 * A signal interrupted the call in flight. After the signal handler returns, the kernel either
 * restarts the call or returns EINTR; what follows shows which. A call that is already suspended is
 * cut off: usually a handler has left it by siglongjmp. If instead a second signal interrupted a
 * call of the handler, the outer call is recorded once more when it restarts.
 */
__noinline int call_suspend(struct task_state *state, __u64 ip, __u64 sp)
{
	struct task_struct *task = bpf_get_current_task_btf();

	if (!state)
		return 0;
	if (state->call_suspended) {
		call_exchange(state);
		state->call.major_start += (__u32)task->maj_flt - state->suspended.major_end;
		call_cut_at(state, state->suspended.end_ns);
	} else {
		state->suspended.call = state->call;
	}
	state->suspended.end_ns = bpf_ktime_get_ns();
	state->suspended.ip = ip;
	state->suspended.sp = sp;
	state->suspended.major_end = task->maj_flt;
	state->call_suspended = SUSPENDED_RESUMES;
	op_account_close(&state->call.account);
	return 0;
}

/* A call begins while another one is suspended. One made at the same place, but not next, shows
 * that the handler has not returned. */
__noinline int call_begins_suspended(struct task_state *state, __u64 number, __u64 ip, __u64 sp)
{
	bool same;

	if (!state)
		return 0;
	same = state->suspended.ip == ip && state->suspended.sp == sp;
	if (number == sigreturn_number) {
		state->call_suspended = SUSPENDED_RESUMES;
	} else if (same && state->call_suspended == SUSPENDED_HANDLER) {
		if (state->call.account.op)
			call_end_unseen(state);
		call_cut_suspended(state);
	} else if (!same || state->suspended.call.number != number) {
		state->call_suspended = SUSPENDED_HANDLER;
	}
	return 0;
}

/* A handler has returned to where the suspended call was made. Returns 1 if that call ended with
 * EINTR. */
__noinline int call_interrupted(struct task_state *state, __u64 ip, __u64 sp, __s64 result)
{
	if (!state || state->suspended.ip != ip || state->suspended.sp != sp || result != -EINTR)
		return 0;
	call_restore(state);
	return 1;
}
