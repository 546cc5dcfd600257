/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding on reads that reach the device late, as under a limit of the cgroup. */
#include "analysis/devices/chain.h"
#include "analysis/finding/finding_files.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

struct held_back {
	struct table_text path, file;
	uint64_t files, requests, bytes, time_ns, held_ns, fetched_bytes, bandwidth;
};

static const struct table_column held_evidence[] = {
	FACT(held_back, path, "path", NONE, "file whose reads are throttled longest"),
	FACT(held_back, file, "file", NONE, "its name"),
	FACT(held_back, files, "files", COUNT, "such files"),
	COLUMN(held_back, time_ns, "time", NS, UNION,
	       "time in reads of these files and faults on them"),
	FACT(held_back, held_ns, "throttled", NS,
	     "time in reads while no request for these files was in flight, until a late one was"),
	FACT(held_back, requests, "requests", COUNT, "request parts that came late"),
	FACT(held_back, bytes, "bytes", BYTES, "bytes of these requests"),
	FACT(held_back, fetched_bytes, "from storage", BYTES, "bytes from storage, late or not"),
	COLUMN(held_back, bandwidth, "bandwidth", BYTES, RATIO,
	       "bytes from storage per second of read time"),
};

THRESHOLD_MIN(HELD_BACK, 0.5, UNIT_SHARE,
	      "share of a file's read time before the device gets the request", "a majority");

/* `times_ns`: the time held back, by enum io_class. */
static void add_held(struct held_back *sum, uint64_t times_ns[IO_CLASS_COUNT], uint64_t *longest_ns,
		     const struct file_view *file, const struct chain_late *late)
{
	const struct tally *reads = &file->tallies[USE_READ], *faults = &file->tallies[USE_MMAP];
	uint64_t time_ns = reads->time.measure + faults->time.measure;

	if (late->time.measure < threshold(THRESHOLD_HELD_BACK) * time_ns)
		return;
	sum->files++;
	sum->requests += late->parts;
	sum->bytes += late->bytes;
	sum->time_ns += time_ns;
	sum->held_ns += late->time.measure;
	times_ns[IO_READ] += late->time.measure * finding_share(reads->time.measure, time_ns);
	times_ns[IO_MMAP_READ] += late->time.measure * finding_share(faults->time.measure, time_ns);
	sum->fetched_bytes += reads->fetched_bytes + faults->fetched_bytes + file->direct_bytes;
	if (late->time.measure < *longest_ns)
		return;
	*longest_ns = late->time.measure;
	sum->path = file->path;
}

static int find_held_back(struct findings *findings, const struct finding_rule *rule)
{
	const struct results *results = findings->results;
	const uint64_t most_ns = totals_class(results, IO_READ).time.measure +
				 totals_class(results, IO_MMAP_READ).time.measure;
	struct held_back sum = { 0 };
	uint64_t longest_ns = 0, times_ns[IO_CLASS_COUNT] = { 0 };
	struct file_view file;
	size_t count;
	const struct chain_late *all = chain_late_of_files(results, &count);

	for (size_t i = 0; i < count; i++)
		if (all[i].parts && files_used(results, i, &file) && file.known)
			add_held(&sum, times_ns, &longest_ns, &file, &all[i]);
	if (!sum.files)
		return 0;
	sum.file = finding_base_name(sum.path);
	/* Times of several files may overlap. */
	sum.time_ns = number_min(sum.time_ns, most_ns);
	sum.held_ns = number_min(sum.held_ns, sum.time_ns);
	sum.bandwidth = finding_bandwidth(sum.fetched_bytes, sum.time_ns);
	finding_divide(times_ns, sum.held_ns, IO_READ);
	return finding_add_of(findings, rule, &sum, times_ns);
}

const struct finding_rule finding_held_back = {
	.id = "held-back",
	.order = 60,
	.lines = 1u << USE_READ | 1u << USE_MMAP,
	.needs = JOB_SYSCALL | JOB_FAULT | JOB_PAGECACHE | JOB_BLOCK,
	.find = find_held_back,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct held_back, held_evidence),
	.thresholds = { &THRESHOLD_HELD_BACK },
	.title = "Reads of {file} are throttled",
	.says = "{fetched_bytes} from {files:file|files}, at {bandwidth}/s; threads waited "
		"{held_ns} of {time_ns} before the device received their {requests} requests",
	.advice = "Raise the cgroup's I/O limit (io.max, blkio.throttle.*), which a container, a "
		  "batch system or systemd sets, or read less: once, packed, kept in memory",
	.more = "faultline report --table devices TRACE",
	.pictures = "device throttled, story all",
	.rule = "Requests for data that the run read were queued by other threads, while the run's "
		"own threads waited and the device had no requests for them; most of the read time "
		"passed this way. A cgroup limit on bytes or requests per second has this effect; "
		"a device that forwards requests to another one after a delay looks the same. "
		"Neither the device nor the size of reads is the cause then, but with a limit on "
		"requests, larger reads need fewer.",
};
