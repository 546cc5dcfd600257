/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Durations of spans that programs mark: turns records of begins and ends into bookings, including
 * those of open spans.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "monitor/ledger/ledger.h"

struct span_times;

/* Returns 0 or -ENOMEM. */
int span_times_open(struct span_times **times);
void span_times_close(struct span_times *times); /* NULL is fine */

/* Takes a whole record of a begin, an end or a process's exit, in any order; others are ignored. */
void span_times_take(struct span_times *times, const struct event_header *record);
/*
 * All records from before `until_ns` have arrived: books spans that ended and, with `open`, the
 * time of those that are still open. Caller holds the ledger's lock.
 */
void span_times_settle(struct span_times *times, struct ledger *ledger, uint64_t until_ns,
		       bool open);
/* Ends may have been lost: drops all open spans. */
void span_times_forget(struct span_times *times);
/* Returns the number of records lost for lack of room. */
uint64_t span_times_lost(const struct span_times *times);
/* Returns how many of them may have ended open spans: not begins. */
uint64_t span_times_lost_ends(const struct span_times *times);
