/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about syncs, and about writes that each wait for storage. */
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/finding/finding_made.h"
#include "analysis/processes/processes.h"
#include "analysis/rules/files/calls.h"
#include "base/number.h"

struct syncs {
	struct calls calls;
	uint64_t processes;	  /* that sync; TABLE_NO_UINT: only one */
	uint64_t pid, rank, most; /* of the process with the most syncs */
	uint64_t written_bytes;	  /* by that process */
	uint64_t in_a_row;	  /* one after the other; those of concurrent processes are not */
	uint64_t sync_writes, sync_writes_ns; /* TABLE_NO_UINT: none, or a finding of their own */
};

static const struct table_column syncs_evidence[] = {
	CALLS_COLUMNS,
	FACT(syncs, processes, "processes", COUNT, "processes that sync; null: only one"),
	FACT(syncs, pid, "pid", NONE, "process with the most syncs"),
	FACT(syncs, rank, "rank", NONE, "its rank"),
	FACT(syncs, most, "most", COUNT, "number of its syncs"),
	FACT(syncs, written_bytes, "written", BYTES, "bytes that this process wrote"),
	FACT(syncs, in_a_row, "in a row", COUNT,
	     "syncs of one process, or of processes that ran one after another"),
	FACT(syncs, sync_writes, "sync writes", COUNT,
	     "writes with O_SYNC or O_DSYNC, if they are all to that file, as in commits of a "
	     "database; null: they are not, or there are none"),
	FACT(syncs, sync_writes_ns, "took", NS, "time with at least one of these in flight"),
};

/* If both have as many, the one that began first. */
static bool syncs_more(const struct processes_calls *one, const struct processes_calls *most)
{
	if (one->syncs != most->syncs)
		return one->syncs > most->syncs;
	if (one->start_ns != most->start_ns)
		return one->start_ns < most->start_ns;
	return one->pid < most->pid;
}

/*
 * Ranks that each sync once wait once, at the same time. Programs that a script starts one after
 * the other wait for each of their syncs. So the count is divided by how many ran at a time.
 * Returns 0, or -ENODATA if processes are not listed individually.
 */
static int count_syncs(const struct findings *findings, struct syncs *syncs)
{
	uint64_t first_ns = UINT64_MAX, last_ns = 0, lived_ns = 0;
	struct processes_calls one, most = { .syncs = 0 };
	double side_by_side;
	int status;

	syncs->processes = 0;
	for (uint32_t i = 0; (status = processes_calls(findings->results, i, &one)) > 0; i++) {
		if (!one.syncs)
			continue;
		syncs->processes++;
		lived_ns += number_sub(one.end_ns, one.start_ns);
		first_ns = number_min(one.start_ns, first_ns);
		last_ns = number_max(one.end_ns, last_ns);
		if (syncs_more(&one, &most))
			most = one;
	}
	syncs->pid = most.syncs ? most.pid : TABLE_NO_UINT;
	syncs->rank = most.syncs ? most.rank : TABLE_NO_UINT;
	syncs->most = most.syncs;
	syncs->written_bytes = most.written_bytes;
	side_by_side = finding_share(lived_ns, number_sub(last_ns, first_ns));
	syncs->in_a_row = syncs->calls.count / (side_by_side > 1 ? side_by_side : 1);
	if (syncs->in_a_row < syncs->most)
		syncs->in_a_row = syncs->most;
	if (syncs->processes <= 1)
		syncs->processes = TABLE_NO_UINT;
	return status;
}

THRESHOLD_MIN(FSYNCS, 50, UNIT_COUNT, "consecutive syncs",
	      "a choice: more than the files of a checkpoint");
THRESHOLD_MIN(FSYNCS_WAITED, 4, UNIT_COUNT, "syncs that the run waits for",
	      "a choice: one or two finish writing a file and its directory");

/* Adds the writes with O_SYNC to a file that is also synced: both are parts of a commit, and fewer
 * commits save both. Returns what they cost. */
static uint64_t add_sync_writes(const struct findings *findings, struct syncs *syncs)
{
	const struct io_pattern_view writes =
		io_patterns_view(findings->results, IO_PATTERN_SYNC_WRITE);
	const struct table_text path = syncs->calls.path;

	syncs->sync_writes = syncs->sync_writes_ns = TABLE_NO_UINT;
	if (writes.files != 1 || !path.length || writes.path.length != path.length ||
	    memcmp(writes.path.bytes, path.bytes, path.length))
		return 0;
	syncs->sync_writes = writes.tally.count;
	syncs->sync_writes_ns = writes.tally.time.measure;
	return finding_unhidden(findings, IO_WRITE, syncs->sync_writes_ns);
}

/* Many syncs, or some that the run waits for, unless each of them ends a large write. */
static int find_syncs(struct findings *findings, const struct finding_rule *rule)
{
	uint64_t cost_ns;
	struct syncs syncs = { .calls = calls_of(findings, rule, &cost_ns) };
	bool waits, many;

	if (count_syncs(findings, &syncs))
		return 1;
	many = syncs.in_a_row >= threshold(THRESHOLD_FSYNCS);
	/* Even one counts if it takes much of the run. */
	waits = syncs.written_bytes < threshold(THRESHOLD_SAVE_BYTES) * syncs.most &&
		(syncs.in_a_row >= threshold(THRESHOLD_FSYNCS_WAITED) ||
		 (syncs.in_a_row && finding_is_of_run(findings, cost_ns, THRESHOLD_SEVERITY_HIGH)));
	if (!many && !waits)
		return 0;
	/* For concurrent runs it is unknown how long each of them waited. */
	if (!many && findings->runs > 1)
		return 1;
	if (!many && !finding_is_of_run(findings, cost_ns, THRESHOLD_PART_OF_RUN))
		return 0;
	cost_ns = number_add(cost_ns, add_sync_writes(findings, &syncs));
	cost_ns = number_min(cost_ns, findings->duration_ns);
	return finding_add(findings, rule, &syncs, cost_ns, TABLE_NO_UINT);
}

const struct finding_rule finding_fsync_often = {
	.id = "fsync-often",
	.order = 350,
	.lines = 1u << USE_SYNC,
	.lines_of_all = true,
	.needs = JOB_SYSCALL,
	.find = find_syncs,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.sums = FINDING_OF_SUMS,
	.io_pattern = IO_PATTERN_FSYNC,
	.class = IO_SYNC,
	FINDING_EVIDENCE(struct syncs, syncs_evidence),
	.thresholds = { &THRESHOLD_FSYNCS, &THRESHOLD_FSYNCS_WAITED, &THRESHOLD_PART_OF_RUN,
			&THRESHOLD_SAVE_BYTES },
	.title = "Run waits for syncs[ of {file}][ and {other_files:more file|more files}]",
	.says = "{count} fsync and similar calls of {each_ns} each, {time_ns} in total[, by "
		"{processes:process|processes}: {most} by process {pid}][, rank {rank}][; "
		"{sync_writes:write|writes} to it with O_SYNC took {sync_writes_ns}]",
	.advice = "Sync once for many writes (in a database: write more in each transaction), at "
		  "the end of a checkpoint, or in a separate thread",
	.more = "faultline print --file '*/{file}' TRACE",
	.pictures = "took sync, parts sync, calls sync",
	.rule = "fsync waits until the device has all written data and the journal. If it is "
		"called often, each small write pays for a full device round trip. The rule "
		"reports many syncs, or several that together take a noticeable part of the run, "
		"unless each ends a large write (a save, by any thread). Syncs of processes that "
		"run in parallel, such as ranks, do not add up: one in each counts as one. Writes "
		"with O_SYNC to that file, and no other, count, too.",
};

uint64_t finding_synced_ns(const struct findings *findings)
{
	uint64_t time_ns = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct syncs *syncs = findings->all[i].evidence;

		if (findings->all[i].rule == &finding_fsync_often &&
		    syncs->sync_writes_ns != TABLE_NO_UINT)
			time_ns = number_max(time_ns, syncs->sync_writes_ns);
	}
	return time_ns;
}

static int find_sync_writes(struct findings *findings, const struct finding_rule *rule)
{
	return finding_synced_ns(findings) ? 0 : calls_find(findings, rule);
}

THRESHOLD_MIN(SYNC_WRITES, 100, UNIT_COUNT, "writes with O_SYNC",
	      "a choice: a job's log has fewer");

const struct finding_rule finding_sync_writes = {
	.id = "sync-writes",
	.order = 360,
	.lines = 1u << USE_WRITE,
	.lines_of_pattern = true,
	.needs = JOB_SYSCALL,
	.find = find_sync_writes,
	.confidence = FINDING_SURE,
	.cross_run = true,
	.io_pattern = IO_PATTERN_SYNC_WRITE,
	.class = IO_WRITE,
	.evidence = &calls_evidence,
	.thresholds = { &THRESHOLD_SYNC_WRITES, &THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "{file} is open with O_SYNC: each write waits for storage",
	.says = "{count} writes of {bytes_each}, {each_ns} each, {time_ns} in total",
	.advice = "Open without O_SYNC or O_DSYNC, and call fdatasync when it matters",
	.more = "faultline print --file '*/{file}' TRACE",
	.pictures = "took write direct, parts write direct, sizes write",
	.rule = "With O_SYNC or O_DSYNC each write returns only when the device has the data, one "
		"after another. One fdatasync at the end of a checkpoint gives the same guarantee. "
		"Such writes to a file that is also synced are part of fsync-often.",
};
