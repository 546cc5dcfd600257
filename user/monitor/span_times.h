/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How long the spans last that programs mark: from records of their begins and ends to bookings,
 * those that are open included. Knows nothing of how records come, nor of who reads the ledger.
 */
#ifndef FAULTLINE_MONITOR_SPAN_TIMES_H
#define FAULTLINE_MONITOR_SPAN_TIMES_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "monitor/ledger.h"

struct span_times;

/* Returns 0 or -ENOMEM. */
int span_times_open(struct span_times **times);
void span_times_close(struct span_times *times); /* NULL is fine */

/* A record of a begin, an end, or a process's end, whole, in any order; others are passed over. */
void span_times_take(struct span_times *times, const struct event_header *record);
/*
 * All records of what was before `until_ns` have come: books what ended, and with `open` what those
 * that go on have lasted so far. The ledger is locked.
 */
void span_times_settle(struct span_times *times, struct ledger *ledger, uint64_t until_ns,
		       bool open);
/* Ends may have been lost: what is open now is never told of again. */
void span_times_forget(struct span_times *times);
/* Records that there was no room for. */
uint64_t span_times_lost(const struct span_times *times);

#endif
