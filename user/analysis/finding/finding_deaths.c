/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The finding about processes killed by a signal. */
#include "analysis/processes/deaths.h"
#include "analysis/finding/finding.h"
#include "analysis/shared/trace_text.h"

struct killed {
	const char *signal, *hint;
	uint64_t died, processes, offset, oom, capacity_bytes;
	struct table_text comm, path, filesystem;
};

static const struct table_column killed_evidence[] = {
	{ "signal", "signal", UNIT_NONE, KIND_FACT, "signal that killed them",
	  TABLE_LITERAL(struct killed, signal), 0 },
	{ "died", "died", UNIT_COUNT, KIND_FACT, "processes killed by it",
	  TABLE_UINT(struct killed, died), 0 },
	{ "processes", "processes", UNIT_COUNT, KIND_FACT, "all processes of the run",
	  TABLE_UINT(struct killed, processes), 0 },
	{ "oom", "by the OOM killer", UNIT_COUNT, KIND_FACT, "processes chosen by the OOM killer",
	  TABLE_UINT(struct killed, oom), 0 },
	{ "comm", "name", UNIT_NONE, KIND_FACT, "name of one of them",
	  TABLE_TEXT(struct killed, comm), 0 },
	{ "path", "path", UNIT_NONE, KIND_FACT,
	  "mapped file with a page that could not be provided", TABLE_TEXT(struct killed, path),
	  0 },
	{ "filesystem", "file system", UNIT_NONE, KIND_FACT, "its file system type",
	  TABLE_TEXT(struct killed, filesystem), 0 },
	{ "capacity_bytes", "size", UNIT_BYTES, KIND_FACT,
	  "capacity of that file system, if it is tmpfs", TABLE_UINT(struct killed, capacity_bytes),
	  0 },
	{ "offset", "offset", UNIT_BYTES, KIND_FACT, "offset in the file",
	  TABLE_UINT(struct killed, offset), 0 },
	{ "hint", "likely cause", UNIT_NONE, KIND_FACT, "where to look for the cause",
	  TABLE_LITERAL(struct killed, hint), 0 },
};

static int add_killed(struct findings *findings, const struct finding_rule *rule,
		      const struct death *death)
{
	const struct job *job = findings->results->job;
	const struct finding_verdict verdict = { TABLE_NO_UINT, TABLE_NO_UINT, FINDING_SURE,
						 FINDING_HIGH };
	struct killed killed = {
		.signal = death->signal,
		.hint = death->hint,
		.died = death->died,
		.processes = death->processes,
		.oom = death->oom,
		.capacity_bytes = death->capacity_bytes ? death->capacity_bytes : TABLE_NO_UINT,
		.comm = trace_text(job_comm(job, death->first)),
		.offset = death->offset < 0 ? TABLE_NO_UINT : (uint64_t)death->offset,
	};

	if (death->file != FILE_UNKNOWN) {
		killed.path = trace_text(file_table_name(&job->files, death->file));
		killed.filesystem = trace_text(file_table_filesystem(&job->files, death->file));
	}
	return finding_add(findings, rule, &killed, &verdict);
}

static int find_killed(struct findings *findings, const struct finding_rule *rule)
{
	struct death death;
	int status = 0;

	for (size_t i = 0; !status && deaths_by_signal(findings->results, i, &death); i++)
		status = add_killed(findings, rule, &death);
	return status;
}

const struct finding_rule finding_killed = {
	.id = "killed",
	.find = find_killed,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct killed, killed_evidence),
	.title = "{died} of {processes:process|processes} died: {signal}",
	.says = "{comm}[ accessed {path}][ on {filesystem}][ of {capacity_bytes}][ at {offset}]: "
		"{hint}",
	.advice = "Enlarge /dev/shm (docker run --shm-size, mount -o remount,size=) or use fewer "
		  "workers for SIGBUS on tmpfs; raise the memory limit or use less memory for "
		  "SIGKILL; a worker that dies takes the run with it",
	.caveat = "killed",
	.more = "faultline report --table processes TRACE",
	.rule = "A signal that indicates a crash, a full file system or a lack of memory ended "
		"processes of the run. SIGTERM, SIGINT, SIGHUP and SIGPIPE do not count: they are "
		"normal ways to stop programs. For SIGBUS, the file is the one whose fault failed.",
};
