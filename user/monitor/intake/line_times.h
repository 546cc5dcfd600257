/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Time at lines of Python: turns samples of stacks into bookings on the line that is named for a
 * stack, as in reports.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "monitor/ledger/ledger.h"

struct line_times;
struct python_live;
struct thread_list;

/* `generation_out`: see python_frames_share_generation. Returns 0 or -ENOMEM. */
int line_times_open(struct line_times **times, volatile uint32_t *generation_out);
void line_times_close(struct line_times *times); /* NULL is fine */

/* Takes a record of a code object, a stack or a sample. Returns false for others. If `times` is
 * NULL, leaves them out. */
bool line_times_take(struct line_times *times, const struct event_header *record);
/* Reads the stacks of blocked threads, and takes a sample of each, of its wait since `since_ns`.
 * Samples of the last call must have been booked. Takes up to 200 ms if a process hangs. */
void line_times_take_blocked(struct line_times *times, struct python_live *live,
			     const struct thread_list *threads, uint64_t since_ns);
/* Books the samples that were taken. Records of their stacks have been taken, too. Caller holds the
 * ledger's lock. */
void line_times_settle(struct line_times *times, struct ledger *ledger);
/* Return the number of samples that had no room until they were booked; and of those that were not
 * booked, because their stack or process is unknown, or there was no room for another line. */
uint64_t line_times_lost(const struct line_times *times);
uint64_t line_times_unnamed(const struct line_times *times);
