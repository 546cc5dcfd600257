/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The lanes, drained by runs of slots. Knows how slots are handed over (bpf/event_lane.h), nothing
 * of the records in them.
 */
#ifndef FAULTLINE_LANE_H
#define FAULTLINE_LANE_H

#include <stddef.h>
#include <stdint.h>

struct lanes;
struct lane_slot;

/* Maps the memory of `count` lanes of `slots` slots each (a power of two) behind the two array
 * maps. Returns 0 or a negative errno. */
int lanes_open(struct lanes **lanes, int controls_fd, int slots_fd, unsigned int count,
	       size_t slots);
void lanes_close(struct lanes *lanes); /* NULL is fine */

/* Notes how far the lanes are filled now: what lanes_drain hands on next. Records in the rings at
 * that moment, drained in between, thus come before the ones here that may refer to them. */
void lanes_mark(struct lanes *lanes);

/* Gets slots that stand right after another; valid until it returns. */
typedef void (*lane_slots_fn)(void *context, unsigned int lane, const struct lane_slot *slots,
			      size_t count);

/* Hands on what was there at the mark, lane by lane. Returns the number of slots. */
size_t lanes_drain(struct lanes *lanes, lane_slots_fn take, void *context);

/* How many slots were given over, or are being filled, since the lanes were made. */
uint64_t lanes_given(const struct lanes *lanes);
/* How many of those were overwritten before they were read. May be asked from any thread. */
uint64_t lanes_overrun(const struct lanes *lanes);

#endif
