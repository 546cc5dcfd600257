/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Recent activity of jobs: what was added to a ledger's sums between two moments. */
#pragma once

#include <stdint.h>

#include "monitor/ledger/ledger.h"

struct rates;

#define RATES_NODE 0 /* instead of a job's id: the whole node */

struct rates *rates_open(void);	       /* NULL if out of memory */
void rates_close(struct rates *rates); /* NULL is fine */

/*
 * Locked, like all functions below. Ends an interval if sums were read since the last one, and that
 * is at least `min_ns` ago. If out of memory, the last interval stays.
 */
void rates_note(struct rates *rates, const struct ledger *ledger, uint64_t min_ns);
/* Returns the length of the last interval; 0: none yet. */
uint64_t rates_interval_ns(const struct rates *rates);
/* Returns what a job did in it by this operation and method; all zeros if nothing. `latencies`
 * receives LEDGER_LATENCIES counts, or is NULL. */
struct ledger_counts rates_added(const struct rates *rates, uint64_t job, enum ledger_op op,
				 enum io_method method, uint64_t *latencies);
/* The same over all operations and methods; and for one of the job's files. */
struct ledger_counts rates_total(const struct rates *rates, uint64_t job);
struct ledger_counts rates_file(const struct rates *rates, uint64_t job,
				const struct ledger_file *file);
