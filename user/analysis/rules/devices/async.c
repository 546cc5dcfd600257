/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about io_uring and libaio. */
#include "analysis/totals/methods.h"
#include "analysis/finding/finding.h"

/* One method and side. */
struct queue {
	const char *method, *side;
	uint64_t count, each_ns, time_ns;
	double depth;
	uint64_t busy_ns; /* part of the time in which the device could not do more */
};

static const struct table_column queue_evidence[] = {
	FACT(queue, method, "method", NONE, "io_uring or libaio"),
	FACT(queue, side, "side", NONE, "read or write"),
	FACT(queue, count, "count", COUNT, "operations"),
	FACT(queue, each_ns, "each", NS, "average time per operation"),
	COLUMN(queue, time_ns, "time", NS, UNION, "time with at least one operation in flight"),
	FACT(queue, depth, "depth", NONE, "average operations in flight while there were any"),
};

THRESHOLD_MIN(QUEUED, 1000, UNIT_COUNT, "asynchronous operations",
	      "Drishti: small_requests_absolute 1000");
THRESHOLD(QUEUE_DEPTH, 2, UNIT_NONE, "average operations in flight below which a queue is shallow",
	  "below two, most operations are the only one");
THRESHOLD_MIN(QUEUED_NS, 20000, UNIT_NS, "average time per operation",
	      "a choice: the page cache takes about 1 us, even fast flash 10 us");

/* The mean depth is the time of all operations divided by the time that any was in flight: Little's
 * law, without the time that the queue was empty. */
static bool is_shallow(const struct findings *findings, const struct tally *tally,
		       enum method_side side, struct queue *queue)
{
	/* Direct reads bring nothing into the page cache. */
	const uint64_t from_storage = tally->fetched_bytes ? tally->fetched_bytes : tally->bytes;

	queue->count = tally->count;
	queue->time_ns = tally->time.measure;
	queue->busy_ns = side == SIDE_READ ? finding_busy_ns(findings, from_storage) : 0;
	if (queue->busy_ns >= threshold(THRESHOLD_MOSTLY_BUSY) * queue->time_ns ||
	    !finding_is_enough_in(findings, tally->count, &THRESHOLD_QUEUED, queue->time_ns))
		return false;
	queue->each_ns = tally->thread_time_ns / tally->count;
	queue->depth = (double)tally->thread_time_ns / queue->time_ns;
	return queue->depth < threshold(THRESHOLD_QUEUE_DEPTH) &&
	       queue->each_ns >= threshold(THRESHOLD_QUEUED_NS);
}

static int find_shallow(struct findings *findings, const struct finding_rule *rule)
{
	static const enum io_method methods[] = { METHOD_URING, METHOD_LIBAIO };
	static const struct {
		const char *name;
		enum io_class class;
	} sides[SIDES] = {
		[SIDE_READ] = { "read", IO_READ }, [SIDE_WRITE] = { "write", IO_WRITE }
	};
	int status = 0;

	/* Concurrent runs have rings of their own, whose depths cannot be combined. */
	if (findings->runs > 1)
		return 1;
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		for (unsigned int side = 0; side < SIDES && !status; side++) {
			struct queue queue = { .method = method_names[methods[i]],
					       .side = sides[side].name };
			struct tally tally = methods_tally(findings->results, methods[i], side);

			if (is_shallow(findings, &tally, side, &queue)) {
				uint64_t times_ns[IO_CLASS_COUNT] = { 0 };

				times_ns[sides[side].class] = queue.time_ns - queue.busy_ns;
				status = finding_add_of(findings, rule, &queue, times_ns);
			}
		}
	return status;
}

const struct finding_rule finding_shallow_queue = {
	.id = "shallow-queue",
	.order = 180,
	.needs = JOB_ASYNC,
	.find = find_shallow,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct queue, queue_evidence),
	.thresholds = { &THRESHOLD_QUEUED, &THRESHOLD_QUEUED_NS, &THRESHOLD_QUEUE_DEPTH,
			&THRESHOLD_BUSY_REQUESTS, &THRESHOLD_MOSTLY_BUSY, &THRESHOLD_TIME_DECIDES,
			&THRESHOLD_FEW },
	.title = "Low {method} queue depth",
	.says = "{count} operations ({side}) of {each_ns} each, {depth} in flight on average, "
		"{time_ns} in total",
	.advice = "Keep ≥ 16 operations in flight: submit the next before reaping the first",
	.more = "faultline report --table methods TRACE",
	.pictures = "depth async",
	.rule = "io_uring and libaio let operations wait concurrently. With one or two in flight, "
		"each pays the full device latency, as a pread call does. Operations that the page "
		"cache serves immediately need no queue. For reads, the cost excludes the time in "
		"which the device was already busy.",
};
