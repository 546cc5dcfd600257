/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The lanes, drained slot by slot. Knows how slots are handed over (bpf/event.h), nothing of the
 * records in them.
 */
#ifndef FAULTLINE_LANE_H
#define FAULTLINE_LANE_H

#include <stddef.h>

#include "capture/ring.h"

struct lanes;

/* Maps the memory of `count` lanes of `slots` slots each (a power of two) behind the two array
 * maps. Returns 0 or a negative errno. */
int lanes_open(struct lanes **lanes, int controls_fd, int slots_fd, unsigned int count,
	       size_t slots);
void lanes_close(struct lanes *lanes); /* NULL is fine */

/* Notes how far the lanes are filled now: what lanes_drain hands on next. Records in the rings at
 * that moment, drained in between, thus come before the ones here that may refer to them. */
void lanes_mark(struct lanes *lanes);
/* Hands on what was there at the mark, lane by lane. Returns the number of records. */
size_t lanes_drain(struct lanes *lanes, ring_record_fn take, void *context);

#endif
