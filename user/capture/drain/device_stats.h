/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Cumulative counters of block devices, recorded whenever they change. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/drain/ring.h"

struct device_stats;

/* `slots`, which is mapped, and `totals` are maps that must outlive it; with `merges`, they count
 * merges and requeues. Returns 0 or a negative errno. */
int device_stats_open(struct device_stats **stats, int slots, int totals, int cpus, bool merges);
void device_stats_close(struct device_stats *stats); /* NULL is fine */

/* Call while requests are still recorded, as they must be at device_stats_open: between the two
 * calls, the kernel's own counters reveal unseen requests. */
void device_stats_end(struct device_stats *stats);

/* Passes on a record for each device whose counters have changed. Returns 0 or a negative errno;
 * does nothing for NULL. */
int device_stats_emit(struct device_stats *stats, ring_record_fn take, void *context);

/* Returns the number of records passed on. */
uint64_t device_stats_count(const struct device_stats *stats);
