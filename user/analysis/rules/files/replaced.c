/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finding about calls that replace or remove a file, and wait for its data to be written. */
#include <string.h>

#include "analysis/devices/chain.h"
#include "analysis/finding/finding.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

struct replacing {
	uint64_t count, time_ns, each_ns, written_bytes, discarded_bytes;
	struct table_text call;
};

static const struct table_column replacing_evidence[] = {
	FACT(replacing, count, "count", COUNT,
	     "metadata calls that waited for their own writes or discards"),
	FACT(replacing, call, "call", NONE, "call with most of that time"),
	COLUMN(replacing, time_ns, "time", NS, UNION,
	       "time of their requests in the queue or at the device"),
	FACT(replacing, each_ns, "each", NS, "average of that time per call"),
	FACT(replacing, written_bytes, "written", BYTES, "bytes of these writes; null: none"),
	FACT(replacing, discarded_bytes, "discarded", BYTES,
	     "bytes of freed space that were discarded; null: none"),
};

THRESHOLD_MIN(REPLACING_NS, 20000000, UNIT_NS, "time that they take",
	      "a choice: as for cold metadata");

static struct replacing sum_up(const struct results *results)
{
	struct replacing found = { .count = 0 };
	const char *call = "";
	uint64_t most_ns = 0;
	size_t count;
	const struct chain_replacing *calls = chain_of_replacing(results, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t time_ns = calls[i].time.queue_ns + calls[i].time.device_ns;

		found.count += calls[i].time.count;
		found.time_ns += time_ns;
		found.written_bytes += calls[i].written_bytes;
		found.discarded_bytes += calls[i].discarded_bytes;
		if (time_ns <= most_ns)
			continue;
		most_ns = time_ns;
		call = results->job->operations[i].name;
	}
	found.call = (struct table_text) { call, strlen(call) };
	found.written_bytes = finding_or_none(found.written_bytes);
	found.discarded_bytes = finding_or_none(found.discarded_bytes);
	return found;
}

static int find_replacing(struct findings *findings, const struct finding_rule *rule)
{
	const struct tally all = totals_class(findings->results, IO_METADATA);
	struct replacing found = sum_up(findings->results);
	uint64_t cost_ns;

	if (!found.count)
		return 0;
	found.each_ns = found.time_ns / found.count;
	/* Threads may have waited at the same time. */
	cost_ns = finding_unhidden(findings, IO_METADATA,
				   number_min(found.time_ns, all.time.measure));
	return cost_ns >= threshold(THRESHOLD_REPLACING_NS) &&
			       finding_is_of_run(findings, cost_ns, THRESHOLD_SOME_OF_RUN)
		       ? finding_add(findings, rule, &found, cost_ns, TABLE_NO_UINT)
		       : 0;
}

/* These calls name files by their paths. */
static bool is_of_no_file(const struct findings *findings, const void *evidence,
			  const struct line_use *use)
{
	return use->file == FILE_NONE;
}

const struct finding_rule finding_replacing = {
	.id = "replace-waits",
	.order = 328,
	.lines = 1u << USE_METADATA,
	.lines_take = is_of_no_file,
	.lines_whole = "the time in calls by path",
	.needs = JOB_SYSCALL | JOB_BLOCK,
	.find = find_replacing,
	.confidence = FINDING_SURE,
	FINDING_EVIDENCE(struct replacing, replacing_evidence),
	.thresholds = { &THRESHOLD_REPLACING_NS, &THRESHOLD_SOME_OF_RUN },
	.title = "Replacing or removing files waits for the device",
	.says = "{count:metadata call|metadata calls}, mostly {call}, waited {each_ns} each[ for "
		"{written_bytes} of writes in total][; {discarded_bytes} of freed space were "
		"discarded]",
	.advice = "Write to a name that does not exist yet, and remove old files in a thread, or "
		  "keep them for longer[; to save the discards of {discarded_bytes}, mount "
		  "without the option discard and run fstrim from time to time]",
	.more = "faultline report --slowest 50 TRACE",
	.pictures = "took metadata, calls metadata",
	.rule = "Written data stays in memory until the kernel writes it to the device, unless a "
		"call has to wait for that. ext4 and btrfs write a new file out when it is renamed "
		"over an existing one, so that a crash cannot lose both. Removing a file waits for "
		"its pages that are being written at that moment. With the mount option discard, "
		"it also sends a discard of the freed space to the device. The cost is the time of "
		"the requests that these calls waited for.",
};
