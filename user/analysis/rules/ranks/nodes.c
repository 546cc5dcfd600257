/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about nodes whose storage is slower than that of the others. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding.h"
#include "collections/compare.h"
#include "base/number.h"

/* Bios of a node that a thread waits for, on all its devices and mounts. */
struct node {
	struct table_text host;
	uint64_t requests, bytes, busy_ns;
	double time_ns; /* queue and service, summed over bios */
};

struct slow_node {
	struct table_text host;
	uint64_t nodes, requests, each_ns, median_ns;
	double times;
};

static const struct table_column evidence_columns[] = {
	FACT(slow_node, host, "node", NONE, "host whose storage is the slowest"),
	FACT(slow_node, nodes, "nodes", COUNT, "hosts with enough requests to compare them"),
	FACT(slow_node, requests, "requests", COUNT, "bios that a thread on it waited for"),
	FACT(slow_node, each_ns, "each", NS, "time of one on average, queue and service"),
	FACT(slow_node, median_ns, "median", NS,
	     "median of these averages over nodes; with two, the other one's"),
	FACT(slow_node, times, "times", NONE,
	     "ratio to that median, per request or per byte, whichever is smaller"),
};

THRESHOLD_MIN(
	NODE_SLOW, 2, UNIT_NONE,
	"time per request and per byte, as multiples of the median of all nodes",
	"Hao et al., The Tail at Store, FAST '16: a slow drive takes twice its group's median");
THRESHOLD_MIN(NODE_REQUESTS, 32, UNIT_COUNT, "requests of a node for it to be compared",
	      "a choice: averages of fewer are chance");

static uint64_t sum_of(const struct table *table, size_t row, const char *reads, const char *writes)
{
	uint64_t read, written;

	table_number(table, row, reads, &read);
	table_number(table, row, writes, &written);
	return number_add(read, written);
}

static void add_device(struct node *node, const struct table *table, size_t row)
{
#define SUM(name) sum_of(table, row, "read.waited." name, "write.waited." name)
	node->requests = number_add(node->requests, SUM("parts"));
	node->bytes = number_add(node->bytes, SUM("bytes"));
	node->busy_ns = number_add(node->busy_ns, SUM("time_ns"));
	node->time_ns += (double)SUM("queue_ns") + SUM("service_ns");
#undef SUM
}

static int compare_hosts(const void *left, const void *right)
{
	const struct node *a = left, *b = right;
	const size_t least = number_min(a->host.length, b->host.length);

	return memcmp(a->host.bytes, b->host.bytes, least)
		       ?: COMPARE(a->host.length, b->host.length);
}

/* Sums up the devices of each host, and keeps hosts with enough requests. */
static size_t sum_up(const struct table *devices, struct node *nodes)
{
	const int host = table_find_column(devices, "host");
	size_t count = 0, kept = 0;

	for (size_t row = 0; row < devices->row_count && host >= 0; row++) {
		const struct cell *cell = &table_row(devices, row)[host];

		if (cell->type != CELL_TEXT)
			continue;
		nodes[count] = (struct node) { .host = { cell->text, cell->length } };
		add_device(&nodes[count++], devices, row);
	}
	if (count)
		qsort(nodes, count, sizeof(*nodes), compare_hosts);
	for (size_t i = 0, next; i < count; i = next) {
		struct node sum = nodes[i];

		for (next = i + 1; next < count && !compare_hosts(&nodes[i], &nodes[next]);
		     next++) {
			sum.requests = number_add(sum.requests, nodes[next].requests);
			sum.bytes = number_add(sum.bytes, nodes[next].bytes);
			sum.busy_ns = number_add(sum.busy_ns, nodes[next].busy_ns);
			sum.time_ns += nodes[next].time_ns;
		}
		if (sum.requests >= threshold(THRESHOLD_NODE_REQUESTS) && sum.bytes)
			nodes[kept++] = sum;
	}
	return kept;
}

static double per_request(const struct node *node)
{
	return node->time_ns / node->requests;
}

static double per_byte(const struct node *node)
{
	return node->time_ns / node->bytes;
}

static int compare_bytes(const void *left, const void *right)
{
	return COMPARE(per_byte(left), per_byte(right)) ?: compare_hosts(right, left);
}

static int compare_requests(const void *left, const void *right)
{
	return COMPARE(per_request(left), per_request(right)) ?: compare_hosts(right, left);
}

static int add_slowest(struct findings *findings, const struct finding_rule *rule,
		       struct node *nodes, size_t count)
{
	const struct node *slowest, *median;
	struct slow_node slow = { .nodes = count };
	double median_byte;
	uint64_t cost_ns;

	if (count < 2)
		return 0;
	qsort(nodes, count, sizeof(*nodes), compare_bytes);
	median_byte = per_byte(&nodes[(count - 1) / 2]);
	qsort(nodes, count, sizeof(*nodes), compare_requests);
	slowest = &nodes[count - 1];
	median = &nodes[(count - 1) / 2];
	/* Larger requests take longer, and smaller ones longer per byte. */
	slow.times =
		fmin(per_request(slowest) / per_request(median), per_byte(slowest) / median_byte);
	if (!isfinite(slow.times) || slow.times < threshold(THRESHOLD_NODE_SLOW))
		return 0;
	slow.host = slowest->host;
	slow.requests = slowest->requests;
	slow.each_ns = fmin(per_request(slowest), 0x1p63);
	slow.median_ns = fmin(per_request(median), 0x1p63);
	cost_ns = number_min(slowest->busy_ns, findings->duration_ns) * (1 - 1 / slow.times);
	/* The others wait for this one, so it is no average of all runs. */
	if (findings->runs == 1)
		cost_ns = finding_unhidden(findings, IO_READ, cost_ns);
	return finding_is_of_run(findings, cost_ns, THRESHOLD_SOME_OF_RUN)
		       ? finding_add(findings, rule, &slow, cost_ns, TABLE_NO_UINT)
		       : 0;
}

static int find_slow(struct findings *findings, const struct finding_rule *rule)
{
	const struct table *devices = report_by(findings->report, &analysis_devices);
	struct node *nodes = calloc(devices->row_count + 1, sizeof(*nodes));
	int status;

	if (!nodes)
		return -ENOMEM;
	status = add_slowest(findings, rule, nodes, sum_up(devices, nodes));
	free(nodes);
	return status;
}

const struct finding_rule finding_node_slow = {
	.id = "node-slow",
	.order = 605,
	.breadth = FINDING_OF_ONE,
	.needs_one_of = JOB_BLOCK | JOB_MOUNTS,
	.find = find_slow,
	.confidence = FINDING_LIKELY,
	.cross_run = true,
	FINDING_EVIDENCE(struct slow_node, evidence_columns),
	.thresholds = { &THRESHOLD_NODE_SLOW, &THRESHOLD_NODE_REQUESTS, &THRESHOLD_SOME_OF_RUN },
	.title = "Storage of node {host} is slower than that of the others",
	.says = "a request takes {each_ns}, median {median_ns} of {nodes} nodes ({times} times as "
		"long); {requests} requests",
	.advice = "Leave the node out of the job and check its devices (SMART, RAID rebuild, "
		  "other users, links to network storage), or move its data to shared storage",
	.more = "faultline report --table devices TRACE",
	.pictures = "device nodes",
	.rule = "Nodes of one job mostly read alike, and all of them wait for the slowest at each "
		"step. The rule compares the requests that threads waited for, on all devices and "
		"mounts of a node. Both the time per request and the time per byte must be longer, "
		"so that other request sizes do not count as slow storage.",
};
