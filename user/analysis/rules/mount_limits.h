/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What limits the reads of an NFS mount: the link, or the server. */
#pragma once

#include "analysis/devices/devices.h"
#include "analysis/shared/finding_threshold.h"

THRESHOLD_MIN(ROUND_TRIPS, 20, UNIT_COUNT, "NFS reads, and requests without data, to compare",
	      "a choice: as for requests to a device");
THRESHOLD_MIN(TRIP_OF_READ, 0.5, UNIT_SHARE,
	      "share of a read's round trip that one without data takes, for the link to be slow",
	      "a choice: most of it");
THRESHOLD_MAX(FAST_READ, 0.5, UNIT_SHARE,
	      "share of a read's round trip that the fastest tenth take, for the server to be slow",
	      "the link carries such reads in that time");
THRESHOLD_MAX(ONE_READ, 1.5, UNIT_NONE,
	      "average reads in flight, for that: more of them wait for each other on the link",
	      "a choice: most of the time there is one");

/* Returns a text, or NULL if round trips to that device are not known. */
const char *mount_limit(const struct device_view *view);
/* Returns the average requests in flight while there are any. */
static inline double mount_in_flight(const struct device_waits *waits)
{
	return waits->time.measure ? ((double)waits->part_queue_ns + waits->part_service_ns) /
					     waits->time.measure
				   : 0;
}
