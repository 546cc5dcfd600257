/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What devices did, for the table "devices" and for those who draw conclusions from it. Knows
 * nothing of who waited for it.
 */
#ifndef FAULTLINE_DEVICES_H
#define FAULTLINE_DEVICES_H

#include "analysis/measured.h"
#include "analysis/base/interval.h"

/* Requests of one kind of a device that somebody waits for: all that read, and those that write or
 * flush at once. */
struct device_waits {
	uint64_t requests, bytes, queue_ns, service_ns; /* summed up over requests */
	uint64_t parts; /* the same of their parts, which may wait to be a request, too */
	uint64_t part_queue_ns, part_service_ns;
	uint64_t service_p50_ns;    /* of all requests of the kind */
	struct interval_union time; /* with at least one part of any of them under way */
	uint64_t threads_time_ns;   /* the same of each thread's, summed over threads */
};

struct device_view {
	uint32_t host, dev;
	struct trace_string name;
	struct device_waits waits[DEVICE_USES];
	/* Of all that the device did, for whomever; false: not known. */
	bool all_known;
	uint64_t all_bytes, own_bytes; /* read and written; own: those of the run */
	uint64_t all_requests, own_requests;
	uint64_t failed[DEVICE_WRITES + 1]; /* of the run's that read and that write */
	uint64_t flushes, flush_ns;
	/* Of several reports: what it did in all, what of it was the run's, or for how long
	 * somebody waited, is not known of all of them together. */
	bool all_open, own_open, waits_open;
};

/* False behind the last one. Of several reports (measured->job is NULL) as far as their tables
 * tell; `host` and `dev` are not known then. */
bool devices_view(const struct measured *measured, size_t number, struct device_view *view);

/* --- for devices.c --- */

/* Columns of a struct device_waits at `base` in what a row is made of. Returns 0 or -ENOMEM. */
int device_rows_add_waits(struct table *table, enum device_use use, size_t base);
/* Of several reports. */
bool device_rows_view(const struct report *report, size_t number, struct device_view *view);

/* Requests of all devices that the kernel counted and whose ends were not seen; reads or writes. */
uint64_t devices_unseen(const struct measured *measured, enum device_use use);

#endif
