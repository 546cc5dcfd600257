/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about programs that are started repeatedly. */
#include "analysis/finding/finding.h"
#include "analysis/processes/starts.h"

struct again {
	struct table_text program;
	uint64_t processes, parent_pid, time_ns, each_ns, files_each;
};

static const struct table_column again_evidence[] = {
	{ "program", "program", UNIT_NONE, KIND_FACT, "name of the processes",
	  TABLE_TEXT(struct again, program), 0 },
	{ "processes", "processes", UNIT_COUNT, KIND_FACT, "number of starts",
	  TABLE_UINT(struct again, processes), 0 },
	{ "parent_pid", "started by", UNIT_NONE, KIND_FACT, "PID of the process that started it",
	  TABLE_UINT(struct again, parent_pid), 0 },
	{ "time_ns", "time", UNIT_NS, KIND_UNION, "time with at least one start in progress",
	  TABLE_UINT(struct again, time_ns), 0 },
	{ "each_ns", "each", UNIT_NS, KIND_FACT, "average time per start",
	  TABLE_UINT(struct again, each_ns), 0 },
	{ "files_each", "files each", UNIT_COUNT, KIND_FACT,
	  "average number of libraries and modules opened per start",
	  TABLE_UINT(struct again, files_each), 0 },
};

/* One start is necessary, so the longest is excluded, unless a fork would have been enough. How
 * much of the time compute overlaps is unknown. */
static int find_again(struct findings *findings, const struct finding_rule *rule)
{
	struct starts_view view;
	int status = 0;

	for (size_t i = 0; !status && starts_of(findings->results, i, &view); i++) {
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
	.title = "{program} is started {processes} times and reloads its modules each time",
	.says = "each start takes {each_ns} and opens {files_each:library or module|libraries and "
		"modules}; {time_ns} with starts in progress, by process {parent_pid}",
	.advice = "Start it once and let one process do all the work; for PyTorch workers, set "
		  "persistent_workers=True or fork them (multiprocessing_context='fork', or "
		  "'forkserver' with the modules preloaded)",
	.more = "faultline report --table starts TRACE",
	.rule = "A process that executes a program loads its libraries and imports its modules "
		"before it does anything else. Even if all of them are in memory, this costs CPU "
		"time, more than storage time. Spawned workers (multiprocessing's 'spawn') do so "
		"in each epoch unless they persist, and so does a script that runs a program for "
		"each file. A start ends with the last library or module loaded before data is "
		"read. The longest start is not counted, because one is needed, unless the parent "
		"process has loaded as much itself: then a fork would cost nothing.",
};
