/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The processes of a job, from the fork, exec and exit rows of its traces. A pid that is used again
 * is another process.
 */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "collections/map.h"
#include "trace/read/reader.h"

#define PROCESS_UNKNOWN 0	     /* stands for all pids that no kernel assigns */
#define PROCESS_NONE UINT32_MAX	     /* no process */
#define PROCESS_GENERATIONS_MAX 4096 /* ancestors of a process that are searched */

/* The role that a process's command line gives it, such as a helper of multiprocessing. */
enum process_role {
	ROLE_MAIN,
	ROLE_WORKER, /* of Python's multiprocessing ... */
	ROLE_HELPER, /* ... or a server of it */
};

struct process {
	uint64_t start_ns, end_ns; /* on the job's clock; the end only if `ended` */
	uint64_t comm, command;	   /* string ids of its trace */
	int64_t rank;		   /* from its exec or nearest ancestor with one; -1: none */
	uint32_t pid, ppid;	   /* 0: unknown */
	uint32_t trace;
	uint32_t status;	  /* wait status, if `ended` */
	uint64_t minor_faults;	  /* of its first and its last thread, counted when they ended */
	uint64_t oom_limit_bytes; /* if `oom`; 0: unknown, or that of the machine */
	uint64_t peak_rss_bytes;  /* if `ended`; 0: unknown */
	uint64_t ended_at;	  /* id of its stack then, in its trace; 0: unknown */
	uint32_t previous;	  /* the process that had the pid before, or PROCESS_NONE ... */
	uint32_t before;	  /* ... and an earlier one, far back: see process_table_search */
	uint32_t reuses;	  /* how many processes had the pid before */
	uint32_t earlier;	  /* number of its previous program, plus 1; 0: none */
	uint32_t parent;	  /* lower than its own number, or PROCESS_NONE */
	bool ended;
	bool executed;	   /* comm and command are its own, not its parent's */
	bool threads;	   /* has, or may have, threads other than its first */
	bool named;	   /* comm is that of its first thread at exit */
	bool not_followed; /* since its last exec: a setuid program */
	bool oom;	   /* the OOM killer chose it */
	bool guessed;	   /* no fork or exec was seen: it starts with its first event */
	uint8_t role;	   /* enum process_role */
};

/* A program that a process ran until an exec. Before its first exec, that is its parent's
 * program. */
struct process_program {
	uint64_t until_ns; /* on the job's clock */
	uint64_t comm;	   /* string id of its trace */
	uint32_t earlier;  /* as in struct process */
};

/* A recently found process, and when it had the pid. */
struct process_found {
	uint64_t pid, from_ns, until_ns;
	uint32_t trace, process;
};
#define PROCESS_FOUND 2048 /* for a thousand traces in turns */

struct process_table {
	struct process *processes; /* number 0 is PROCESS_UNKNOWN */
	size_t count, room;
	struct process_program *programs; /* earlier programs of all processes */
	size_t program_count, program_room;
	size_t max;	       /* maximum number of processes; 0: no limit ... */
	uint64_t overflow;     /* ... and how many beyond it share PROCESS_UNKNOWN */
	uint64_t major_faults; /* of all threads that have ended, as the kernel counted them */
	struct process none;   /* dummy for those beyond the limit */
	struct map *pids;      /* by trace: pid -> the latest process that had it */
	size_t trace_count;
	struct process_found *found; /* recent lookups, PROCESS_FOUND of them: see process_slot */
};

/* Returns 0 or -ENOMEM. */
int process_table_init(struct process_table *table, size_t trace_count);
void process_table_free(struct process_table *table);

/* Replays the forks, execs and exits of one trace. Returns 0 or -errno. */
int process_table_load(struct process_table *table, uint32_t trace, struct trace_reader *reader,
		       struct clock_shift clock, struct trace_error *error);

/* Returns the string id of the program name of a process at a time on the job's clock. */
uint64_t process_table_comm(const struct process_table *table, uint32_t process, uint64_t time_ns);

static inline size_t process_slot(uint32_t trace, uint64_t pid)
{
	return (pid + 61 * (uint64_t)trace) % PROCESS_FOUND;
}

/* Use process_table_find instead. */
int process_table_search(struct process_table *table, uint32_t trace, uint64_t pid,
			 uint64_t time_ns, uint32_t *process);

/*
 * Finds the process that had a pid at a time on the job's clock, adding it if no row named it.
 * Returns 0 or -ENOMEM.
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
