/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Calls without a regular end: calls whose end was not seen, and calls that a signal suspends and
 * the kernel restarts.
 */
#pragma once

#include "syscall/call_args.h"

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

/*
 * A signal interrupted the call in flight. After the signal handler returns, the kernel either
 * restarts the call or returns EINTR; what follows shows which. Returns 0 if an outer call is
 * already suspended, one whose handler made this call.
 */
__noinline int call_suspend(struct task_state *state, __u64 ip, __u64 sp)
{
	if (!state || state->call_suspended)
		return 0;
	state->suspended.call = state->call;
	state->suspended.end_ns = bpf_ktime_get_ns();
	state->suspended.ip = ip;
	state->suspended.sp = sp;
	state->call_suspended = 1;
	op_account_close(&state->call.account);
	return 1;
}

static __always_inline void call_restore(struct task_state *state)
{
	state->call = state->suspended.call;
	state->call_suspended = 0;
}

/* The call that has just begun may be the suspended one, restarted. */
__noinline int call_continue(struct task_state *state, __u64 ip, __u64 sp)
{
	if (!state || state->suspended.call.number != state->call.number ||
	    state->suspended.ip != ip || state->suspended.sp != sp)
		return 0;
	call_restore(state);
	return 1;
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
