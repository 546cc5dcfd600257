/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The finding about a call, or a page fault, that had not returned when the recording ended.
 */
#include <errno.h>

#include "analysis/finding/finding.h"
#include "analysis/processes/processes.h"
#include "analysis/shared/trace_text.h"

struct hung {
	struct table_text comm, path;
	const char *op, *bound;
	uint64_t pid, tid, time_ns, calls;
};

static const struct table_column hung_evidence[] = {
	{ "comm", "name", UNIT_NONE, KIND_FACT, "program name", TABLE_TEXT(struct hung, comm), 0 },
	{ "pid", "pid", UNIT_NONE, KIND_FACT, "process ID", TABLE_UINT(struct hung, pid), 0 },
	{ "tid", "tid", UNIT_NONE, KIND_FACT, "thread ID", TABLE_UINT(struct hung, tid), 0 },
	{ "op", "call", UNIT_NONE, KIND_FACT, "call that has not returned",
	  TABLE_LITERAL(struct hung, op), 0 },
	{ "path", "path", UNIT_NONE, KIND_FACT, "file of the call", TABLE_TEXT(struct hung, path),
	  0 },
	{ "waited_ns", "waited", UNIT_NS, KIND_FACT,
	  "time in flight; from the start of the recording if it began earlier",
	  TABLE_UINT(struct hung, time_ns), 0 },
	{ "bound", "bound", UNIT_NONE, KIND_FACT, "≥ if it began before the recording",
	  TABLE_LITERAL(struct hung, bound), 0 },
	{ "calls", "calls", UNIT_COUNT, KIND_FACT,
	  "number of calls and page faults that had not returned", TABLE_UINT(struct hung, calls),
	  0 },
};

static int find_hung(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	const struct still_waiting *waiting = processes_still_waiting(findings->results);
	struct finding_verdict verdict = {
		.cost_ns = waiting->time_ns < findings->duration_ns ? waiting->time_ns
								    : findings->duration_ns,
		.cost_bytes = TABLE_NO_UINT,
		.confidence = FINDING_SURE,
		.severity = FINDING_HIGH,
	};
	char joined[PATH_JOIN_BYTES], *path;
	size_t length;
	struct hung hung = {
		.op = waiting->fault ? "a page fault" : job->operations[waiting->operation].name,
		.bound = waiting->before ? "≥ " : "",
		.tid = waiting->thread,
		.time_ns = waiting->time_ns,
		.calls = waiting->calls,
		.pid = TABLE_NO_UINT,
	};

	if (!waiting->calls || waiting->time_ns < threshold(THRESHOLD_STILL_WAITING))
		return 0;
	if (waiting->process != PROCESS_UNKNOWN) {
		hung.pid = job->processes.processes[waiting->process].pid;
		hung.comm = trace_text(job_comm(job, waiting->process));
	}
	if (waiting->asked.path) {
		length = path_join(&job->files, waiting->asked.trace, waiting->asked.dir,
				   waiting->asked.path, joined);
		path = arena_text(findings->arena, joined, length);
		if (!path)
			return -ENOMEM;
		hung.path = (struct table_text) { path, length };
	} else if (waiting->file != FILE_NONE) {
		hung.path = trace_text(file_table_name(&job->files, waiting->file));
	}
	return finding_add(findings, rule, &hung, &verdict);
}

const struct finding_rule finding_hung = {
	.id = "still-waiting",
	.needs = JOB_SYSCALL,
	.find = find_hung,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct hung, hung_evidence),
	FINDING_THRESHOLD(THRESHOLD_STILL_WAITING),
	.title = "{comm} ({pid}) is still waiting in {op}[ for {path}]",
	.says = "thread {tid} had waited {bound}{waited_ns} when the recording ended; {calls:call|"
		"calls} had not returned",
	.advice = "Check where it waits in the kernel (cat /proc/PID/task/TID/stack), and whether "
		  "the file system is frozen, its server unreachable or the file locked",
	.more = "faultline print TRACE",
	.rule = "A call that has not returned when the recording ends is recorded up to that "
		"point. One that began before the recording counts from the start of the "
		"recording.",
};
