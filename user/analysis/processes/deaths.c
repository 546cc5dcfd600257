/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts the processes killed by each fatal signal, and finds the file that one of them accessed.
 */
#include "analysis/processes/deaths.h"

#include <signal.h>
#include <sys/wait.h>

#include "analysis/processes/processes.h"
#include "base/units.h"

/* Most informative signals first. SIGTERM, SIGINT, SIGHUP and SIGPIPE are left out: they are normal
 * ways to stop a program. */
#define SEE_CORE                                                                                   \
	"See its messages and its core dump (coredumpctl info, or gdb), and fix the program"

static const struct {
	uint32_t number;
	const char *name, *hint, *remedy;
} fatal[] = {
	{ SIGBUS, "SIGBUS",
	  "the file system was full (see df), or the file is shorter than its mapping",
	  "Free space on the file system, and do not shorten files that are mapped; if it is "
	  "tmpfs, enlarge /dev/shm (docker run --shm-size, mount -o remount,size=) or use fewer "
	  "workers" },
	{ SIGKILL, "SIGKILL",
	  "unless someone sent it, memory ran out: see dmesg, and oom_kill in the cgroup's "
	  "memory.events",
	  "Raise the memory limit, or use less memory: fewer workers, smaller batches" },
	{ SIGSEGV, "SIGSEGV", "the program crashed: see its core dump", SEE_CORE },
	{ SIGABRT, "SIGABRT", "the program aborted: see its messages", SEE_CORE },
	{ SIGILL, "SIGILL", "the program was built for a different CPU",
	  "Build or install it for this CPU (see lscpu)" },
	{ SIGFPE, "SIGFPE", "the program crashed: see its core dump", SEE_CORE },
	{ SIGSYS, "SIGSYS", "seccomp blocked a system call",
	  "Allow the call in the seccomp profile of its container or sandbox (the kernel log "
	  "names it)" },
	{ SIGXCPU, "SIGXCPU", "the CPU time limit was reached (ulimit -t)",
	  "Raise the limit on CPU time (ulimit -t, or that of the batch system)" },
	{ SIGXFSZ, "SIGXFSZ", "the file size limit was reached (ulimit -f)",
	  "Raise the limit on file sizes (ulimit -f), or write smaller files" },
};
/* Replace the hint if the kernel reported the cause. */
#define OOM_ALL                                                                                    \
	"killed by the OOM killer: memory ran out, or the cgroup reached its limit "               \
	"(memory.max)"
#define OOM_SOME                                                                                   \
	"some were killed by the OOM killer: memory ran out, or the cgroup reached its "           \
	"limit "                                                                                   \
	"(memory.max)"
/* The same if the limit is known, which follows. */
#define LIMIT_ALL "killed by the OOM killer: the cgroup reached its memory limit"
#define LIMIT_SOME "some were killed by the OOM killer: the cgroup reached its memory limit"
#define TMPFS_FULL "the file system is full, or the file is shorter than its mapping"
#define FATAL (sizeof(fatal) / sizeof(fatal[0]))

static bool was_killed_by(const struct process *process, uint32_t signal)
{
	return process->ended && WIFSIGNALED(process->status) &&
	       WTERMSIG(process->status) == signal;
}

/* Process 0 stands for unknown processes. */
static void count_deaths(const struct results *results, uint32_t signal, struct death *death)
{
	const struct process_table *table = &results->job->processes;

	for (uint32_t i = 1; i < table->count; i++) {
		struct failed_fault fault;

		/* Other users' processes on a shared device do not belong to the run. */
		if (table->processes[i].guessed)
			continue;
		death->processes++;
		if (!was_killed_by(&table->processes[i], signal))
			continue;
		if (!death->died++ ||
		    (death->file == FILE_UNKNOWN && !table->processes[death->first].ended_at))
			death->first = i;
		death->oom += table->processes[i].oom;
		if (!death->limit_bytes)
			death->limit_bytes = table->processes[i].oom_limit_bytes;
		if (death->file != FILE_UNKNOWN || signal != SIGBUS)
			continue;
		fault = processes_failed_fault(results, i);
		if (fault.file == FILE_UNKNOWN)
			continue;
		death->first = i;
		death->file = fault.file;
		death->offset = fault.offset;
		death->capacity_bytes =
			results->job->files.files[fault.file].capacity_kib * 1024ull;
	}
}

size_t death_locate(char text[LOCATION_BYTES], const struct job *job, const struct death *death)
{
	const struct process *process = &job->processes.processes[death->first];

	return site_locate_stack(text, job, process->trace, process->ended_at);
}

static const char *oom_hint(const struct death *death)
{
	bool all = death->oom == death->died;

	if (death->limit_bytes)
		return all ? LIMIT_ALL : LIMIT_SOME;
	return all ? OOM_ALL : OOM_SOME;
}

bool deaths_by_signal(const struct results *results, size_t number, struct death *death)
{
	for (size_t i = 0; i < FATAL; i++) {
		*death = (struct death) {
			.signal = fatal[i].name,
			.hint = fatal[i].hint,
			.remedy = fatal[i].remedy,
			.file = FILE_UNKNOWN,
			.offset = -1,
		};
		count_deaths(results, fatal[i].number, death);
		if (death->oom)
			death->hint = oom_hint(death);
		else if (death->capacity_bytes)
			death->hint = TMPFS_FULL;
		if (death->died && !number--)
			return true;
	}
	return false;
}

void deaths_say(struct strbuf *text, const struct results *results)
{
	const struct file_table *files = &results->job->files;
	char died[UNITS_TEXT], processes[UNITS_TEXT], offset[UNITS_TEXT], size[UNITS_TEXT];
	char line[LOCATION_BYTES];
	struct death death;

	for (size_t i = 0; deaths_by_signal(results, i, &death); i++) {
		struct trace_string comm = job_comm(results->job, death.first);

		strbuf_clause(text, "%s of %s %s died: %s, %.*s", units_count(died, death.died),
			      units_count(processes, death.processes),
			      death.processes == 1 ? "process" : "processes", death.signal,
			      (int)comm.length, comm.bytes);
		if (death_locate(line, results->job, &death))
			strbuf_add(text, ", line %s", line);
		if (death.file != FILE_UNKNOWN) {
			struct trace_string path = file_table_name(files, death.file);
			struct trace_string kind = file_table_filesystem(files, death.file);

			strbuf_add(text, " at %s of %.*s", units_bytes(offset, death.offset),
				   (int)path.length, path.bytes);
			if (kind.length)
				strbuf_add(text, " (%.*s%s%s)", (int)kind.length, kind.bytes,
					   death.capacity_bytes ? " of " : "",
					   death.capacity_bytes
						   ? units_bytes(size, death.capacity_bytes)
						   : "");
		}
		strbuf_add(text, "; %s", death.hint);
		if (death.limit_bytes)
			strbuf_add(text, " of %s", units_bytes(size, death.limit_bytes));
	}
}
