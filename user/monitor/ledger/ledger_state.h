/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Internal state shared by ledger*.c. */
#pragma once

#include <pthread.h>

#include "collections/arena.h"
#include "monitor/ledger/file_names.h"
#include "monitor/ledger/ledger.h"

#define PROCESS_CHAINS 4096
#define JOB_CHAINS_LOG 10
#define JOB_CHAINS (1 << JOB_CHAINS_LOG)

#define NO_ROW UINT32_MAX

/* The latest device with a number. */
struct device_source {
	uint32_t dev, instance;
	uint32_t row;				       /* of its name in node.devices */
	struct ledger_counts last[LEDGER_DEVICE_USES]; /* counted there so far */
	struct ledger_calls last_calls[LEDGER_DEVICE_USES];
};

struct ledger {
	pthread_mutex_t lock;
	struct ledger_options options;
	struct ledger_node node;
	struct device_source *sources;
	unsigned int source_count;
	struct ledger_job *jobs, *last_job;
	struct ledger_job *unknown, *other;	   /* NULL: not needed yet */
	struct ledger_job *job_chains[JOB_CHAINS]; /* by cgroup and user; without those two */
	unsigned int job_count;
	uint64_t job_ids;
	struct ledger_process *chains[PROCESS_CHAINS]; /* by pid */
	unsigned int process_count; /* including those that have ended but are still kept */
	struct file_names *file_names;
	struct ledger_in_flight *in_flight; /* sorted by pid, then by age */
	size_t in_flight_count;
	struct arena lines;
	ledger_joined_fn *joined; /* NULL: no listener */
	void *joined_context;
	uint64_t latency_series; /* part of node.series_used */
	uint64_t readings, read_ns;
};

/* Each file uses those before it. */

/* ledger_series.c: adds to a cell, creating it if needed, with or without latencies. Returns NULL,
 * adding nothing, if out of memory. */
struct ledger_cell *ledger_put(struct ledger_sums *sums, const struct ledger_added *added,
			       bool latencies);
/* Takes that many series for a job (NULL: for the node); returns false if there is no room. */
bool ledger_take_series(struct ledger *ledger, const struct ledger_job *job, uint64_t series,
			bool latencies);
/* Gives back the series of a job's cells, with latencies, or of a program's. */
void ledger_give_back(struct ledger *ledger, const struct ledger_sums *sums, bool latencies);
/* Returns whether an owner last active at `last_ns` has been idle for long enough to be dropped. */
bool ledger_has_exited(const struct ledger *ledger, uint64_t last_ns, uint64_t until_ns);

/* ledger_spans.c: adds to a job's spans of a name, see ledger_add_span. */
void ledger_put_span(struct ledger *ledger, struct ledger_job *job, uint64_t time_ns,
		     const struct ledger_span_name *name, uint64_t count, uint64_t lasted_ns);
/* Drops spans that have been idle for long enough; drops all. */
void ledger_retire_spans(struct ledger *ledger, struct ledger_job *job, uint64_t until_ns);
void ledger_free_spans(struct ledger *ledger, struct ledger_job *job);

/* ledger_files.c: books operations on a file of the job. */
void ledger_add_file(struct ledger *ledger, struct ledger_job *job,
		     const struct ledger_added *added);

/* ledger_in_flight.c: frees the operations in flight. */
void ledger_forget_in_flight(struct ledger *ledger);

/* ledger_jobs.c: returns the job of a cgroup and user, creating it if needed; LEDGER_OTHER if there
 * is no room, NULL if out of memory. */
struct ledger_job *ledger_job_of(struct ledger *ledger, const char *cgroup, uint32_t uid,
				 const char *user, uint64_t time_ns);
/* Returns the job LEDGER_UNKNOWN. */
struct ledger_job *ledger_unknown_job(struct ledger *ledger, uint64_t time_ns);
/* Returns the row of programs with that name; LEDGER_OTHER's if there is no room or they are called
 * so, because names are unique. */
struct ledger_command *ledger_command_of(struct ledger_job *job, const char *name,
					 uint64_t time_ns);
/* Retires jobs that are due at `until_ns`, but none to which a process still to be booked on, or
 * its exec, refers. */
size_t ledger_retire(struct ledger *ledger, uint64_t until_ns);
void ledger_free_jobs(struct ledger *ledger);

/* ledger_processes.c: finds the process that started then, even if it has ended; if `reported`,
 * only if more than its fork is known. */
struct ledger_owner ledger_find_begun(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				      uint64_t last_ns, bool reported);
/* Drops processes that ended before `until_ns`, once everything they did has been booked. */
void ledger_forget_ended(struct ledger *ledger, uint64_t until_ns);
