/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about mounts with servers, where most operations take a round trip to one. */
#include "analysis/devices/devices.h"
#include "analysis/finding/finding.h"

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
	      "a choice: most of them; others cannot be merged");

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
	uint64_t requests, each_ns, time_ns;
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
			&THRESHOLD_MOUNT_OTHERS_SHARE },
	.title = "Metadata round trips to {mount}",
	.says = "{requests} requests that move no data, {each_ns} each, {share} of the time of all "
		"requests; most time in {op}",
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
