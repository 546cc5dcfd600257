/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* What limits the reads of an NFS mount, and the finding about its readahead. */
#include "analysis/rules/mount_limits.h"

#include "analysis/finding/finding.h"

static bool are_comparable(const struct round_trips_view *trips)
{
	return trips->reads >= threshold(THRESHOLD_ROUND_TRIPS) &&
	       trips->empty >= threshold(THRESHOLD_ROUND_TRIPS);
}

const char *mount_limit(const struct device_view *view)
{
	const struct round_trips_view *trips = &view->trips;

	if (!trips->reads)
		return NULL;
	if (are_comparable(trips) &&
	    trips->empty_fast >= threshold(THRESHOLD_TRIP_OF_READ) * trips->reads_p50)
		return "the link is slow, or the server delays every request";
	if (are_comparable(trips) &&
	    trips->reads_fast <= threshold(THRESHOLD_FAST_READ) * trips->reads_p50 &&
	    mount_in_flight(&view->waits[DEVICE_READS]) <= threshold(THRESHOLD_ONE_READ))
		return "the server is slow";
	return "the link or the server is slow; which is unknown";
}

/* --- readahead --- */

struct mount_window {
	struct table_text mount;
	uint64_t bytes, window, each_ns, time_ns, bandwidth, round_trip_ns;
	double share, in_flight;
};

static const struct table_column window_evidence[] = {
	FACT(mount_window, mount, "mount", NONE, "source and type of the mount"),
	FACT(mount_window, bytes, "bytes", BYTES, "bytes of the run read from its server"),
	FACT(mount_window, window, "readahead", BYTES, "limit on readahead of its files"),
	FACT(mount_window, share, "share", SHARE,
	     "share of the bytes that were read in order, by requests as large as that"),
	FACT(mount_window, each_ns, "each", NS, "median round trip of a read"),
	FACT(mount_window, in_flight, "in flight", NONE,
	     "average reads in flight while there were any"),
	FACT(mount_window, round_trip_ns, "without data", NS,
	     "what the fastest tenth of requests without data take; null: too few"),
	COLUMN(mount_window, time_ns, "time", NS, UNION, "time with at least one read in flight"),
	COLUMN(mount_window, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
};

THRESHOLD_MAX(MOUNT_WINDOW, 524288, UNIT_BYTES, "limit on readahead that is small",
	      "Linux servers accept reads (rsize) of 1 MiB");
THRESHOLD_MIN(MOUNT_WINDOW_SHARE, 0.5, UNIT_SHARE,
	      "share of the bytes in requests in order that are as large as the limit",
	      "a choice: most of them; smaller ones are limited by rsize or the program");
THRESHOLD_MAX(MOUNT_IN_FLIGHT, 2, UNIT_NONE, "average reads in flight",
	      "readahead requests one window while the previous one is used");

static bool is_window_small(const struct findings *findings, const struct device_view *view)
{
	const struct device_waits *reads = &view->waits[DEVICE_READS];
	const struct round_trips_view *trips = &view->trips;

	return trips->reads && trips->window &&
	       trips->window <= threshold(THRESHOLD_MOUNT_WINDOW) &&
	       finding_is_enough_in(findings, reads->requests, &THRESHOLD_SMALL_REQUESTS,
				    reads->time.measure) &&
	       trips->window_bytes >= threshold(THRESHOLD_MOUNT_WINDOW_SHARE) * reads->bytes &&
	       mount_in_flight(reads) <= threshold(THRESHOLD_MOUNT_IN_FLIGHT);
}

/* Larger requests save round trips, but no transfer. */
static uint64_t window_cost(const struct findings *findings, const struct round_trips_view *trips,
			    uint64_t time_ns)
{
	double saved;

	if (!are_comparable(trips) || !trips->reads_p50)
		return TABLE_NO_UINT;
	saved = fmin((double)trips->empty_fast / trips->reads_p50, 1) *
		(1 - trips->window / (2 * threshold(THRESHOLD_MOUNT_WINDOW)));
	return finding_unhidden(findings, IO_READ, finding_limited(time_ns * saved));
}

static int find_window(struct findings *findings, const struct finding_rule *rule)
{
	struct device_view view;
	int status = 0;

	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		const struct device_waits *reads = &view.waits[DEVICE_READS];
		struct mount_window found;

		if (!is_window_small(findings, &view))
			continue;
		found = (struct mount_window) {
			.mount = finding_device_name(findings, view.name, view.dev),
			.bytes = reads->bytes,
			.window = view.trips.window,
			.share = finding_share(view.trips.window_bytes, reads->bytes),
			.each_ns = view.trips.reads_p50,
			.in_flight = mount_in_flight(reads),
			.round_trip_ns =
				are_comparable(&view.trips) ? view.trips.empty_fast : TABLE_NO_UINT,
			.time_ns = reads->time.measure,
			.bandwidth = finding_bandwidth(reads->bytes, reads->time.measure),
		};
		status = finding_add(findings, rule, &found,
				     window_cost(findings, &view.trips, found.time_ns),
				     TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_mount_readahead = {
	.id = "mount-readahead",
	.order = 523,
	.needs = JOB_NFS,
	.find = find_window,
	.confidence = FINDING_LIKELY,
	.reported_by = { "mount-small-reads" },
	FINDING_EVIDENCE(struct mount_window, window_evidence),
	.thresholds = { &THRESHOLD_SMALL_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_MOUNT_WINDOW, &THRESHOLD_MOUNT_WINDOW_SHARE,
			&THRESHOLD_MOUNT_IN_FLIGHT, &THRESHOLD_ROUND_TRIPS },
	.title = "Readahead of {mount} is small",
	.says = "{share} of {bytes} was read in order by requests of {window}, all that readahead "
		"allows; {each_ns} each, {in_flight} in flight, at {bandwidth}/s[; round trips "
		"without data take {round_trip_ns}]",
	.advice = "Raise read_ahead_kb of the mount in /sys/class/bdi (nfsrahead does so when "
		  "mounting), for example to 15 times rsize, or read with several threads",
	.more = "faultline report --table devices TRACE",
	.pictures = "requests",
	.rule = "A file that is read in order is fetched ahead of use, one readahead window at a "
		"time. Since Linux 5.4 an NFS mount's window is 128 KiB by default, although its "
		"server accepts reads of up to rsize, often 1 MiB: each window is a request of "
		"its own, and a round trip. Requests smaller than the window are limited by "
		"rsize or by the program instead, and do not count. What larger windows save is "
		"the round trips, which requests without data show, and not the transfer.",
};
