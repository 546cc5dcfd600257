/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What block devices have done so far, told again whenever it has changed. Knows the kernel side's
 * maps, and nothing of requests.
 */
#ifndef FAULTLINE_DEVICE_TALE_H
#define FAULTLINE_DEVICE_TALE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/ring.h"

struct device_tale;

/* `places`, which is read in place, and `totals` are maps that outlive it; `merges`: those are
 * counted, and so are requeues. Returns 0 or a negative errno. */
int device_tale_open(struct device_tale **tale, int places, int totals, int cpus, bool merges);
void device_tale_close(struct device_tale *tale); /* NULL is fine */

/* To be called before requests are no longer recorded, as they are when it is opened: between the
 * two the kernel's own counts tell what was not seen. */
void device_tale_end(struct device_tale *tale);

/* Hands on a record for each device whose sums have changed. Returns 0 or a negative errno; NULL
 * has nothing to tell. */
int device_tale_go_on(struct device_tale *tale, ring_record_fn take, void *context);

/* How many records it has handed on. */
uint64_t device_tale_told(const struct device_tale *tale);

#endif
