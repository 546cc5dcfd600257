/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about mounts with servers, where most operations take a round trip to one. */
#include "analysis/devices/devices.h"
#include "analysis/finding/finding.h"
#include "base/number.h"

/* --- requests that are sent again --- */

struct mount_resent {
	struct table_text mount;
	uint64_t requests, resent, retransmits, waited_ns;
	double share;
};

static const struct table_column resent_evidence[] = {
	FACT(mount_resent, mount, "mount", NONE, "source and type of the mount"),
	FACT(mount_resent, requests, "requests", COUNT, "requests of the run to its server"),
	FACT(mount_resent, resent, "sent again", COUNT, "those that were sent more than once"),
	FACT(mount_resent, retransmits, NULL, COUNT, "times that they were sent after the first"),
	FACT(mount_resent, share, "share", SHARE, "share of the requests that were sent again"),
	FACT(mount_resent, waited_ns, "waited", NS,
	     "time in which threads waited for such requests that no reply came to"),
};

THRESHOLD_MIN(MOUNT_RESENT, 0.01, UNIT_SHARE, "share of requests that are sent again",
	      "a choice: TCP repeats lost packets by itself, so on a sound mount it is none");

/* Returns the time in which threads waited, and in *cost_ns the part that nothing hides. */
static uint64_t resent_wait(const struct findings *findings, const struct device_view *view,
			    uint64_t *cost_ns)
{
	static const enum io_class classes[] = { [DEVICE_READS] = IO_READ,
						 [DEVICE_WRITES] = IO_WRITE,
						 [DEVICE_FLUSHES] = IO_SYNC,
						 [DEVICE_USES] = IO_METADATA };
	uint64_t waited_ns = 0;

	*cost_ns = 0;
	for (int use = 0; use <= DEVICE_USES; use++) {
		if (!view->resent_ns[use])
			continue;
		waited_ns = number_add(waited_ns, view->resent_ns[use]);
		*cost_ns = number_add(
			*cost_ns, finding_unhidden(findings, classes[use], view->resent_ns[use]));
	}
	*cost_ns = number_min(*cost_ns, findings->duration_ns);
	return number_min(waited_ns, findings->duration_ns);
}

static int find_resent(struct findings *findings, const struct finding_rule *rule)
{
	struct device_view view;
	int status = 0;

	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		struct mount_resent found;
		uint64_t cost_ns;

		if (!view.resent)
			continue;
		found = (struct mount_resent) {
			.mount = finding_device_name(findings, view.name, view.dev),
			.requests = view.requests,
			.resent = view.resent,
			.retransmits = view.retransmits,
			.share = finding_share(view.resent, view.requests),
			.waited_ns = resent_wait(findings, &view, &cost_ns),
		};
		if (found.share >= threshold(THRESHOLD_MOUNT_RESENT) ||
		    finding_is_of_run(findings, found.waited_ns, THRESHOLD_PART_OF_RUN))
			status = finding_add(findings, rule, &found, cost_ns, TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_mount_retransmits = {
	.id = "mount-retransmits",
	.order = 475,
	.needs = JOB_NFS,
	.find = find_resent,
	.confidence = FINDING_SURE,
	FINDING_EVIDENCE(struct mount_resent, resent_evidence),
	.thresholds = { &THRESHOLD_MOUNT_RESENT, &THRESHOLD_PART_OF_RUN },
	.title = "Requests to {mount} are sent again",
	.says = "{share} of {requests} requests got no reply in time and were sent again, "
		"{retransmits} times in all; threads waited {waited_ns} for such replies: the link "
		"or the server loses them",
	.advice = "Check the link (ip -s link, ethtool -S, nstat TcpRetransSegs) and whether the "
		  "server was down, restarted or too busy (on it: threads in /proc/fs/nfsd); use "
		  "proto=tcp; lower timeo if waits are long",
	.more = "faultline report --table devices TRACE",
	.pictures = "requests",
	.rule = "An NFS client sends a request again if no reply comes within the mount's timeo, "
		"by default 60 s over TCP and about 1 s over UDP, or if the connection breaks. "
		"Until then the thread that made it waits, and the server may do the work twice. "
		"TCP itself repeats lost packets, without this: what is left is a server that is "
		"down, restarts or drops requests, a link that is cut, or UDP.",
};

/* --- small requests --- */

struct mount_reads {
	struct table_text mount;
	uint64_t requests, bytes_each, each_ns, time_ns, bandwidth;
	double in_order;
};

static const struct table_column reads_evidence[] = {
	FACT(mount_reads, mount, "mount", NONE, "source and type of the mount"),
	FACT(mount_reads, requests, "requests", COUNT, "read requests of the run to its server"),
	FACT(mount_reads, bytes_each, "each", BYTES, "average bytes per request"),
	FACT(mount_reads, each_ns, "took", NS, "average time of a request"),
	COLUMN(mount_reads, time_ns, "time", NS, UNION, "time with at least one of them in flight"),
	COLUMN(mount_reads, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
	FACT(mount_reads, in_order, "in order", SHARE,
	     "share of requests that start where the previous one on their file ends"),
};

THRESHOLD(MOUNT_READ, 131072, UNIT_BYTES, "size of a read request that is not small",
	  "the kernel's default: readahead of 128 KiB, FUSE requests of 32 pages");
THRESHOLD_MIN(MOUNT_IN_ORDER, 0.5, UNIT_SHARE, "share of requests in order",
	      "a majority; others cannot be merged");

static bool are_small_reads(const struct findings *findings, const struct device_view *view)
{
	const struct device_waits *reads = &view->waits[DEVICE_READS];

	return view->mount &&
	       finding_is_enough_in(findings, reads->requests, &THRESHOLD_SMALL_REQUESTS,
				    reads->time.measure) &&
	       reads->bytes <= threshold(THRESHOLD_SMALL_READ) * reads->requests &&
	       view->reads_in_order >= threshold(THRESHOLD_MOUNT_IN_ORDER) * reads->requests;
}

static int find_small_reads(struct findings *findings, const struct finding_rule *rule)
{
	struct device_view view;
	int status = 0;

	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		const struct device_waits *reads = &view.waits[DEVICE_READS];
		struct mount_reads found;

		if (!are_small_reads(findings, &view))
			continue;
		found = (struct mount_reads) {
			.mount = finding_device_name(findings, view.name, view.dev),
			.requests = reads->requests,
			.bytes_each = reads->bytes / reads->requests,
			.each_ns = (reads->queue_ns + reads->service_ns) / reads->requests,
			.time_ns = reads->time.measure,
			.bandwidth = finding_bandwidth(reads->bytes, reads->time.measure),
			.in_order = finding_share(view.reads_in_order, reads->requests),
		};
		/* The requests that larger ones would replace. */
		status = finding_add(
			findings, rule, &found,
			finding_unhidden(
				findings, IO_READ,
				found.time_ns *
					(1 - found.bytes_each / threshold(THRESHOLD_MOUNT_READ))),
			TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_mount_small_reads = {
	.id = "mount-small-reads",
	.order = 521,
	.needs = JOB_MOUNTS,
	.find = find_small_reads,
	.confidence = FINDING_LIKELY,
	.reported_by = { "small-reads-storage" },
	FINDING_EVIDENCE(struct mount_reads, reads_evidence),
	.thresholds = { &THRESHOLD_SMALL_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_SMALL_READ, &THRESHOLD_MOUNT_IN_ORDER, &THRESHOLD_MOUNT_READ },
	.title = "Small read requests to {mount}",
	.says = "{requests} requests of {bytes_each}, {each_ns} each, {in_order} of them in order; "
		"in flight for {time_ns}, at {bandwidth}/s",
	.advice =
		"Let the server accept larger reads (FUSE: max_read, max_readahead, no direct_io; "
		"NFS, CIFS: rsize; 9p: msize), raise read_ahead_kb of the mount in "
		"/sys/class/bdi, or read ≥ 1 MiB at a time",
	.more = "faultline report --table devices TRACE",
	.pictures = "requests, took read",
	.rule = "Each request to a server or the daemon of a FUSE mount is a round trip, and "
		"behind a daemon often another one over the network, whatever its size. "
		"Sequential reads could be fetched in larger pieces, ahead of use. Their size "
		"is limited by the program's reads if the cache is bypassed (O_DIRECT, "
		"direct_io), by the mount's readahead, and by what the server allows.",
};

/* --- more round trips than data --- */

struct mount_others {
	struct table_text mount;
	const char *op;
	uint64_t requests, each_ns, time_ns, again;
	double share;
};

static const struct table_column others_evidence[] = {
	FACT(mount_others, mount, "mount", NONE, "source and type of the mount"),
	FACT(mount_others, requests, "requests", COUNT,
	     "requests of the run to its server that neither move nor sync data"),
	FACT(mount_others, op, "leading", NONE, "the kind with the most time"),
	FACT(mount_others, each_ns, "each", NS, "average time of such a request"),
	COLUMN(mount_others, time_ns, "time", NS, UNION,
	       "time with at least one of them in flight that a call waits for"),
	FACT(mount_others, share, "share", SHARE,
	     "share of their time in that of reads, writes and these"),
	FACT(mount_others, again, "again", COUNT,
	     "those that asked again for attributes or rights of the same file, shortly after the "
	     "previous time; null: none"),
};

THRESHOLD_MIN(MOUNT_OTHERS, 1000, UNIT_COUNT, "requests that move no data",
	      "a choice: as for metadata calls");
THRESHOLD_MIN(MOUNT_OTHERS_SHARE, 0.5, UNIT_SHARE, "share of these in the time of all requests",
	      "they take more time than data");

static int find_others(struct findings *findings, const struct finding_rule *rule)
{
	struct device_view view;
	int status = 0;

	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		const struct device_waits *waits = &view.waits[DEVICE_USES];
		struct mount_others found;

		if (!finding_is_enough_in(findings, view.other_requests, &THRESHOLD_MOUNT_OTHERS,
					  waits->time.measure))
			continue;
		found = (struct mount_others) {
			.mount = finding_device_name(findings, view.name, view.dev),
			.op = view.leading_op,
			.requests = view.other_requests,
			.each_ns = view.other_ns / view.other_requests,
			.time_ns = waits->time.measure,
			.share = finding_share(view.other_ns, view.other_ns + view.data_ns),
			.again = finding_or_none(view.trips.attributes_again),
		};
		if (found.share >= threshold(THRESHOLD_MOUNT_OTHERS_SHARE))
			status = finding_add(findings, rule, &found,
					     finding_unhidden(findings, IO_METADATA, found.time_ns),
					     TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_mount_metadata = {
	.id = "mount-metadata",
	.order = 522,
	.needs = JOB_MOUNTS,
	.find = find_others,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct mount_others, others_evidence),
	.thresholds = { &THRESHOLD_MOUNT_OTHERS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_MOUNT_OTHERS_SHARE, &THRESHOLD_ATTRIBUTES_AGAIN },
	.title = "Metadata round trips to {mount}",
	.says = "{requests} requests that move no data, {each_ns} each, {share} of the time of all "
		"requests; most time in {op}[; {again} asked again for attributes of the same file "
		"within 1 s]",
	.advice = "Let the kernel cache names and attributes (FUSE: entry_timeout, attr_timeout, "
		  "negative_timeout, or the daemon's own options; NFS: actimeo; if no other client "
		  "writes, NFS: nocto, 9p: cache=loose), pack small files, keep files open",
	.more = "faultline report --table devices TRACE",
	.pictures = "requests, paths operations",
	.rule = "Each lookup of a name, each query of attributes, each open and close of a file on "
		"a " SERVED_MOUNT " asks the server, unless the kernel may answer from its "
		"cache, for as long as the server or the mount allows. A path is looked up "
		"directory by directory. A FUSE daemon often asks a server itself: then each also "
		"takes a round trip over the network.",
};

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
	      "a majority; smaller ones are limited by rsize or the program");
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
	       device_in_flight(reads) <= threshold(THRESHOLD_MOUNT_IN_FLIGHT);
}

/* Larger requests save round trips, but no transfer. */
static uint64_t window_cost(const struct findings *findings, const struct round_trips_view *trips,
			    uint64_t time_ns)
{
	double saved;

	if (!round_trips_are_comparable(trips) || !trips->reads_p50)
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
			.in_flight = device_in_flight(reads),
			.round_trip_ns = round_trips_are_comparable(&view.trips)
						 ? view.trips.empty_fast
						 : TABLE_NO_UINT,
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
