/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Activity of block devices, for the table "devices" and for findings. */
#pragma once

#include "analysis/devices/round_trips.h"
#include "analysis/shared/results.h"
#include "collections/interval.h"

#define FAST_PERCENT 10 /* of round trips and small reads: slower ones may wait for others */

/* A device's requests of one kind that a thread waits for: all reads, and synchronous writes and
 * flushes. */
struct device_waits {
	uint64_t requests, bytes, queue_ns, service_ns; /* summed over requests */
	uint64_t parts; /* the same for their parts, which may also wait to become a request */
	uint64_t part_queue_ns, part_service_ns;
	uint64_t service_p50_ns;    /* of all requests of this kind */
	struct interval_union time; /* with at least one part of any request in flight */
	uint64_t threads_time_ns;   /* the same per thread, summed over threads */
};

/* Returns the average requests in flight while there are any. */
static inline double device_in_flight(const struct device_waits *waits)
{
	return waits->time.measure ? ((double)waits->part_queue_ns + waits->part_service_ns) /
					     waits->time.measure
				   : 0;
}

struct device_view {
	uint32_t host, dev;
	uint64_t device; /* see event_device */
	struct trace_string name;
	bool mount;				    /* with a server, not a block device */
	bool queue_unknown;			    /* all time counts as service */
	struct device_waits waits[DEVICE_USES + 1]; /* the last: of a mount, its other requests */
	/* All activity of the device, including other processes; false: unknown. */
	bool all_known;
	uint64_t all_bytes, own_bytes; /* reads and writes; own: by the run */
	uint64_t all_requests, own_requests;
	uint64_t failed[DEVICE_WRITES + 1]; /* failed reads and writes of the run */
	uint64_t flushes, flush_ns;
	/* Reads of at most THRESHOLD_SMALL_READ, and the time that FAST_PERCENT of them stay
	 * below: others wait behind readahead. 0 in merged reports. */
	uint64_t small_reads, small_read_ns;
	/* Mounts only; unknown (0, NULL) in merged reports. */
	uint64_t reads_in_order; /* that start where the previous one on their file ends */
	uint64_t other_requests, other_ns, data_ns; /* times summed over requests */
	const char *leading_op;			    /* of the other requests, by time; "": none */
	/* All requests of the run; those that were sent more than once, and how often that was; the
	 * time with such ones in flight until they were last sent, if a thread waits for them. */
	uint64_t requests, resent, retransmits, resent_ns[DEVICE_USES + 1];
	struct round_trips_view trips;
	/* Merged reports: not every report knows the device's total activity, the run's share, or
	 * the wait times. */
	bool all_open, own_open, waits_open;
};

/* Returns false past the last device. For merged reports (results->job is NULL) the values come
 * from their tables, and `host` and the numbers are unknown. */
bool devices_view(const struct results *results, size_t number, struct device_view *view);

/* Returns sums over all devices' reads: `bytes`, `parts`, and `time.measure`, of each device on its
 * own. The other members are 0. */
struct device_waits devices_reads(const struct results *results);

/* --- for devices.c --- */

/* Adds columns for a struct device_waits at offset `base` of a row. */
void device_rows_add_waits(struct table *table, enum device_use use, size_t base);
/* For merged reports: reads a row of the table back. */
bool device_rows_view(const struct table *table, size_t number, struct device_view *view);

/* Returns the requests of all devices that the kernel counted but that have no completion event;
 * reads or writes. */
uint64_t devices_unseen(const struct results *results, enum device_use use);
