/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What jobs have done lately: what was added to a ledger's sums between two moments. Knows nothing
 * of who asks.
 */
#ifndef FAULTLINE_MONITOR_RATES_H
#define FAULTLINE_MONITOR_RATES_H

#include <stdint.h>

#include "monitor/ledger.h"

struct rates;

#define RATES_NODE 0 /* in place of a job's id: the whole node */

struct rates *rates_open(void);	       /* NULL without memory */
void rates_close(struct rates *rates); /* NULL is fine */

/*
 * Locked, as all of these: ends an interval, if what was done was read since the last one and that
 * is at least `least_ns` ago. Without memory the last interval stays.
 */
void rates_note(struct rates *rates, const struct ledger *ledger, uint64_t least_ns);
/* How long the last interval was; 0: there was none yet. */
uint64_t rates_interval_ns(const struct rates *rates);
/* Adds up what a job did in it by this operation and path; all zeros where that is nothing. Of
 * `latencies` LEDGER_LATENCIES, or NULL. */
struct ledger_counts rates_added(const struct rates *rates, uint64_t job, enum ledger_op op,
				 enum io_method method, uint64_t *latencies);
/* The same over all operations and paths; and of one of the job's files. */
struct ledger_counts rates_total(const struct rates *rates, uint64_t job);
struct ledger_counts rates_file(const struct rates *rates, uint64_t job,
				const struct ledger_file *file);

#endif
