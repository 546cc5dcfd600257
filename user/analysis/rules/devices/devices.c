/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about block devices and FUSE mounts: failed requests, slow and overloaded devices, small
 * requests, flushes.
 */
#include <math.h>
#include <string.h>

#include "analysis/devices/chain.h"
#include "analysis/devices/devices.h"
#include "analysis/totals/methods.h"
#include "analysis/finding/finding.h"
#include "analysis/totals/totals.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "base/number.h"

/* --- failed requests --- */

struct device_errors {
	struct table_text device;
	uint64_t reads, writes, requests;
};

static const struct table_column errors_evidence[] = {
	FACT(device_errors, device, "device", NONE, "name in /sys/block, or source of a mount"),
	FACT(device_errors, reads, "reads", COUNT, "failed read requests of the run"),
	FACT(device_errors, writes, "writes", COUNT, "failed write requests of the run"),
	FACT(device_errors, requests, "requests", COUNT, "all requests of the run to this device"),
};

/* Data that is missing or not kept is worse than any lost time. */
static int find_errors(struct findings *findings, const struct finding_rule *rule)
{
	struct device_view view;
	int status = 0;

	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++) {
		const struct device_errors errors = {
			.device = finding_device_name(findings, view.name, view.dev),
			.reads = view.failed[DEVICE_READS],
			.writes = view.failed[DEVICE_WRITES],
			.requests = view.own_requests,
		};

		if (view.own_open)
			return 1;
		if (errors.reads || errors.writes)
			status = finding_add(findings, rule, &errors, TABLE_NO_UINT, TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_device_errors = {
	.id = "device-errors",
	.order = 470,
	.needs_one_of = JOB_BLOCK | JOB_MOUNTS,
	.find = find_errors,
	.confidence = FINDING_SURE,
	.severity = FINDING_HIGH,
	.cross_run = true,
	FINDING_EVIDENCE(struct device_errors, errors_evidence),
	.title = "{device} fails requests of the run",
	.says = "{reads} reads and {writes} writes failed, of {requests} requests",
	.advice = "Check the kernel log (dmesg) and the device, or the log of the FUSE daemon or "
		  "of the server, and verify what was written before trusting its data",
	.more = "faultline report --table devices TRACE",
	.pictures = "device failed",
	.rule = "A failed read returns no data: it ends in EIO or, through a mapping, in SIGBUS. A "
		"failed write loses data, and a program learns of it only at its next fsync, if it "
		"calls any.",
};

/* --- slow, or overloaded --- */

struct queue_waits {
	struct table_text device;
	const char *op;
	uint64_t requests, bytes_each, time_ns, bandwidth;
	uint64_t queue_each_ns, service_each_ns, service_p50_ns;
	double share;	/* queue time of all time */
	double at_once; /* operations at the same time */
	struct table_text limit;
	uint64_t round_trip_ns, fast_ns;
	uint64_t number; /* see event_device */
	uint32_t host;
	enum device_use use;
	bool only; /* no other device was waited for */
};

static const struct table_column waits_evidence[] = {
	FACT(queue_waits, device, "device", NONE, "name in /sys/block, or source of a mount"),
	FACT(queue_waits, op, "op", NONE, "read or write"),
	FACT(queue_waits, requests, "requests", COUNT,
	     "requests of the run that read, or that a writer waits for"),
	FACT(queue_waits, bytes_each, "each", BYTES, "average bytes per request"),
	COLUMN(queue_waits, time_ns, "time", NS, UNION, "time with at least one of them in flight"),
	COLUMN(queue_waits, bandwidth, "bandwidth", BYTES, RATIO, "bytes per second of that time"),
	FACT(queue_waits, queue_each_ns, "queue", NS,
	     "average time of a request part until the driver, or the server of a mount, received "
	     "it"),
	FACT(queue_waits, service_each_ns, "service", NS,
	     "average time from then to its completion; the queue included if that is null"),
	FACT(queue_waits, service_p50_ns, NULL, NS, "median service time of a request"),
	FACT(queue_waits, share, "queue's share", SHARE,
	     "share of the time of request parts spent in the queue"),
	FACT(queue_waits, at_once, "at once", NONE,
	     "average threads with requests in flight while there were any, or io_uring and libaio "
	     "operations"),
	FACT(queue_waits, limit, "limit", NONE, "reads of NFS: what is slow; null: others"),
	FACT(queue_waits, round_trip_ns, "without data", NS,
	     "NFS: what the fastest tenth of requests without data take, from transmission to "
	     "reply"),
	FACT(queue_waits, fast_ns, "fastest", NS, "NFS: what the fastest tenth of reads take"),
};

/*
 * Returns the mean number of operations at the same time, while there were any. A thread waits for
 * one, in however many requests, unless it is asynchronous: of those the number in flight is known,
 * but not the device.
 */
static double at_once(const struct results *results, const struct device_waits *of,
		      enum method_side side)
{
	static const enum io_method methods[] = { METHOD_URING, METHOD_LIBAIO };
	double most = of->time.measure ? (double)of->threads_time_ns / of->time.measure : 0;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		const struct tally tally = methods_tally(results, methods[i], side);
		double depth =
			tally.time.measure ? (double)tally.thread_time_ns / tally.time.measure : 0;

		most = depth > most ? depth : most;
	}
	return most;
}

uint64_t finding_busy_ns(const struct findings *findings, uint64_t bytes)
{
	uint64_t all_bytes = 0;
	double busy = 0; /* of each device in proportion to its bytes: several may be at once */
	struct device_view view;

	for (size_t i = 0; devices_view(findings->results, i, &view); i++) {
		const struct device_waits *reads = &view.waits[DEVICE_READS];
		const double request_ns = (double)reads->part_queue_ns + reads->part_service_ns;

		all_bytes = number_add(all_bytes, reads->bytes);
		if (!view.waits_open &&
		    request_ns >= threshold(THRESHOLD_BUSY_REQUESTS) * reads->time.measure)
			busy += (double)reads->time.measure * reads->bytes;
	}
	return all_bytes ? finding_limited(busy / all_bytes * fmin((double)bytes / all_bytes, 1))
			 : 0;
}

uint64_t finding_kept_busy_ns(const struct findings *findings, uint64_t bytes)
{
	const struct device_waits reads = devices_reads(findings->results);
	const double request_bytes = finding_share(reads.bytes, reads.parts);

	return finding_limited(finding_busy_ns(findings, bytes) *
			       fmin(request_bytes / threshold(THRESHOLD_SMALL_READ), 1));
}

/* Adds the finding. If findings on reads already cover the cost, it is left out: counted twice, it
 * would look twice as high. */
static int add_wait(struct findings *findings, const struct finding_rule *rule,
		    const struct queue_waits *waits, enum io_class class, double time_ns)
{
	static const char *const readers[] = {
		"small-reads-storage", "random-reads", "load-waits",	"many-small-files",
		"mmap-random",	       "mmap-single",  "mmap-in-order", NULL,
	};
	const struct finding_io io = {
		.uses = class == IO_WRITE ? 1u << USE_WRITE | 1u << USE_SYNC
					  : 1u << USE_READ | 1u << USE_MMAP | 1u << USE_METADATA,
	};
	struct finding_verdict verdict = { .cost_ns = finding_unhidden(findings, class, time_ns),
					   .cost_bytes = TABLE_NO_UINT,
					   .confidence = rule->confidence,
					   .severity = FINDING_BY_COST,
					   .uses = io.uses };

	if (class == IO_READ && finding_is_reported(findings, readers, verdict.cost_ns, &io)) {
		verdict.cost_ns = TABLE_NO_UINT;
		verdict.severity = FINDING_NOTE;
	}
	return finding_add_as(findings, rule, waits, &verdict);
}

THRESHOLD_MIN(DEVICE_REQUESTS, 20, UNIT_COUNT, "requests to a device that are waited for",
	      "a choice: program startup causes fewer");

static const struct {
	enum io_class class;
	enum method_side side;
} uses[] = { [DEVICE_READS] = { IO_READ, SIDE_READ }, [DEVICE_WRITES] = { IO_WRITE, SIDE_WRITE } };

static struct queue_waits waits_of(struct findings *findings, const struct device_view *view,
				   enum device_use use)
{
	const struct device_waits *of = &view->waits[use];
	const char *limit =
		use == DEVICE_READS ? round_trips_limit(&view->trips, device_in_flight(of)) : NULL;

	return (struct queue_waits) {
		.device = finding_device_name(findings, view->name, view->dev),
		.host = view->host,
		.number = view->device,
		.use = use,
		.op = device_use_names[use],
		.requests = of->requests,
		.time_ns = of->time.measure,
		.service_p50_ns = of->service_p50_ns,
		.bytes_each = of->bytes / of->requests,
		.bandwidth = finding_bandwidth(of->bytes, of->time.measure),
		.queue_each_ns =
			view->queue_unknown ? TABLE_NO_UINT : of->part_queue_ns / of->parts,
		.service_each_ns = of->part_service_ns / of->parts,
		.share = view->queue_unknown
				 ? NAN
				 : finding_share(of->part_queue_ns,
						 of->part_queue_ns + of->part_service_ns),
		.at_once = at_once(findings->results, of, uses[use].side),
		.limit = { limit, limit ? strlen(limit) : 0 },
		.round_trip_ns = finding_or_none(limit ? view->trips.empty_fast : 0),
		.fast_ns = finding_or_none(limit ? view->trips.reads_fast : 0),
	};
}

static size_t count_waited_for(const struct results *results)
{
	struct device_view view;
	size_t count = 0;

	for (size_t i = 0; devices_view(results, i, &view); i++)
		count += view.waits[DEVICE_READS].requests || view.waits[DEVICE_WRITES].requests;
	return count;
}

/* Operations that may have waited for the device: of reads, only those that brought something from
 * storage. Files on a partition have the partition's number, so they are found if there is no other
 * device. */
static bool is_on_device(const struct findings *findings, const void *evidence,
			 const struct line_use *use)
{
	const struct queue_waits *waits = evidence;
	const enum use kind = files_use_of(use->class);
	const struct job *job = findings->results->job;
	const struct file *of;
	struct file_view file;

	if ((kind == USE_WRITE || kind == USE_SYNC) != (waits->use == DEVICE_WRITES))
		return false;
	if (use->file == FILE_NONE || !files_used(findings->results, use->file, &file))
		return waits->only && use->sums.fetched_bytes > 0;
	of = &job->files.files[use->file];
	if (!waits->only &&
	    (device_of(of->dev, of->instance) != waits->number || of->host != waits->host))
		return false;
	return waits->use == DEVICE_WRITES || use->sums.fetched_bytes > 0 || file.direct_bytes;
}

#define LINES_OF_DEVICE                                                                            \
	.lines = (1u << USES) - 1, .lines_take = is_on_device,                                     \
	.lines_whole = "the time in operations on it"

/* Looks at each device, at reads and writes separately. */
static int each_wait(struct findings *findings, const struct finding_rule *rule,
		     bool (*is_one)(const struct queue_waits *waits), bool queued)
{
	const size_t devices = count_waited_for(findings->results);
	struct device_view view;
	int status = 0;

	/* For concurrent runs it is unknown how long each of them waited. */
	if (findings->runs > 1)
		return 1;
	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++)
		for (int use = DEVICE_READS; use <= DEVICE_WRITES && !status; use++) {
			const struct device_waits *of = &view.waits[use];
			struct queue_waits waits;
			double share;

			if (!finding_is_enough_in(findings, of->requests,
						  &THRESHOLD_DEVICE_REQUESTS, of->time.measure) ||
			    !of->parts || !(of->part_queue_ns + of->part_service_ns))
				continue;
			if (view.waits_open)
				return 1;
			waits = waits_of(findings, &view, use);
			waits.only = devices == 1;
			if (!is_one(&waits))
				continue;
			share = view.queue_unknown ? 0 : waits.share;
			status = add_wait(findings, rule, &waits, uses[use].class,
					  waits.time_ns * (queued ? share : 1 - share));
		}
	return status;
}

THRESHOLD_MIN(DEVICE_SLOW_NS, 10000000, UNIT_NS, "median service time of a slow device's requests",
	      "half a turn at 7,200 rpm plus a seek takes about 12 ms, flash below 1 ms");
THRESHOLD_MAX(DEVICE_SLOW_BANDWIDTH, 209715200, UNIT_BYTES,
	      "bytes per second that a slow device moves",
	      "a disk reads about 200 MiB/s in order; more means large requests");

static bool is_slow(const struct queue_waits *waits)
{
	return waits->service_p50_ns >= threshold(THRESHOLD_DEVICE_SLOW_NS) &&
	       waits->bandwidth <= threshold(THRESHOLD_DEVICE_SLOW_BANDWIDTH);
}

static int find_slow(struct findings *findings, const struct finding_rule *rule)
{
	return each_wait(findings, rule, is_slow, false);
}

const struct finding_rule finding_device_slow = {
	.id = "device-slow",
	.order = 480,
	LINES_OF_DEVICE,
	.needs_one_of = JOB_BLOCK | JOB_MOUNTS,
	.find = find_slow,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct queue_waits, waits_evidence),
	.thresholds = { &THRESHOLD_DEVICE_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_DEVICE_SLOW_NS, &THRESHOLD_DEVICE_SLOW_BANDWIDTH,
			&THRESHOLD_ROUND_TRIPS, &THRESHOLD_TRIP_OF_READ, &THRESHOLD_FAST_READ,
			&THRESHOLD_ONE_READ },
	.title = "{device}: slow {op} requests",
	.says = "half of {requests} requests of {bytes_each} spent ≥ {service_p50_ns} at the "
		"device; requests were in flight for {time_ns}, at {bandwidth}/s[; {limit}][ (the "
		"fastest reads take {fast_ns}, requests without data {round_trip_ns})]",
	.advice = "Keep the data on a faster device or in memory, or hide the wait: read ahead, in "
		  "larger pieces, more at once; write during other work",
	.more = "faultline report --table device_heat TRACE",
	.pictures = "took, device queue",
	.rule = "Service time runs from when the driver receives a request to its completion: the "
		"device and what is behind it, such as a network or another file. A program that "
		"waits for one request at a time completes no more of them than this allows, "
		"whatever the device's bandwidth. A queue inside the device, including that of "
		"other hosts or programs, counts as service time. Reads of NFS wait for the link "
		"if requests without data take as long, and for the server if the link carries "
		"other reads of the same size much faster; otherwise it may be either.",
};

THRESHOLD_MIN(DEVICE_AT_ONCE, 1.5, UNIT_NONE,
	      "average operations with requests in flight while there are any",
	      "a choice: most of the time there is more than one");
THRESHOLD_MIN(DEVICE_QUEUE, 0.5, UNIT_SHARE, "share of request time spent waiting for the driver",
	      "a majority: they wait longer than they are served");
THRESHOLD_MIN(DEVICE_QUEUE_NS, 1000000, UNIT_NS, "average time waiting for the driver",
	      "a choice: flash serves several requests in that time");

static bool is_overloaded(const struct queue_waits *waits)
{
	return waits->at_once >= threshold(THRESHOLD_DEVICE_AT_ONCE) &&
	       waits->share >= threshold(THRESHOLD_DEVICE_QUEUE) &&
	       waits->queue_each_ns >= threshold(THRESHOLD_DEVICE_QUEUE_NS);
}

static int find_overloaded(struct findings *findings, const struct finding_rule *rule)
{
	return each_wait(findings, rule, is_overloaded, true);
}

const struct finding_rule finding_device_overloaded = {
	.id = "device-overloaded",
	.order = 490,
	LINES_OF_DEVICE,
	.needs_one_of = JOB_BLOCK | JOB_MOUNTS,
	.find = find_overloaded,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct queue_waits, waits_evidence),
	.thresholds = { &THRESHOLD_DEVICE_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_DEVICE_QUEUE, &THRESHOLD_DEVICE_QUEUE_NS,
			&THRESHOLD_DEVICE_AT_ONCE },
	.title = "{device} is overloaded with {op} requests",
	.says = "{requests} requests of {bytes_each} from {at_once} concurrent operations on "
		"average, at {bandwidth}/s; request parts waited {queue_each_ns} for the driver or "
		"the daemon and took {service_each_ns} from then",
	.advice = "Request less (read once, pack, keep in memory), spread files over several "
		  "devices or a faster one, give the daemon of a FUSE mount more threads, or find "
		  "who else uses the device; it is the limit, so more concurrency does not help",
	.more = "faultline report --table device_users TRACE",
	.pictures = "device queue, took",
	.rule = "A device accepts a limited number of requests at a time and leaves the others in "
		"the queue. Once requests wait there longer than they are served, more concurrency "
		"only lengthens the wait, and less concurrency achieves as much. Devices with deep "
		"queues of their own accept everything: then the wait is part of their service "
		"time. Several requests of one operation, such as a large window that a single "
		"thread reads ahead, are not an overload: then the window is the problem.",
};

/* --- small requests --- */

struct pieces {
	struct table_text path, file;
	uint64_t files, operations, bytes_each, requests, request_bytes_each, time_ns;
	double requests_each;
};

static const struct table_column pieces_evidence[] = {
	FACT(pieces, path, "path", NONE, "path of the file with the most time"),
	FACT(pieces, file, "file", NONE, "its name"),
	FACT(pieces, files, "files", COUNT, "such files"),
	FACT(pieces, operations, "operations", COUNT,
	     "operations on these files that moved ≥ 128 KiB and waited for requests"),
	FACT(pieces, bytes_each, "each", BYTES, "average bytes per operation"),
	FACT(pieces, requests, "requests", COUNT, "requests that these were split into"),
	FACT(pieces, request_bytes_each, "bytes", BYTES, "average bytes per request"),
	FACT(pieces, requests_each, "requests each", NONE, "average requests per operation"),
	COLUMN(pieces, time_ns, "time", NS, THREAD,
	       "time of these operations with requests in the queue or at the device, summed over "
	       "operations"),
};

THRESHOLD_MIN(PIECES, 8, UNIT_NONE, "block requests per operation of 128 KiB or more",
	      "a choice: readahead by itself cuts reads into pieces of 128 KiB");
THRESHOLD_MAX(PIECE_BYTES, 65536, UNIT_BYTES, "average size of such a request",
	      "a choice: as for small direct I/O");

static bool is_cut(const struct findings *findings, const struct chain_pieces *pieces)
{
	return finding_is_enough_in(findings, pieces->requests, &THRESHOLD_SMALL_REQUESTS,
				    pieces->time_ns) &&
	       pieces->requests >= threshold(THRESHOLD_PIECES) * pieces->operations &&
	       pieces->request_bytes <= threshold(THRESHOLD_PIECE_BYTES) * pieces->requests;
}

static int find_pieces(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	struct pieces sum = { 0 };
	uint64_t worst = 0, bytes = 0, request_bytes = 0, times_ns[IO_CLASS_COUNT] = { 0 };
	size_t count;
	const struct chain_pieces *all = chain_pieces_of_files(findings->results, &count);

	for (size_t i = 0; i < count && i < job->files.count; i++) {
		if (!is_cut(findings, &all[i]))
			continue;
		sum.files++;
		sum.operations += all[i].operations;
		sum.requests += all[i].requests;
		sum.time_ns += all[i].time_ns;
		times_ns[IO_WRITE] += all[i].written_ns;
		times_ns[IO_MMAP_READ] += all[i].mapped_ns;
		times_ns[IO_READ] += all[i].time_ns - all[i].written_ns - all[i].mapped_ns;
		bytes += all[i].bytes;
		request_bytes += all[i].request_bytes;
		if (all[i].time_ns < worst)
			continue;
		worst = all[i].time_ns;
		sum.path = trace_text(file_table_name(&job->files, i));
		sum.file = finding_base_name(sum.path);
	}
	if (!sum.files)
		return 0;
	sum.bytes_each = bytes / sum.operations;
	sum.request_bytes_each = request_bytes / sum.requests;
	sum.requests_each = (double)sum.requests / sum.operations;
	/* Threads may have waited at the same time. */
	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++)
		times_ns[class] = number_min(times_ns[class],
					     totals_class(findings->results, class).time.measure);
	return finding_add_of(findings, rule, &sum, times_ns);
}

const struct finding_rule finding_requests_small = {
	.id = "requests-small",
	.order = 500,
	.exactness = FINDING_AT_MOST,
	.lines = 1u << USE_READ | 1u << USE_WRITE,
	.needs = JOB_BLOCK,
	.find = find_pieces,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct pieces, pieces_evidence),
	.thresholds = { &THRESHOLD_SMALL_REQUESTS, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_PIECES, &THRESHOLD_PIECE_BYTES },
	.title = "Large I/O on {file} is split into small requests",
	.says = "{operations} operations of {bytes_each} became {requests} requests of "
		"{request_bytes_each}, {requests_each} each, on {files:file|files}",
	.advice = "Check max_sectors_kb in /sys/block, fragmentation of the file (filefrag) and, "
		  "for mappings and O_DIRECT, of memory (huge pages)",
	.more = "faultline report --slowest 20 TRACE",
	.pictures = "device pieces, sizes device_read device_write",
	.rule = "A large read or write is split if the device accepts no larger requests, if the "
		"file's blocks are not contiguous, or if pages are read one by one. Each request "
		"has its own cost, at the device and on the CPU.",
};

/* --- flushes --- */

struct flushes {
	struct table_text device;
	uint64_t flushes, flush_ns, each_ns, syncs, sync_ns;
};

static const struct table_column flushes_evidence[] = {
	FACT(flushes, device, "device", NONE, "name in /sys/block"),
	FACT(flushes, flushes, "flushes", COUNT, "flushes by the device, for any process"),
	FACT(flushes, flush_ns, "time", NS, "time summed over flushes"),
	FACT(flushes, each_ns, "each", NS, "average time per flush"),
	FACT(flushes, syncs, "syncs", COUNT, "syncs of the run, O_SYNC writes included"),
	FACT(flushes, sync_ns, "their time", NS,
	     "time with at least one sync in flight, plus the same of O_SYNC writes"),
};

THRESHOLD_MAX(FLUSHES_OF_SYNC, 2, UNIT_COUNT, "flushes of the device for each sync of the run",
	      "a journal commit flushes before and after it");
THRESHOLD_MIN(FLUSHES, 50, UNIT_COUNT, "flushes of a device", "a choice: as for syncs");
THRESHOLD_MIN(FLUSH_SHARE, 0.2, UNIT_SHARE,
	      "time of flushes divided by that of syncs and O_SYNC writes",
	      "a choice: below it the wait is for the writes themselves");

static int find_flushes(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally sync = totals_class(findings->results, IO_SYNC);
	const struct tally written =
		io_patterns_view(findings->results, IO_PATTERN_SYNC_WRITE).tally;
	struct flushes flushes = {
		.syncs = sync.count + written.count,
		.sync_ns = sync.time.measure + written.time.measure,
	};
	struct device_view view;
	uint64_t own; /* others on the device may sync as well */

	/* For concurrent runs it is unknown how long each of them waited. */
	if (findings->runs > 1)
		return 1;
	for (size_t i = 0; devices_view(findings->results, i, &view); i++) {
		if (view.all_open || view.own_open)
			return 1;
		/* On devices that the run does not use, others wait for the flushes. */
		if (!view.all_known || view.mount || !view.own_requests ||
		    view.flush_ns <= flushes.flush_ns)
			continue;
		flushes.device = finding_device_name(findings, view.name, view.dev);
		flushes.flushes = view.flushes;
		flushes.flush_ns = view.flush_ns;
	}
	own = number_min(threshold(THRESHOLD_FLUSHES_OF_SYNC) * flushes.syncs, flushes.flushes);
	if (!finding_is_enough_in(findings, own, &THRESHOLD_FLUSHES, flushes.sync_ns) ||
	    flushes.flush_ns < threshold(THRESHOLD_FLUSH_SHARE) * flushes.sync_ns)
		return 0;
	flushes.each_ns = flushes.flush_ns / flushes.flushes;
	return finding_add(findings, rule, &flushes,
			   finding_unhidden(findings, IO_SYNC,
					    number_min(own * flushes.each_ns, flushes.sync_ns)),
			   TABLE_NO_UINT);
}

const struct finding_rule finding_flushes = {
	.id = "flushes",
	.order = 510,
	.lines = 1u << USE_SYNC,
	.lines_of_all = true,
	.needs = JOB_BLOCK | JOB_SYSCALL,
	.find = find_flushes,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct flushes, flushes_evidence),
	.thresholds = { &THRESHOLD_FLUSHES, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW,
			&THRESHOLD_FLUSHES_OF_SYNC, &THRESHOLD_FLUSH_SHARE },
	.title = "Syncs wait for {device} to flush its cache",
	.says = "{flushes} flushes of {each_ns} each, {flush_ns} in total; the run's {syncs} syncs "
		"and synchronous writes took {sync_ns}",
	.advice = "Sync once for many writes, or use a device whose cache survives a power loss: "
		  "it needs no flushes (write_cache in /sys/block)",
	.more = "faultline report --table devices TRACE",
	.pictures = "device flushes, took sync",
	.rule = "Synced data must be on the medium, not in a device cache that a power loss "
		"empties. A sync therefore ends with a flush, which writes out everything in the "
		"device's cache, data of others included. A journal commit has one or two flushes: "
		"more than that per sync of the run belong to others and do not count. The device "
		"measures the time of a flush, whoever requested it.",
};
