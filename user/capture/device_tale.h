/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Cumulative counters of block devices, recorded whenever they change.
 */
#ifndef FAULTLINE_DEVICE_TALE_H
#define FAULTLINE_DEVICE_TALE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/ring.h"

struct device_tale;

/* `places`, which is mapped, and `totals` are maps that must outlive it; with `merges`, they count
 * merges and requeues. Returns 0 or a negative errno. */
int device_tale_open(struct device_tale **tale, int places, int totals, int cpus, bool merges);
void device_tale_close(struct device_tale *tale); /* NULL is fine */

/* Call while requests are still recorded, as they must be at device_tale_open: between the two
 * calls, the kernel's own counters reveal unseen requests. */
void device_tale_end(struct device_tale *tale);

/* Passes on a record for each device whose counters have changed. Returns 0 or a negative errno;
 * does nothing for NULL. */
int device_tale_go_on(struct device_tale *tale, ring_record_fn take, void *context);

/* Returns the number of records passed on. */
uint64_t device_tale_told(const struct device_tale *tale);

#endif
