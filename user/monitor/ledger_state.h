/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a ledger is made of, and what its files have of each other. For the files ledger*.c alone:
 * whoever uses a ledger knows ledger.h and nothing of this.
 */
#ifndef FAULTLINE_MONITOR_LEDGER_STATE_H
#define FAULTLINE_MONITOR_LEDGER_STATE_H

#include <pthread.h>

#include "monitor/file_names.h"
#include "monitor/ledger.h"

#define PROCESS_CHAINS 4096
#define JOB_CHAINS_LOG 10
#define JOB_CHAINS (1 << JOB_CHAINS_LOG)

struct ledger {
	pthread_mutex_t lock;
	struct ledger_options options;
	struct ledger_node node;
	struct ledger_job *jobs, *last_job;
	struct ledger_job *unknown, *other;	   /* NULL: not needed yet */
	struct ledger_job *job_chains[JOB_CHAINS]; /* by cgroup and user; not those two */
	unsigned int job_count;
	uint64_t job_ids;
	struct ledger_process *chains[PROCESS_CHAINS]; /* by pid */
	unsigned int process_count;		       /* that are remembered */
	struct file_names *file_names;
	struct ledger_in_flight *in_flight; /* sorted by pid, then by age */
	size_t in_flight_count;
	ledger_joined_fn *joined; /* NULL: nobody wants to know */
	void *joined_context;
	uint64_t latency_series; /* of node.series_used */
	uint64_t readings, read_ns;
};

/* ledger.c: adds to a cell, which is made if need be, with or without latencies. NULL without
 * memory: nothing is added. */
struct ledger_cell *ledger_put(struct ledger_sums *sums, const struct ledger_added *added,
			       bool latencies);

/* ledger.c: whether there is room for so many more series of a job (NULL: of the node); takes it.
 */
bool ledger_take_series(struct ledger *ledger, const struct ledger_job *job, uint64_t series,
			bool latencies);

/* ledger_jobs.c: the job of a cgroup and user, made if need be; LEDGER_OTHER where there is no
 * room; NULL without memory. */
struct ledger_job *ledger_job_of(struct ledger *ledger, const char *cgroup, uint32_t uid,
				 const char *user, uint64_t time_ns);
/* The job that stands for nobody. */
struct ledger_job *ledger_unknown_job(struct ledger *ledger, uint64_t time_ns);
/* The row of programs of that name; LEDGER_OTHER's where there is no room, and of who is called so:
 * no two rows have one name. */
struct ledger_command *ledger_command_of(struct ledger_job *job, const char *name,
					 uint64_t time_ns);
/* Those that were over, for so long, when what has been booked was done: none that a process still
 * to be booked on, or its exec, leads to. */
size_t ledger_retire(struct ledger *ledger, uint64_t until_ns);
void ledger_free_jobs(struct ledger *ledger);

/* ledger_jobs.c: whether what was there last then goes. */
bool ledger_is_over(const struct ledger *ledger, uint64_t last_ns, uint64_t until_ns);

/* ledger_spans.c: those go that have not been for so long; all go. */
void ledger_retire_spans(struct ledger *ledger, struct ledger_job *job, uint64_t until_ns);
void ledger_free_spans(struct ledger *ledger, struct ledger_job *job);

/* ledger_in_flight.c: frees what is in flight. */
void ledger_forget_in_flight(struct ledger *ledger);

/* ledger_files.c: books what was done to a file of the job. */
void ledger_add_file(struct ledger *ledger, struct ledger_job *job,
		     const struct ledger_added *added);

/* ledger_processes.c: who it was that began then, whenever it ended; with `told` one of whom more
 * than its fork was told. */
struct ledger_doer ledger_find_begun(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				     uint64_t last_ns, bool told);
/* Those go that ended before, when all that they did has been booked. */
void ledger_forget_ended(struct ledger *ledger, uint64_t until_ns);

#endif
