// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Loads only where loops over an array are safe. Before 3990ed4c4266 (5.16, and backported) the
 * verifier recorded a callback's subprogram number too early: a subprogram that it finds later but
 * that is placed before the callback shifts that number, possibly past the end of the table. Such a
 * kernel mistakes loop_check_global for the callback and refuses it, since callbacks must be
 * static. Never attached.
 */
#include "core/loop.h"
#include "vmlinux/trace.h"

static long loop_check_step(__u32 i, __u32 *sum)
{
	*sum += i;
	return 0;
}
LOOP_STEP(loop_check_step)

__noinline int loop_check_global(__u32 number)
{
	return number & 1;
}

static __noinline int loop_check_before(__u32 number)
{
	return loop_check_global(number) + 1;
}

SEC("?raw_tp")
int fl_loop_check(struct bpf_raw_tracepoint_args *context)
{
	__u32 sum = loop_check_before(context->args[0]);

	LOOP(sum, loop_check_step, &sum);
	return sum;
}
