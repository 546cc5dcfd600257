/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Times of threads by state: turns records, which a thread sends at most once a second while it
 * switches, and rows of what each has done since its last record into bookings.
 */
#pragma once

#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/session/in_flight.h"
#include "monitor/ledger/ledger.h"

struct thread_times;

/* Returns 0 or -ENOMEM. */
int thread_times_open(struct thread_times **times);
void thread_times_close(struct thread_times *times); /* NULL is fine */

/* Keeps a record of times until thread_times_settle; others are ignored. */
void thread_times_take(struct thread_times *times, const struct event_header *record);
/*
 * Books the records, and the rows of threads that go on. The list was read after the last call, and
 * all records sent before then have been taken; NULL: none was read. Caller holds the ledger's
 * lock.
 */
void thread_times_settle(struct thread_times *times, struct ledger *ledger,
			 const struct thread_list *list);
/* Returns the number of records lost for lack of room. */
uint64_t thread_times_lost(const struct thread_times *times);
