/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings about block devices: failed requests, slow and overloaded devices, small requests,
 * flushes.
 */
#include <string.h>

#include "analysis/devices/chain.h"
#include "analysis/devices/devices.h"
#include "analysis/totals/methods.h"
#include "analysis/finding/finding.h"
#include "analysis/finding/finding_weight.h"
#include "analysis/totals/totals.h"
#include "analysis/shared/trace_text.h"
#include "base/arena.h"
#include "base/units.h"

struct table_text finding_device_name(struct findings *findings, struct trace_string name,
				      uint64_t dev)
{
	char number[UNITS_TEXT];
	struct table_text text = trace_text(name);

	if (!text.bytes) {
		units_device(number, dev);
		text.length = strlen(number);
		text.bytes = arena_text(findings->arena, number, text.length);
	}
	return text;
}

/* --- failed requests --- */

struct device_errors {
	struct table_text device;
	uint64_t reads, writes, requests;
};

static const struct table_column errors_evidence[] = {
	{ "device", "device", UNIT_NONE, KIND_FACT, "name in /sys/block",
	  TABLE_TEXT(struct device_errors, device), 0 },
	{ "reads", "reads", UNIT_COUNT, KIND_FACT, "failed read requests of the run",
	  TABLE_UINT(struct device_errors, reads), 0 },
	{ "writes", "writes", UNIT_COUNT, KIND_FACT, "failed write requests of the run",
	  TABLE_UINT(struct device_errors, writes), 0 },
	{ "requests", "requests", UNIT_COUNT, KIND_FACT, "all requests of the run to this device",
	  TABLE_UINT(struct device_errors, requests), 0 },
};

/* Data that is missing or not kept is worse than any lost time. */
static int find_errors(struct findings *findings, const struct finding_rule *rule)
{
	const struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_SURE,
						 FINDING_HIGH };
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
			status = finding_add(findings, rule, &errors, &verdict);
	}
	return status;
}

const struct finding_rule finding_device_errors = {
	.id = "device-errors",
	.needs = JOB_BLOCK,
	.find = find_errors,
	.cross_run = true,
	FINDING_EVIDENCE(struct device_errors, errors_evidence),
	.title = "{device} fails requests of the run",
	.says = "{reads} reads and {writes} writes failed, of {requests} requests",
	.advice = "Check the kernel log (dmesg) and the device, and verify what was written before "
		  "trusting its data",
	.more = "faultline report --table devices TRACE",
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
};

static const struct table_column waits_evidence[] = {
	{ "device", "device", UNIT_NONE, KIND_FACT, "name in /sys/block",
	  TABLE_TEXT(struct queue_waits, device), 0 },
	{ "op", "op", UNIT_NONE, KIND_FACT, "read or write", TABLE_LITERAL(struct queue_waits, op),
	  0 },
	{ "requests", "requests", UNIT_COUNT, KIND_FACT,
	  "requests of the run that read, or that a writer waits for",
	  TABLE_UINT(struct queue_waits, requests), 0 },
	{ "bytes_each", "each", UNIT_BYTES, KIND_FACT, "average bytes per request",
	  TABLE_UINT(struct queue_waits, bytes_each), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "time with at least one of them in flight",
	  TABLE_UINT(struct queue_waits, time_ns), 0 },
	{ "bandwidth", "bandwidth", UNIT_BYTES, KIND_RATIO, "bytes per second of that time",
	  TABLE_UINT(struct queue_waits, bandwidth), 0 },
	{ "queue_each_ns", "queue", UNIT_NS, KIND_FACT,
	  "average time of a request part until the driver received it",
	  TABLE_UINT(struct queue_waits, queue_each_ns), 0 },
	{ "service_each_ns", "service", UNIT_NS, KIND_FACT,
	  "average time from then to its completion",
	  TABLE_UINT(struct queue_waits, service_each_ns), 0 },
	{ "service_p50_ns", NULL, UNIT_NS, KIND_FACT, "median service time of a request",
	  TABLE_UINT(struct queue_waits, service_p50_ns), 0 },
	{ "share", "queue's share", UNIT_SHARE, KIND_FACT,
	  "share of the time of request parts spent in the queue",
	  TABLE_REAL(struct queue_waits, share), 0 },
	{ "at_once", "at once", UNIT_NONE, KIND_FACT,
	  "average threads with requests in flight while there were any, or io_uring and libaio "
	  "operations",
	  TABLE_REAL(struct queue_waits, at_once), 0 },
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

/* If findings on reads already cover the cost, it is left out: counted twice, it would look twice
 * as high. */
static void set_cost(struct findings *findings, struct finding_verdict *verdict,
		     enum io_class class, double time_ns)
{
	static const struct finding_rule *const reported_by[] = {
		&finding_small_reads_storage, &finding_random_reads,
		&finding_load_waits,	      &finding_small_files,
		&finding_mmap_random,	      &finding_mmap_single,
		&finding_mmap_in_order,	      NULL,
	};

	verdict->cost_ns = finding_unhidden(findings, class, time_ns);
	if (class != IO_READ || !finding_is_reported(findings, reported_by, verdict->cost_ns))
		return;
	verdict->cost_ns = TABLE_NO_UINT;
	verdict->severity = FINDING_NOTE;
}

/* Looks at each device, at reads and writes separately. */
static int each_wait(struct findings *findings, const struct finding_rule *rule,
		     bool (*is_one)(const struct queue_waits *waits), bool queued)
{
	static const enum io_class classes[] = {
		[DEVICE_READS] = IO_READ, [DEVICE_WRITES] = IO_WRITE
	};
	static const enum method_side sides[] = {
		[DEVICE_READS] = SIDE_READ, [DEVICE_WRITES] = SIDE_WRITE
	};
	struct device_view view;
	int status = 0;

	/* For concurrent runs it is unknown how long each of them waited. */
	if (findings->runs > 1)
		return 1;
	for (size_t i = 0; !status && devices_view(findings->results, i, &view); i++)
		for (int use = DEVICE_READS; use <= DEVICE_WRITES && !status; use++) {
			const struct device_waits *of = &view.waits[use];
			uint64_t all_ns = of->part_queue_ns + of->part_service_ns;
			struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT,
							   FINDING_LIKELY, FINDING_BY_COST };
			struct queue_waits waits = {
				.device = finding_device_name(findings, view.name, view.dev),
				.op = device_use_names[use],
				.requests = of->requests,
				.time_ns = of->time.measure,
				.service_p50_ns = of->service_p50_ns,
			};

			if (!finding_is_enough(
				    of->requests, THRESHOLD_DEVICE_REQUESTS,
				    finding_share(waits.time_ns, findings->duration_ns)) ||
			    !of->parts || !all_ns)
				continue;
			if (view.waits_open)
				return 1;
			waits.bytes_each = of->bytes / of->requests;
			waits.bandwidth = finding_bandwidth(of->bytes, of->time.measure);
			waits.queue_each_ns = of->part_queue_ns / of->parts;
			waits.service_each_ns = of->part_service_ns / of->parts;
			waits.share = (double)of->part_queue_ns / all_ns;
			waits.at_once = at_once(findings->results, of, sides[use]);
			if (!is_one(&waits))
				continue;
			set_cost(findings, &verdict, classes[use],
				 waits.time_ns * (queued ? waits.share : 1 - waits.share));
			status = finding_add(findings, rule, &waits, &verdict);
		}
	return status;
}

static bool is_slow(const struct queue_waits *waits)
{
	return waits->service_p50_ns >= threshold(THRESHOLD_DEVICE_SLOW_NS) &&
	       waits->bandwidth <= threshold(THRESHOLD_DEVICE_SLOW_BANDWIDTH);
}

static int find_slow(struct findings *findings, const struct finding_rule *rule)
{
	return each_wait(findings, rule, is_slow, false);
}

static const enum threshold slow_thresholds[] = {
	THRESHOLD_DEVICE_REQUESTS, THRESHOLD_TIME_DECIDES,	    THRESHOLD_FEW,
	THRESHOLD_DEVICE_SLOW_NS,  THRESHOLD_DEVICE_SLOW_BANDWIDTH,
};

const struct finding_rule finding_device_slow = {
	.id = "device-slow",
	.needs = JOB_BLOCK,
	.find = find_slow,
	.cross_run = true,
	FINDING_EVIDENCE(struct queue_waits, waits_evidence),
	FINDING_THRESHOLDS(slow_thresholds),
	.title = "{device}: slow {op} requests",
	.says = "half of {requests} requests of {bytes_each} spent ≥ {service_p50_ns} at the "
		"device; requests were in flight for {time_ns}, at {bandwidth}/s",
	.advice = "Keep the data on a faster device or in memory, or hide the wait: read ahead, in "
		  "larger pieces, more at once; write during other work",
	.more = "faultline report --table device_heat TRACE",
	.rule = "Service time runs from when the driver receives a request to its completion: the "
		"device and what is behind it, such as a network or another file. A program that "
		"waits for one request at a time completes no more of them than this allows, "
		"whatever the device's bandwidth. A queue inside the device, including that of "
		"other hosts or programs, counts as service time.",
};

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

static const enum threshold overloaded_thresholds[] = {
	THRESHOLD_DEVICE_REQUESTS, THRESHOLD_TIME_DECIDES,    THRESHOLD_FEW,
	THRESHOLD_DEVICE_QUEUE,	   THRESHOLD_DEVICE_QUEUE_NS, THRESHOLD_DEVICE_AT_ONCE,
};

const struct finding_rule finding_device_overloaded = {
	.id = "device-overloaded",
	.needs = JOB_BLOCK,
	.find = find_overloaded,
	.cross_run = true,
	FINDING_EVIDENCE(struct queue_waits, waits_evidence),
	FINDING_THRESHOLDS(overloaded_thresholds),
	.title = "{device} is overloaded with {op} requests",
	.says = "{requests} requests of {bytes_each} from {at_once} concurrent operations on "
		"average, at {bandwidth}/s; request parts waited {queue_each_ns} for the driver "
		"and took {service_each_ns} at the device",
	.advice = "Request less (read once, pack, keep in memory), spread files over several "
		  "devices or a faster one, or find who else uses the device; it is the limit, so "
		  "more concurrency does not help",
	.more = "faultline report --table device_users TRACE",
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
	{ "path", "path", UNIT_NONE, KIND_FACT, "path of the file with the most time",
	  TABLE_TEXT(struct pieces, path), 0 },
	{ "file", "file", UNIT_NONE, KIND_FACT, "its name", TABLE_TEXT(struct pieces, file), 0 },
	{ "files", "files", UNIT_COUNT, KIND_FACT, "such files", TABLE_UINT(struct pieces, files),
	  0 },
	{ "operations", "operations", UNIT_COUNT, KIND_FACT,
	  "operations on these files that moved ≥ 128 KiB and waited for requests",
	  TABLE_UINT(struct pieces, operations), 0 },
	{ "bytes_each", "each", UNIT_BYTES, KIND_FACT, "average bytes per operation",
	  TABLE_UINT(struct pieces, bytes_each), 0 },
	{ "requests", "requests", UNIT_COUNT, KIND_FACT, "requests that these were split into",
	  TABLE_UINT(struct pieces, requests), 0 },
	{ "request_bytes_each", "bytes", UNIT_BYTES, KIND_FACT, "average bytes per request",
	  TABLE_UINT(struct pieces, request_bytes_each), 0 },
	{ "requests_each", "requests each", UNIT_NONE, KIND_FACT, "average requests per operation",
	  TABLE_REAL(struct pieces, requests_each), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION,
	  "time of these operations with requests in the queue or at the device",
	  TABLE_UINT(struct pieces, time_ns), 0 },
};

static bool is_cut(const struct findings *findings, const struct chain_pieces *pieces)
{
	return finding_is_enough(pieces->requests, THRESHOLD_SMALL_REQUESTS,
				 finding_share(pieces->time_ns, findings->duration_ns)) &&
	       pieces->requests >= threshold(THRESHOLD_PIECES) * pieces->operations &&
	       pieces->request_bytes <= threshold(THRESHOLD_PIECE_BYTES) * pieces->requests;
}

static int find_pieces(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_LIKELY,
					   FINDING_BY_COST };
	struct pieces sum = { 0 };
	uint64_t worst = 0, bytes = 0, request_bytes = 0;
	size_t count;
	const struct chain_pieces *all = chain_pieces_of_files(findings->results, &count);

	for (size_t i = 0; i < count && i < job->files.count; i++) {
		if (!is_cut(findings, &all[i]))
			continue;
		sum.files++;
		sum.operations += all[i].operations;
		sum.requests += all[i].requests;
		sum.time_ns += all[i].time_ns;
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
	verdict.cost_ns = sum.time_ns < findings->duration_ns ? sum.time_ns : findings->duration_ns;
	return finding_add(findings, rule, &sum, &verdict);
}

static const enum threshold pieces_thresholds[] = {
	THRESHOLD_SMALL_REQUESTS, THRESHOLD_TIME_DECIDES, THRESHOLD_FEW,
	THRESHOLD_PIECES,	  THRESHOLD_PIECE_BYTES,
};

const struct finding_rule finding_requests_small = {
	.id = "requests-small",
	.needs = JOB_BLOCK,
	.find = find_pieces,
	FINDING_EVIDENCE(struct pieces, pieces_evidence),
	FINDING_THRESHOLDS(pieces_thresholds),
	.title = "Large I/O on {file} is split into small requests",
	.says = "{operations} operations of {bytes_each} became {requests} requests of "
		"{request_bytes_each}, {requests_each} each, on {files:file|files}",
	.advice = "Check max_sectors_kb in /sys/block, fragmentation of the file (filefrag) and, "
		  "for mappings and O_DIRECT, of memory (huge pages)",
	.more = "faultline report --slowest 20 TRACE",
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
	{ "device", "device", UNIT_NONE, KIND_FACT, "name in /sys/block",
	  TABLE_TEXT(struct flushes, device), 0 },
	{ "flushes", "flushes", UNIT_COUNT, KIND_FACT, "flushes by the device, for any process",
	  TABLE_UINT(struct flushes, flushes), 0 },
	{ "flush_ns", "time", UNIT_NS, KIND_FACT, "time summed over flushes",
	  TABLE_UINT(struct flushes, flush_ns), 0 },
	{ "each_ns", "each", UNIT_NS, KIND_FACT, "average time per flush",
	  TABLE_UINT(struct flushes, each_ns), 0 },
	{ "syncs", "syncs", UNIT_COUNT, KIND_FACT, "syncs of the run, O_SYNC writes included",
	  TABLE_UINT(struct flushes, syncs), 0 },
	{ "sync_ns", "their time", UNIT_NS, KIND_FACT, "time with at least one of them in flight",
	  TABLE_UINT(struct flushes, sync_ns), 0 },
};

static int find_flushes(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally sync = totals_class(findings->results, IO_SYNC);
	const struct tally written =
		io_patterns_view(findings->results, IO_PATTERN_SYNC_WRITE).tally;
	struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_LIKELY,
					   FINDING_BY_COST };
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
		if (!view.all_known || !view.own_requests || view.flush_ns <= flushes.flush_ns)
			continue;
		flushes.device = finding_device_name(findings, view.name, view.dev);
		flushes.flushes = view.flushes;
		flushes.flush_ns = view.flush_ns;
	}
	own = threshold(THRESHOLD_FLUSHES_OF_SYNC) * flushes.syncs;
	if (own > flushes.flushes)
		own = flushes.flushes;
	if (!finding_is_enough(own, THRESHOLD_FLUSHES,
			       finding_share(flushes.sync_ns, findings->duration_ns)) ||
	    flushes.flush_ns < threshold(THRESHOLD_FLUSH_SHARE) * flushes.sync_ns)
		return 0;
	flushes.each_ns = flushes.flush_ns / flushes.flushes;
	verdict.cost_ns = own * flushes.each_ns;
	if (verdict.cost_ns > flushes.sync_ns)
		verdict.cost_ns = flushes.sync_ns;
	verdict.cost_ns = finding_unhidden(findings, IO_SYNC, verdict.cost_ns);
	return finding_add(findings, rule, &flushes, &verdict);
}

static const enum threshold flushes_thresholds[] = {
	THRESHOLD_FLUSHES,	   THRESHOLD_TIME_DECIDES, THRESHOLD_FEW,
	THRESHOLD_FLUSHES_OF_SYNC, THRESHOLD_FLUSH_SHARE,
};

const struct finding_rule finding_flushes = {
	.id = "flushes",
	.needs = JOB_BLOCK | JOB_SYSCALL,
	.find = find_flushes,
	.cross_run = true,
	FINDING_EVIDENCE(struct flushes, flushes_evidence),
	FINDING_THRESHOLDS(flushes_thresholds),
	.title = "Syncs wait for {device} to flush its cache",
	.says = "{flushes} flushes of {each_ns} each, {flush_ns} in total; the run's {syncs} syncs "
		"and synchronous writes took {sync_ns}",
	.advice = "Sync once for many writes, or use a device whose cache survives a power loss: "
		  "it needs no flushes (write_cache in /sys/block)",
	.more = "faultline report --table devices TRACE",
	.rule = "Synced data must be on the medium, not in a device cache that a power loss "
		"empties. A sync therefore ends with a flush, which writes out everything in the "
		"device's cache, data of others included. A journal commit has one or two flushes: "
		"more than that per sync of the run belong to others and do not count. The device "
		"measures the time of a flush, whoever requested it.",
};
