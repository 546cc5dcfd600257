/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Loops of a length that the verifier does not know: bpf_loop, which came with 5.17. The build for
 * older kernels (see kernel.h) iterates over an array's elements instead, since 5.13.
 */
#pragma once

#include "core/kernel.h"

struct bpf_map;

#define LOOP_TURNS_MAX 65536

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOOP_TURNS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} loop_turns SEC(".maps");

/*
 * LOOP calls step(0, context), step(1, context), and so on: `count` times, or until it returns 1
 * instead of 0. `context` points to the stack. LOOP_STEP follows the step's definition.
 */
#ifdef FAULTLINE_PROBE_READ
struct loop {
	void *context;
	__u64 count;
};

#define LOOP_STEP(step)                                                                            \
	static long step##_turn(struct bpf_map *map, __u32 *turn, __u32 *unused,                   \
				struct loop *loop)                                                 \
	{                                                                                          \
		return *turn >= loop->count || step(*turn, loop->context);                         \
	}
#define LOOP(count_, step, context_)                                                               \
	({                                                                                         \
		struct loop __loop = { .context = (context_), .count = (count_) };                 \
		bpf_for_each_map_elem(&loop_turns, step##_turn, &__loop, 0);                       \
	})
#else
#define LOOP_STEP(step)
#define LOOP(count, step, context) bpf_loop(count, step, context, 0)
#endif
