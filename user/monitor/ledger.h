/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the monitoring service keeps: jobs, their processes and files, and how much I/O each has
 * done, in bounded memory. Everything that is counted only ever grows, for as long as it is there.
 * Knows nothing of how kernels record, nor of who reads it: it never prints.
 *
 * One thread writes, many may read. Functions that say "locked" are to be called between
 * ledger_lock and ledger_unlock; what they return is valid until then. Whoever writes to somebody
 * slow makes a copy first.
 */
#ifndef FAULTLINE_MONITOR_LEDGER_H
#define FAULTLINE_MONITOR_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/job_labels.h"
#include "monitor/sums.h"

struct ledger;

#define LEDGER_JOBS_MOST 4096	    /* what comes then is one job, LEDGER_OTHER */
#define LEDGER_PROCESSES_MOST 65536 /* what those beyond do is LEDGER_UNKNOWN's */
#define LEDGER_FILES_MOST 48	    /* of a job: those with the most time */
#define LEDGER_COMMANDS_MOST 16	    /* of a job: those that came first, of those that live */
#define LEDGER_SPANS_MOST 32	    /* names of a job's: as of commands */
#define LEDGER_FILE_SYSTEMS_MOST 256
#define LEDGER_COMMAND_BYTES 32	      /* of a program's name, its NUL included */
#define LEDGER_COMMAND_LINE_BYTES 256 /* of a command line, its NUL included */
#define LEDGER_PATH_BYTES 512	      /* of a file's path: its end, where it is longer */
/* When a process began is known within this: another one with its pid begins later. */
#define LEDGER_START_WITHIN_NS 20000000ull

#define LEDGER_IN_FLIGHT_MAX 4096 /* operations; more are left out */

/* What stands for what there was no room for, and for whom nobody can be named: as cgroup of a
 * job, as name of a command. */
#define LEDGER_OTHER "(other)"
#define LEDGER_UNKNOWN "(unknown)"

/* --- what there is to read --- */

struct ledger_process {
	struct ledger_process *next; /* of its job */
	struct ledger_process *previous;
	struct ledger_process *chain; /* of those with its pid's hash */
	struct ledger_job *job;
	struct ledger_command *program;
	/* What it was before its last exec, and from when on it is what it is now. NULL: all that
	 * was done before has been told. */
	struct ledger_job *job_before;
	struct ledger_command *program_before;
	uint64_t exec_ns;
	char *command;		   /* line, arguments separated by blanks; hostile bytes and all */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: it lives */
	uint64_t looked_ns;	   /* when its cgroup was looked at last */
	uint64_t looked_moves;	   /* ... and how many moves between cgroups there had been */
	uint64_t cgroup_set;	   /* see ledger_who */
	struct ledger_sums sums;
	int64_t rank; /* -1: none */
	uint32_t pid, uid;
	bool forked; /* no more is known of it than whose child it is */
};

/* What the processes of a job do that run programs of one name. */
struct ledger_command {
	char name[LEDGER_COMMAND_BYTES];
	struct ledger_sums sums; /* without latencies */
	unsigned int processes;	 /* that live */
	uint64_t last_ns;	 /* when one lived or did anything */
	bool used;
};

/* What programs call a span; the beginning, where it is longer. Hostile bytes and all. */
struct ledger_span_name {
	char name[64], category[32];
};

/* Spans of that name, those that are open too, summed over threads. */
struct ledger_span {
	struct ledger_span_name name;
	uint64_t count, time_ns; /* that have ended; of all */
	uint64_t last_ns;	 /* when one was open; 0: the row is free */
	bool folded;		 /* as of cells */
};

struct ledger_file {
	uint64_t ino;
	uint32_t dev, generation;
	char *path;	  /* hostile bytes and all; NULL: the place is free */
	uint64_t time_ns; /* all of it */
	struct ledger_sums sums;
};

struct ledger_job {
	struct ledger_job *next;
	struct ledger_job *chain; /* of those with its cgroup's and user's hash */
	uint64_t id;		  /* counts up from 1, in the order of their coming */
	struct job_labels labels;
	char user[LEDGER_COMMAND_BYTES]; /* name, or number */
	uint32_t uid;
	uint64_t start_ns;		/* of its first process, as far as it was seen */
	uint64_t last_ns;		/* when a process of it lived */
	struct ledger_sums sums;	/* with latencies */
	struct ledger_counts throttled; /* count, and time that writers were told to sleep */
	bool throttled_folded;		/* as of cells */
	struct ledger_span *spans;	/* LEDGER_SPANS_MOST, and LEDGER_OTHER's; NULL: none yet */
	/* The last is LEDGER_OTHER. */
	struct ledger_command commands[LEDGER_COMMANDS_MOST + 1];
	struct ledger_process *processes; /* that live, the youngest first; and those that have
					   * just ended */
	unsigned int process_count;	  /* that live */
	uint64_t ended_processes;
	struct ledger_file files[LEDGER_FILES_MOST];
	struct ledger_sums other_files; /* all others, */
	uint64_t other_file_count;	/* and how often one became one of them */
};

/* What tells jobs apart, by the names that metrics have for it; "": it has none of the kind. */
struct ledger_label {
	const char *name;
	const char *(*get)(const struct ledger_job *job);
};
extern const struct ledger_label ledger_labels[];
extern const size_t ledger_label_count;

struct ledger_file_system {
	char type[16];
	uint32_t dev;
	struct ledger_sums sums;
};

/* What a block device did, whoever it was for, as /proc/diskstats has it. */
enum {
	LEDGER_DEVICE_READ,
	LEDGER_DEVICE_WRITE,
	LEDGER_DEVICE_DISCARD,
	LEDGER_DEVICE_FLUSH,
	LEDGER_DEVICE_USES
};
#define LEDGER_DEVICES_MOST 512

struct ledger_device {
	char name[32];
	uint32_t dev;
	/* `count` of requests, `time_ns` from when they were made to their ends, summed up. */
	struct ledger_counts of[LEDGER_DEVICE_USES];
};

/* The whole node, jobs that have gone included. */
struct ledger_node {
	struct ledger_sums sums; /* with latencies */
	struct ledger_counts throttled;
	/* What of jobs is folded: counts of commands, latencies of jobs. */
	struct ledger_sums folded_counts, folded_latencies;
	struct ledger_counts folded_throttled;
	struct ledger_counts folded_spans;   /* count and time alone */
	uint64_t unattributed_fetched_bytes; /* brought in on nobody's account */
	uint64_t unattributed_created_bytes;
	/* The last, which is not counted, is of all others, if its type is LEDGER_OTHER. */
	struct ledger_file_system file_systems[LEDGER_FILE_SYSTEMS_MOST];
	unsigned int file_system_count;
	struct ledger_device *devices;
	unsigned int device_count;
	bool devices_folded;		  /* some are not there, for there was no room */
	uint64_t jobs_ended, jobs_folded; /* that have gone; that there was no room for */
	uint64_t processes_begun, processes_ended;
	uint64_t processes_untold;	     /* that there was no room for */
	uint64_t uncertain_operations;	     /* booked on LEDGER_UNKNOWN: whose is not certain */
	uint64_t series_used, series_folded; /* see ledger_options; of the latter how many ever */
};

/* A call, or a page fault on a file, that had not returned at the last reading. */
struct ledger_in_flight {
	uint32_t pid, tid;
	uint64_t process_start_ns; /* CLOCK_MONOTONIC */
	uint64_t since_ns;	   /* when it began; or when monitoring began, if `before` */
	const char *op;		   /* name of the call, a literal */
	char *path;		   /* of the file, or as the call was given it; NULL: not known */
	uint32_t file;		   /* its number; 0: none */
	bool before;		   /* it was in flight already when monitoring began */
};

void ledger_lock(struct ledger *ledger);
/* As ledger_lock, but false when it takes longer than that. */
bool ledger_lock_within(struct ledger *ledger, uint64_t most_ns);
void ledger_unlock(struct ledger *ledger);

/* Locked. The first job, which leads to the others by `next`; NULL: there is none yet. Those called
 * LEDGER_UNKNOWN and LEDGER_OTHER are among them when something was booked on them. */
const struct ledger_job *ledger_jobs(const struct ledger *ledger);
/* Locked. */
const struct ledger_node *ledger_node(const struct ledger *ledger);
/* Locked. What a process is in the middle of, the oldest first: *count of them. */
const struct ledger_in_flight *
ledger_in_flight(const struct ledger *ledger, const struct ledger_process *process, size_t *count);
/* Locked. How many times what was done has been added; when that was last (CLOCK_MONOTONIC). */
uint64_t ledger_readings(const struct ledger *ledger, uint64_t *last_ns);

/* --- what is written --- */

struct ledger_options {
	/*
	 * Series that there may be of all together. What has no room is folded, see ledger_node:
	 * cells of programs, sleeps and spans of jobs until those go; latencies of jobs, which take
	 * half at most; file systems and devices, which stay.
	 */
	uint64_t max_series;
	struct ledger_costs {
		/* Of a program's cell, of a job's with its latencies. */
		unsigned int (*cell)(enum ledger_op op, enum io_method method);
		unsigned int latency, throttled, span, file_system, device;
	} costs;
	uint64_t retire_ns; /* after its last process ended a job goes, so much later */
};

int ledger_open(struct ledger **ledger, const struct ledger_options *options);
void ledger_close(struct ledger *ledger); /* NULL is fine */

/* Who a process is. */
struct ledger_who {
	uint32_t pid, uid;
	const char *user;    /* name; NULL: by its number */
	uint64_t start_ns;   /* when it began, 0: at `time_ns`, or not known */
	const char *cgroup;  /* path below its hierarchy's root */
	uint64_t cgroup_set; /* the same for all that are in the same cgroups; 0: not known */
	const char *program; /* name of what it runs */
	const char *command; /* line, `command_bytes` of it, with a NUL between arguments */
	size_t command_bytes;
	int64_t rank;
};

/* Calls when a process is of another job than before, or begins (`before` is NULL then), or has
 * ended: in the thread that writes, where the ledger is locked. */
typedef void ledger_joined_fn(void *context, const struct ledger_process *process,
			      const struct ledger_job *before);
void ledger_tell_joins(struct ledger *ledger, ledger_joined_fn *tell, void *context);

/* All locked. A process forks; the child is what its parent is. Of an unknown parent's child
 * nothing is known until it is told of. */
void ledger_fork(struct ledger *ledger, uint32_t parent, uint32_t child, uint64_t time_ns);
/* A process runs another program, or is told of for the first time. */
void ledger_exec(struct ledger *ledger, const struct ledger_who *who, uint64_t time_ns);
/* It is found to be in another cgroup, or to have ended there. */
void ledger_move(struct ledger *ledger, struct ledger_process *process, const char *cgroup);
void ledger_exit(struct ledger *ledger, uint32_t pid, uint64_t time_ns);
/* It is gone, without a word of when: some time after `time_ns`. */
void ledger_vanish(struct ledger *ledger, struct ledger_process *process, uint64_t time_ns);
/* The process of that pid that lives, or NULL. */
struct ledger_process *ledger_process(struct ledger *ledger, uint32_t pid);
/* Calls for each process that lives. It may be moved, or vanish. */
void ledger_each_process(struct ledger *ledger,
			 void (*take)(void *context, struct ledger_process *process),
			 void *context);

/* What a file's number stands for from now on. */
struct ledger_file_name {
	uint32_t id;
	uint64_t ino;
	uint32_t dev, generation;
	const char *filesystem; /* 16 bytes, with a NUL if it is shorter */
	const char *path;
	size_t path_bytes;
};
void ledger_name_file(struct ledger *ledger, const struct ledger_file_name *name);

/* Who had that pid, and may have done what was done between two moments; those that have ended are
 * known until that is settled. */
struct ledger_doer {
	struct ledger_job *job; /* NULL: nobody is known, or more than one may have */
	struct ledger_command *command;
	struct ledger_process *process; /* NULL: one of several */
	bool several;			/* of different jobs or programs: no job is told */
};
/* `start_ns`: the kernel's own start time of the process, which tells apart those that had one pid;
 * 0: not known. */
struct ledger_doer ledger_find_doer(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				    uint64_t first_ns, uint64_t last_ns);

/* Whether the process is known that began then, or, where `start_ns` is 0, any that had the pid at
 * that time. */
bool ledger_knows(const struct ledger *ledger, uint32_t pid, uint64_t start_ns, uint64_t time_ns);

/* What a device has done so far. */
void ledger_tell_device(struct ledger *ledger, const struct ledger_device *device);

/* What was done since it was told last: of one pid, on one file. */
struct ledger_added {
	uint32_t pid;		    /* 0: nobody's */
	uint64_t start_ns;	    /* see ledger_find_doer */
	uint32_t file;		    /* its number; 0: none */
	uint64_t first_ns, last_ns; /* the first and the last of them began then */
	enum ledger_op op;
	enum io_method method;
	struct ledger_counts counts;
	const uint32_t *latencies; /* LEDGER_LATENCIES of them */
	/* By whom it was begun, where what was told of processes may be incomplete; or NULL. Goes
	 * for who is not known at that pid, or by its fork alone. */
	const struct ledger_who *who;
};

/*
 * Books it on whoever had that pid then. Two processes may have had it, one after the other, in the
 * time from the first to the last: where they are not of the same job, what was done is booked on
 * LEDGER_UNKNOWN, and never on the wrong one.
 */
void ledger_add(struct ledger *ledger, const struct ledger_added *added);
/* Sleeps that writers were told to make. */
void ledger_add_throttled(struct ledger *ledger, const struct ledger_added *added);
/* Spans of that name, in the process that had the pid then: so many have ended, and they have
 * lasted so long since it was told last. */
void ledger_add_span(struct ledger *ledger, uint32_t pid, uint64_t time_ns,
		     const struct ledger_span_name *name, uint64_t count, uint64_t lasted_ns);
/* Bytes that came into the page cache on nobody's account. */
void ledger_add_unattributed(struct ledger *ledger, uint32_t file, uint64_t fetched_bytes,
			     uint64_t created_bytes);
/* Replaces what is in flight; paths are copied, those of files by their numbers. */
void ledger_set_in_flight(struct ledger *ledger, const struct ledger_in_flight *operations,
			  size_t count);
/*
 * All that was done before `until_ns` has been added: processes that ended before then go, and jobs
 * whose time has come. Returns how many jobs went.
 */
size_t ledger_settle(struct ledger *ledger, uint64_t until_ns, uint64_t now_ns);

#endif
