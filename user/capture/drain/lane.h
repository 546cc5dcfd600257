/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Drains the slots of the CPU buffers, in runs. bpf/records/event_lane.h explains the handover. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct lanes;
struct lane_slot;

/* Maps the memory of the two array maps: `count` CPU buffers of `slots` slots each (a power of
 * two). Returns 0 or a negative errno. */
int lanes_open(struct lanes **lanes, int controls_fd, int slots_fd, unsigned int count,
	       size_t slots);
void lanes_close(struct lanes *lanes); /* NULL is fine */

/* Marks how far the CPU buffers are filled now: lanes_drain stops there. Ring records present at
 * that moment, drained in between, thus come before slots that may refer to them. */
void lanes_mark(struct lanes *lanes);

/* Receives consecutive slots, valid only during the call. */
typedef void (*lane_slots_fn)(void *context, unsigned int lane, const struct lane_slot *slots,
			      size_t count);

/* Passes on what was there at the mark, one CPU buffer at a time. Returns the number of slots. */
size_t lanes_drain(struct lanes *lanes, lane_slots_fn take, void *context);

/* Returns the number of slots ever filled or being filled. */
uint64_t lanes_given(const struct lanes *lanes);
/* Returns how many of them were overwritten before they were read. Callable from any thread. */
uint64_t lanes_overrun(const struct lanes *lanes);
