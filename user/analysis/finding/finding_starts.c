/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about programs that are started repeatedly. */
#include "analysis/finding/finding.h"
#include "analysis/starts.h"

struct again {
	struct table_text program;
	uint64_t processes, parent_pid, time_ns, each_ns, files_each;
};

static const struct table_column again_evidence[] = {
	{ "program", "program", UNIT_NONE, "name of the processes",
	  TABLE_TEXT(struct again, program), 0 },
	{ "processes", "processes", UNIT_COUNT, "how often it was started",
	  TABLE_UINT(struct again, processes), 0 },
	{ "parent_pid", "started by", UNIT_NONE, "process that started it",
	  TABLE_UINT(struct again, parent_pid), 0 },
	{ "time_ns", "time", UNIT_NS, "time with at least one of them starting",
	  TABLE_UINT(struct again, time_ns), 0 },
	{ "each_ns", "each", UNIT_NS, "time that a start takes, on average",
	  TABLE_UINT(struct again, each_ns), 0 },
	{ "files_each", "files each", UNIT_COUNT,
	  "libraries and modules that a start opens, on average",
	  TABLE_UINT(struct again, files_each), 0 },
};

/* One start is necessary, so the longest is excluded, unless a fork would have been enough. How
 * much of the time compute overlaps is unknown. */
static int find_again(struct findings *findings, const struct finding_rule *rule)
{
	struct starts_view view;
	int status = 0;

	for (size_t i = 0; !status && starts_of(findings->measured, i, &view); i++) {
		uint64_t cost_ns = view.time_ns - (view.needless ? 0 : view.longest_ns);
		struct finding_verdict verdict = { cost_ns, TABLE_NO_UINT, FINDING_LIKELY,
						   FINDING_BY_COST };
		struct again again = {
			.program = view.program,
			.processes = view.processes,
			.parent_pid = view.parent_pid,
			.time_ns = view.time_ns,
			.each_ns = view.thread_time_ns / view.processes,
			.files_each = view.files / view.processes,
		};

		if (view.processes < threshold(THRESHOLD_STARTS) || !view.files ||
		    cost_ns < threshold(THRESHOLD_LOADED_NS) ||
		    cost_ns < threshold(THRESHOLD_LOADED_OF_RUN) * findings->duration_ns)
			continue;
		status = finding_add(findings, rule, &again, &verdict);
	}
	return status;
}

static const enum threshold again_thresholds[] = {
	THRESHOLD_STARTS,
	THRESHOLD_LOADED_NS,
	THRESHOLD_LOADED_OF_RUN,
};

const struct finding_rule finding_worker_start = {
	.id = "worker-start",
	.drags = true,
	.needs = JOB_SYSCALL | JOB_EVENTS,
	.find = find_again,
	FINDING_EVIDENCE(struct again, again_evidence),
	FINDING_THRESHOLDS(again_thresholds),
	.title = "{program} is started {processes} times and loads its modules anew each time",
	.says = "a start takes {each_ns} and opens {files_each:library or module|libraries and "
		"modules}; {time_ns} passed with at least one of them starting, by process "
		"{parent_pid}",
	.advice = "Start it once: let one process do all the work. For PyTorch's workers, set "
		  "persistent_workers=True, or fork them (multiprocessing_context='fork' or "
		  "'forkserver' with the modules preloaded)",
	.more = "faultline report --table starts TRACE",
	.rule = "A process that runs a program of its own loads its libraries and imports its "
		"modules before it does anything else, even if all of them are in memory: that "
		"costs the CPU more than storage. Workers that are spawned (multiprocessing's "
		"'spawn') do so, each of them in each epoch unless they persist, and so does a "
		"script that runs a program for each file. A start ends with the last library or "
		"module that is loaded before data is read. The longest start is not counted, for "
		"one is needed, unless the process that starts them has itself loaded as much: "
		"then a fork would have it for nothing.",
};
