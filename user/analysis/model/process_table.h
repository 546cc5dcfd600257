/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The processes of a job, from the fork, exec and exit rows of its traces. A pid that is used again
 * is another process. Knows nothing of what they did.
 */
#ifndef FAULTLINE_PROCESS_TABLE_H
#define FAULTLINE_PROCESS_TABLE_H

#include <stdbool.h>

#include "analysis/base/clock.h"
#include "analysis/base/map.h"
#include "trace/reader.h"

#define PROCESS_UNKNOWN 0	/* stands for all pids that no kernel gives out */
#define PROCESS_NONE UINT32_MAX /* no process */

struct process {
	uint64_t start_ns, end_ns; /* on the job's clock; the end only if `ended` */
	uint64_t comm, command;	   /* string ids of its trace */
	int64_t rank;	    /* of its exec or of the nearest ancestor with one; -1 for none */
	uint32_t pid, ppid; /* 0: not known */
	uint32_t trace;
	uint32_t status;   /* wait status, if `ended` */
	uint32_t previous; /* the process that had the pid before, or PROCESS_NONE ... */
	uint32_t before;   /* ... and one of those before it, far back: see process_table_search */
	uint32_t reuses;   /* how many had the pid before it */
	uint32_t earlier;  /* number of the program that it ran before, plus 1; 0: none */
	uint32_t parent;   /* a lower number than its own, or PROCESS_NONE */
	bool ended;
	bool executed;	   /* comm and command are its own, not its parent's */
	bool threads;	   /* it has, or may have, others than its first one */
	bool named;	   /* comm is that of its first thread as it ended */
	bool not_followed; /* from its last exec on: it gained rights that are not its caller's */
	bool oom;	   /* the OOM killer chose it */
	bool guessed; /* neither its fork nor an exec was seen: it starts with its first event */
};

/* The program of a process until an exec. Until its first exec that is its parent's program. */
struct process_program {
	uint64_t until_ns; /* on the job's clock */
	uint64_t comm;	   /* string id of its trace */
	uint32_t earlier;  /* as that of the process */
};

/* A process that was found before, and when it had the pid. */
struct process_found {
	uint64_t pid, from_ns, until_ns;
	uint32_t trace, process;
};
#define PROCESS_FOUND 2048 /* a thousand traces take turns */

struct process_table {
	struct process *processes; /* number 0 is PROCESS_UNKNOWN */
	size_t count, room;
	struct process_program *programs; /* earlier ones, of all processes */
	size_t program_count, program_room;
	size_t most;	       /* processes there may be; 0 for any number ... */
	uint64_t beyond;       /* ... and how many beyond it share PROCESS_UNKNOWN */
	uint64_t major_faults; /* of all threads that ended, by the kernel's own count */
	struct process none;   /* takes what is said of those */
	struct map *pids;      /* of each trace: pid -> the latest process that had it */
	size_t trace_count;
	struct process_found *found; /* lately, PROCESS_FOUND of them: see process_slot */
};

/* Returns 0 or -ENOMEM. */
int process_table_init(struct process_table *table, size_t trace_count);
void process_table_free(struct process_table *table);

/* Replays the forks, execs and exits of one trace. Returns 0 or -errno. */
int process_table_load(struct process_table *table, uint32_t trace, struct trace_reader *reader,
		       struct clock_shift clock, struct trace_error *error);

/* String id of the name of the program that a process ran at a time on the job's clock. */
uint64_t process_table_comm(const struct process_table *table, uint32_t process, uint64_t time_ns);

static inline size_t process_slot(uint32_t trace, uint64_t pid)
{
	return (pid + 61 * (uint64_t)trace) % PROCESS_FOUND;
}

/* Use process_table_find. */
int process_table_search(struct process_table *table, uint32_t trace, uint64_t pid,
			 uint64_t time_ns, uint32_t *process);

/*
 * Number of the process that had a pid at a time on the job's clock; one that no row has named is
 * added. Returns 0 or -ENOMEM.
 */
static inline int process_table_find(struct process_table *table, uint32_t trace, uint64_t pid,
				     uint64_t time_ns, uint32_t *process)
{
	const struct process_found *found = &table->found[process_slot(trace, pid)];

	if (pid == found->pid && trace == found->trace && time_ns >= found->from_ns &&
	    time_ns < found->until_ns) {
		*process = found->process;
		return 0;
	}
	return process_table_search(table, trace, pid, time_ns, process);
}

#endif
