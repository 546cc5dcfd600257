/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Findings about processes: killed, hung, swapped out, started repeatedly. */
#include <errno.h>
#include <string.h>

#include "analysis/finding/finding.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/processes/deaths.h"
#include "analysis/processes/processes.h"
#include "analysis/processes/starts.h"
#include "analysis/shared/trace_text.h"
#include "analysis/stacks/lines.h"
#include "analysis/totals/totals.h"
#include "base/number.h"

/* --- killed by a signal --- */

struct killed {
	const char *signal, *hint, *remedy;
	uint64_t died, processes, offset, oom, limit_bytes, capacity_bytes;
	struct table_text comm, at, path, filesystem;
};

static const struct table_column killed_evidence[] = {
	FACT(killed, signal, "signal", NONE, "signal that killed them"),
	FACT(killed, died, "died", COUNT, "processes killed by it"),
	FACT(killed, processes, "processes", COUNT, "all processes of the run"),
	FACT(killed, oom, "by the OOM killer", COUNT, "processes chosen by the OOM killer"),
	FACT(killed, limit_bytes, "limit", BYTES,
	     "memory limit of the cgroup of one of these; null: unknown, or that of the machine"),
	FACT(killed, comm, "name", NONE, "name of one of them"),
	FACT(killed, at, "at", NONE, "line at which it died"),
	FACT(killed, path, "path", NONE, "mapped file with a page that could not be provided"),
	FACT(killed, filesystem, "file system", NONE, "its file system type"),
	FACT(killed, capacity_bytes, "size", BYTES, "capacity of that file system, if it is tmpfs"),
	FACT(killed, offset, "offset", BYTES, "offset in the file"),
	FACT(killed, hint, "likely cause", NONE, "where to look for the cause"),
	FACT(killed, remedy, "remedy", NONE, "what to change for this signal"),
};

static int add_killed(struct findings *findings, const struct finding_rule *rule,
		      const struct death *death)
{
	const struct job *job = findings->results->job;
	char at[LOCATION_BYTES];
	const size_t length = death_locate(at, job, death);
	struct killed killed = {
		.signal = death->signal,
		.hint = death->hint,
		.remedy = death->remedy,
		.died = death->died,
		.processes = death->processes,
		.oom = death->oom,
		.limit_bytes = finding_or_none(death->limit_bytes),
		.capacity_bytes = finding_or_none(death->capacity_bytes),
		.comm = trace_text(job_comm(job, death->first)),
		.at = { length ? arena_text(findings->arena, at, length) : NULL, length },
		.offset = death->offset < 0 ? TABLE_NO_UINT : (uint64_t)death->offset,
	};

	if (length && !killed.at.bytes)
		return -ENOMEM;

	if (death->file != FILE_UNKNOWN) {
		killed.path = trace_text(file_table_name(&job->files, death->file));
		killed.filesystem = trace_text(file_table_filesystem(&job->files, death->file));
	}
	return finding_add(findings, rule, &killed, TABLE_NO_UINT, TABLE_NO_UINT);
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
	.order = 10,
	.find = find_killed,
	.confidence = FINDING_SURE,
	.severity = FINDING_HIGH,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct killed, killed_evidence),
	.title = "{died} of {processes:process|processes} died: {signal}",
	.says = "{comm}[ at {at}][ accessed {path}][ on {filesystem}][ of {capacity_bytes}][ at "
		"{offset}]: {hint}[ of {limit_bytes}]",
	.advice = "{remedy}",
	.advice_in_general =
		"For SIGBUS, free space on the file system, or enlarge /dev/shm (docker run "
		"--shm-size); for SIGKILL, raise the memory limit or use less memory; for crashes, "
		"see the core dump (coredumpctl info); for SIGXCPU and SIGXFSZ, raise the limit "
		"(ulimit -t, -f)",
	.caveat = "killed",
	.more = "faultline report --table processes TRACE",
	.pictures = "processes",
	.rule = "A signal that indicates a crash, a full file system or a lack of memory ended "
		"processes of the run. SIGTERM, SIGINT, SIGHUP and SIGPIPE do not count: they are "
		"normal ways to stop programs. For SIGBUS, the file is the one whose fault failed.",
};

/* --- a call, or a page fault, that had not returned when the recording ended --- */

struct hung {
	struct table_text comm, path, at;
	const char *op, *bound;
	uint64_t pid, tid, waited_ns, calls;
};

static const struct table_column hung_evidence[] = {
	FACT(hung, comm, "name", NONE, "program name"),
	FACT(hung, pid, "pid", NONE, "process ID"),
	FACT(hung, tid, "tid", NONE, "thread ID"),
	FACT(hung, op, "call", NONE, "call that has not returned"),
	FACT(hung, path, "path", NONE, "file of the call"),
	FACT(hung, at, "at", NONE, "line of the program at which it waits"),
	FACT(hung, waited_ns, "waited", NS,
	     "time in flight; from the start of the recording if it began earlier"),
	FACT(hung, bound, "bound", NONE, "≥ if it began before the recording"),
	FACT(hung, calls, "calls", COUNT, "number of calls and page faults that had not returned"),
};

THRESHOLD_MIN(STILL_WAITING, 1e9, UNIT_NS, "time in flight of a call that has not returned",
	      "a choice: even slow storage responds within it");

static int find_hung(struct findings *findings, const struct finding_rule *rule)
{
	const struct job *job = findings->results->job;
	const struct still_waiting *waiting = processes_still_waiting(findings->results);
	char joined[PATH_JOIN_BYTES], at[LOCATION_BYTES], *path;
	size_t length;
	struct hung hung = {
		.op = waiting->fault ? "a page fault" : job->operations[waiting->operation].name,
		.bound = waiting->before ? "≥ " : "",
		.tid = waiting->thread,
		.waited_ns = waiting->time_ns,
		.calls = waiting->calls,
		.pid = TABLE_NO_UINT,
	};

	if (!waiting->calls || waiting->time_ns < threshold(THRESHOLD_STILL_WAITING))
		return 0;
	if (waiting->process != PROCESS_UNKNOWN) {
		hung.pid = job->processes.processes[waiting->process].pid;
		hung.comm = trace_text(job_comm(job, waiting->process));
	}
	if (waiting->argument.path) {
		length = path_join(&job->files, waiting->argument.trace, waiting->argument.dir,
				   waiting->argument.path, joined);
		path = arena_text(findings->arena, joined, length);
		if (!path)
			return -ENOMEM;
		hung.path = (struct table_text) { path, length };
	} else if (waiting->file != FILE_NONE) {
		hung.path = trace_text(file_table_name(&job->files, waiting->file));
	}
	length = lines_locate_unfinished(findings->results, waiting->process, waiting->thread, at);
	if (length) {
		hung.at = (struct table_text) { arena_text(findings->arena, at, length), length };
		if (!hung.at.bytes)
			return -ENOMEM;
	}
	return finding_add(findings, rule, &hung,
			   number_min(waiting->time_ns, findings->duration_ns), TABLE_NO_UINT);
}

const struct finding_rule finding_hung = {
	.id = "still-waiting",
	.order = 20,
	.needs = JOB_SYSCALL,
	.find = find_hung,
	.confidence = FINDING_SURE,
	.severity = FINDING_HIGH,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct hung, hung_evidence),
	.thresholds = { &THRESHOLD_STILL_WAITING },
	.title = "{comm} ({pid}) is still waiting in {op}[ for {path}]",
	.says = "thread {tid}[, at {at},] had waited {bound}{waited_ns} when the recording ended; "
		"{calls:call|calls} had not returned",
	.advice = "Check where it waits in the kernel (cat /proc/PID/task/TID/stack), and whether "
		  "the file system is frozen, its server unreachable or the file locked",
	.more = "faultline print TRACE",
	.pictures = "took metadata read write sync",
	.rule = "A call that has not returned when the recording ends is recorded up to that "
		"point. One that began before the recording counts from the start of the "
		"recording.",
};

/* --- memory that was swapped out --- */

struct swapped {
	uint64_t major, count, time_ns;
};

static const struct table_column swapped_evidence[] = {
	FACT(swapped, major, "major", COUNT,
	     "major faults of ended threads by the kernel's count, excluding those on files"),
	FACT(swapped, count, "count", COUNT,
	     "all faults on memory without a file, or with one on tmpfs"),
	COLUMN(swapped, time_ns, "time", NS, THREAD, "thread time of these faults"),
};

THRESHOLD_MIN(SWAPPED_FAULTS, 1000, UNIT_COUNT, "major faults on memory without a file",
	      "a choice: fewer are pages unused for long");
THRESHOLD_MIN(SWAPPED_SHARE, 0.01, UNIT_SHARE, "share of these in all faults on such memory",
	      "measured: one in ten for a job with half the memory it needs");

static int find_swapped(struct findings *findings, const struct finding_rule *rule)
{
	static const enum totals_memory memory[] = { TOTALS_ANONYMOUS, TOTALS_SHMEM };
	uint64_t files = totals_class(findings->results, IO_MMAP_READ).major +
			 totals_class(findings->results, IO_MMAP_WRITE).major;
	struct swapped swapped = {
		.major = number_sub(findings->results->job->processes.major_faults, files),
	};
	uint64_t major = 0; /* older traces have only those of whole processes */
	bool counted = true;

	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++) {
		const struct trace_operation_total *total =
			totals_memory(findings->results, memory[i]);

		swapped.count += total->count;
		swapped.time_ns += total->thread_time_ns;
		counted &= total->major_faults != TRACE_NOT_COUNTED;
		major += counted ? total->major_faults : 0;
	}
	if (counted)
		swapped.major = major;
	if (findings->results->job->chosen ||
	    !finding_is_enough_in(findings, swapped.major, &THRESHOLD_SWAPPED_FAULTS,
				  swapped.time_ns) ||
	    swapped.major < threshold(THRESHOLD_SWAPPED_SHARE) * swapped.count)
		return 0;
	return finding_add(findings, rule, &swapped,
			   number_min(swapped.time_ns, findings->duration_ns), TABLE_NO_UINT);
}

const struct finding_rule finding_swapped = {
	.id = "swapped",
	.order = 150,
	.exactness = FINDING_AT_MOST,
	.needs = JOB_FAULT,
	.find = find_swapped,
	.confidence = FINDING_LIKELY,
	.sums = FINDING_OF_SPANS,
	FINDING_EVIDENCE(struct swapped, swapped_evidence),
	.thresholds = { &THRESHOLD_SWAPPED_FAULTS, &THRESHOLD_SWAPPED_SHARE,
			&THRESHOLD_TIME_DECIDES, &THRESHOLD_FEW },
	.title = "Run waits for its own memory, which was swapped out",
	.says = "{major:major fault|major faults} on memory without a file; {count} faults on such "
		"memory took {time_ns} of thread time",
	.advice = "Give it more memory (machine, cgroup limit) or reduce its need: fewer workers, "
		  "smaller batches, mapped files instead of copies",
	.more = "faultline report --table totals TRACE",
	.pictures = "memory",
	.rule = "A page of a program's own memory that was swapped out is read back from the swap "
		"device when it is accessed: a major fault without a file. The kernel counts the "
		"major faults of each thread; those on files are known, so the rest are on swapped "
		"memory. Their time is that of all faults on such memory, including the first "
		"access to each page: an upper bound.",
};

/* --- programs that are started repeatedly --- */

struct again {
	struct table_text program;
	uint64_t others, processes, parent_pid, time_ns, each_ns, files_each, modules_each;
};

static const struct table_column again_evidence[] = {
	FACT(again, program, "program", NONE, "name of the processes that took longest"),
	FACT(again, others, "others", COUNT,
	     "other programs that the same process starts repeatedly; null: none"),
	FACT(again, processes, "processes", COUNT, "number of starts, of all of these"),
	FACT(again, parent_pid, "started by", NONE, "PID of the process that started it"),
	COLUMN(again, time_ns, "time", NS, UNION, "time with at least one start in progress"),
	FACT(again, each_ns, "each", NS, "average time per start"),
	FACT(again, files_each, "files each", COUNT,
	     "average number of libraries and modules opened per start"),
	FACT(again, modules_each, "modules each", COUNT,
	     "the part that is Python modules; null: none"),
};

THRESHOLD_MIN(STARTS, STARTS_AGAIN, UNIT_COUNT, "starts of a program by one process",
	      "a choice: two may be coincidence");

/* One start is necessary: the first workers, or the longest start of those that ran side by side,
 * unless a fork would have been enough for these. How much of the time compute overlaps is unknown.
 */
static uint64_t saved_ns(const struct starts_view *view)
{
	if (view->time_ns > view->first_ns)
		return view->time_ns - view->first_ns;
	return view->time_ns - (view->needless ? 0 : view->longest_ns);
}

static int find_again(struct findings *findings, const struct finding_rule *rule)
{
	struct starts_view view;
	int status = 0;

	for (size_t i = 0; !status && starts_of(findings->results, i, &view); i++) {
		struct again again = { .program = view.program, .parent_pid = view.parent_pid };
		uint64_t cost_ns;

		if (view.processes < threshold(THRESHOLD_STARTS))
			continue;
		again.others = starts_of_parent(findings->results, i, &view);
		if (again.others == UINT64_MAX || !view.files)
			continue;
		cost_ns = saved_ns(&view);
		again.processes = view.processes;
		again.time_ns = view.time_ns;
		again.each_ns = view.thread_time_ns / view.processes;
		again.files_each = view.files / view.processes;
		again.modules_each = again.others ? TABLE_NO_UINT
						  : finding_or_none(view.modules / view.processes);
		again.others = finding_or_none(again.others);
		if (cost_ns < threshold(THRESHOLD_LOADED_NS) ||
		    !finding_is_of_run(findings, cost_ns, THRESHOLD_PART_OF_RUN))
			continue;
		status = finding_add(findings, rule, &again, cost_ns, TABLE_NO_UINT);
	}
	return status;
}

const struct finding_rule finding_worker_start = {
	.id = "worker-start",
	.order = 240,
	.causes_work = true,
	.exactness = FINDING_ESTIMATED,
	.needs = JOB_SYSCALL | JOB_EVENTS,
	.find = find_again,
	.confidence = FINDING_LIKELY,
	FINDING_EVIDENCE(struct again, again_evidence),
	.thresholds = { &THRESHOLD_STARTS, &THRESHOLD_LOADED_NS, &THRESHOLD_PART_OF_RUN },
	.title = "{program}[ and {others:more program|more programs} are|| is] started "
		 "{processes} times[ and loads {modules_each:module|modules} "
		 "each time]",
	.says = "each start takes {each_ns} and opens [{files_each:file|files}, with "
		"{modules_each:module|modules}||{files_each:library|libraries}]; {time_ns} with "
		"starts in progress, by process {parent_pid}",
	.advice = "Start it once and let one process do all the work[; for PyTorch workers, set "
		  "persistent_workers=True or fork them (multiprocessing_context='fork', or "
		  "'forkserver' with the {modules_each:module|modules} preloaded)||, or do it in "
		  "the process that starts {program}, with a library]",
	.more = "faultline report --table starts TRACE",
	.pictures = "starts",
	.rule = "A process that executes a program loads its libraries and imports its modules "
		"before it does anything else. Even if all of them are in memory, this costs CPU "
		"time, more than storage time. Spawned workers (multiprocessing's 'spawn') do so "
		"in each epoch unless they persist, and so does a script that runs a program for "
		"each file. A start ends with the last library or module loaded before data is "
		"read. The first starts are left out, because they are needed. If all processes "
		"started side by side, the longest start is left out, unless the parent process "
		"has loaded as much itself: then a fork would cost nothing.",
};
