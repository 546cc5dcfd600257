/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the monitoring service keeps: jobs, their processes and files, and the I/O of each, in
 * bounded memory. Counters only grow while their job, process or file is kept.
 *
 * One thread writes, many may read. Functions marked "locked" must be called between ledger_lock
 * and ledger_unlock; what they return is valid until then. Copy it before writing to anything slow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "monitor/ledger/job_labels.h"
#include "monitor/ledger/sums.h"
#include "trace/format/thread_states.h"

struct ledger;

#define LEDGER_JOBS_MAX 4096	   /* further jobs share one, LEDGER_OTHER */
#define LEDGER_PROCESSES_MAX 65536 /* I/O of further processes goes to LEDGER_UNKNOWN */
#define LEDGER_FILES_MAX 48	   /* of a job: those with the most time */
#define LEDGER_COMMANDS_MAX 16	   /* of a job: first come, as long as they live */
#define LEDGER_SPANS_MAX 32	   /* names of a job's spans: likewise */
#define LEDGER_FILE_SYSTEMS_MAX 256
#define LEDGER_COMMAND_BYTES 32	      /* of a program's name, NUL included */
#define LEDGER_COMMAND_LINE_BYTES 256 /* of a command line, NUL included */
#define LEDGER_PATH_BYTES 512	      /* of a file's path; a longer one keeps its end */
#define LEDGER_FUNCTION_BYTES 128     /* of a function's name, NUL included */
#define LEDGER_LINES_MAX 256	      /* of a process: the first ones */
#define LEDGER_LINES_BYTES (8u << 20) /* of all lines */
/* Accuracy of process start times: the next process with the same pid starts later than this. */
#define LEDGER_START_WITHIN_NS 20000000ull

#define LEDGER_IN_FLIGHT_MAX 4096 /* operations; more are dropped */

/* Stand for what had no room, and for unknown owners: as a job's cgroup, as a command's name. */
#define LEDGER_OTHER "(other)"
#define LEDGER_UNKNOWN "(unknown)"

/* --- reading --- */

/* Time at a line of Python, summed over threads, since ledger_forget_lines. */
struct ledger_line {
	struct ledger_line *next;
	const char *file, *function; /* arbitrary bytes; "": unknown */
	uint32_t line;		     /* 0: unknown */
	uint32_t state; /* of enum thread_state, or SAMPLE_IO: operations, computing included */
	uint64_t time_ns;
};

struct ledger_process {
	struct ledger_process *next; /* in its job */
	struct ledger_process *previous;
	struct ledger_process *chain; /* with the same hash of the pid */
	struct ledger_job *job;
	struct ledger_command *program;
	/* Its job and program before its last exec, and when that was. NULL: everything before it
	 * has been booked. */
	struct ledger_job *job_before;
	struct ledger_command *program_before;
	uint64_t exec_ns;
	char *command; /* command line, arguments separated by spaces; arbitrary bytes */
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: alive */
	uint64_t checked_ns;	   /* when its cgroup was last checked */
	uint64_t checked_moves;	   /* ... and the number of moves between cgroups then */
	uint64_t cgroup_set;	   /* see ledger_who */
	struct ledger_sums sums;
	uint64_t thread_ns[THREAD_STATE_COUNT]; /* of its threads, by state; all 0: unknown */
	struct ledger_line *lines;
	int64_t rank; /* -1: none */
	uint32_t pid, uid;
	bool forked; /* known only from its fork */
};

/* I/O of a job's processes that run programs of one name. */
struct ledger_command {
	char name[LEDGER_COMMAND_BYTES];
	struct ledger_sums sums; /* without latencies */
	unsigned int processes;	 /* alive */
	uint64_t last_ns;	 /* when one was last alive or active */
	bool used;
};

/* A span's name and category, truncated if longer; arbitrary bytes. */
struct ledger_span_name {
	char name[64], category[32];
};

/* Spans of one name, open ones included, summed over threads. */
struct ledger_span {
	struct ledger_span_name name;
	uint64_t count, time_ns; /* ended spans; time of all */
	uint64_t last_ns;	 /* when one was last open; 0: the row is free */
	bool folded;		 /* as in ledger_cell */
};

struct ledger_file {
	uint64_t ino;
	uint32_t dev, generation;
	uint32_t instance; /* tells apart devices that used the same number */
	char *path;	   /* arbitrary bytes; NULL: the slot is free */
	uint64_t time_ns;  /* total */
	struct ledger_sums sums;
};

struct ledger_job {
	struct ledger_job *next;
	struct ledger_job *chain; /* with the same hash of cgroup and user */
	uint64_t id;		  /* counts up from 1 in order of appearance */
	struct job_labels labels;
	struct job_names *names;	 /* NULL: none; they are long, and most jobs have none */
	uint64_t names_due_ns;		 /* when to look for missing names again */
	unsigned int names_asked;	 /* how often they were looked for */
	char user[LEDGER_COMMAND_BYTES]; /* name or number */
	uint32_t uid;
	uint64_t start_ns;			/* of its first process, as far as known */
	uint64_t last_ns;			/* when one of its processes was last alive */
	struct ledger_sums sums;		/* with latencies */
	struct ledger_counts throttled;		/* count and time of sleeps imposed on writers */
	bool throttled_folded;			/* as in ledger_cell */
	uint64_t thread_ns[THREAD_STATE_COUNT]; /* as in ledger_process */
	uint32_t folded_states;			/* mask of states folded as in ledger_cell */
	struct ledger_span *spans; /* LEDGER_SPANS_MAX and LEDGER_OTHER's; NULL: none yet */
	/* The last is LEDGER_OTHER. */
	struct ledger_command commands[LEDGER_COMMANDS_MAX + 1];
	struct ledger_process *processes; /* alive, the youngest first, or just ended */
	unsigned int process_count;	  /* alive */
	uint64_t ended_processes;
	struct ledger_file *files; /* at most LEDGER_FILES_MAX; most jobs have few */
	unsigned int file_count;
	struct ledger_sums other_files; /* all others */
	uint64_t other_file_count;	/* how often a file became one of them */
};

/* Returns a job's names, which may all be "". */
const struct job_names *ledger_job_names(const struct ledger_job *job);

/* A label that identifies jobs, named as in metrics; "" if a job has none. */
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

/* I/O of a block device for all processes, as in /proc/diskstats; or of a mount with a server. */
enum {
	LEDGER_DEVICE_READ,
	LEDGER_DEVICE_WRITE,
	LEDGER_DEVICE_DISCARD,
	LEDGER_DEVICE_FLUSH,
	LEDGER_DEVICE_USES
};
#define LEDGER_DEVICES_MAX 512

/* Calls to the server of an NFS mount. */
#define LEDGER_OTHER_CALLS LEDGER_DEVICE_DISCARD /* see DEVICE_OTHER_CALLS */
struct ledger_calls {
	uint64_t count, retransmits;
	uint64_t round_trip_ns; /* summed over calls */
};

struct ledger_device {
	char name[128];
	uint32_t dev; /* of the latest device of that name */
	/* `count`: requests; `time_ns`: their sum from creation to completion. */
	struct ledger_counts of[LEDGER_DEVICE_USES];
	struct ledger_calls calls[LEDGER_DEVICE_USES];
	bool has_calls; /* of NFS, and they have series */
};

/* The whole node, including jobs that are gone. */
struct ledger_node {
	struct ledger_sums sums; /* with latencies */
	struct ledger_counts throttled;
	/* Folded sums of jobs: counts of commands, latencies of jobs. */
	struct ledger_sums folded_counts, folded_latencies;
	struct ledger_counts folded_throttled;
	struct ledger_counts folded_spans; /* only count and time */
	uint64_t thread_ns[THREAD_STATE_COUNT], folded_thread_ns[THREAD_STATE_COUNT];
	uint64_t unattributed_fetched_bytes; /* fetched, but unattributed */
	uint64_t unattributed_created_bytes;
	/* The last, which is not counted, stands for all others if its type is LEDGER_OTHER. */
	struct ledger_file_system file_systems[LEDGER_FILE_SYSTEMS_MAX];
	unsigned int file_system_count;
	struct ledger_device *devices; /* each name once, as in metrics */
	unsigned int device_count;
	uint64_t jobs_ended, jobs_folded; /* retired; folded for lack of room */
	uint64_t processes_begun, processes_ended;
	uint64_t processes_unreported;	     /* not kept for lack of room */
	uint64_t uncertain_operations;	     /* booked on LEDGER_UNKNOWN */
	uint64_t series_used, series_folded; /* see ledger_options; series_folded is cumulative */
};

/* A call, or a page fault on a file, that had not returned at the last reading. */
struct ledger_in_flight {
	uint32_t pid, tid;
	uint64_t process_start_ns; /* CLOCK_MONOTONIC */
	uint64_t since_ns;	   /* when it began, or when monitoring began if `before` */
	const char *op;		   /* name of the call, a literal */
	char *path;		   /* of the file, or as passed to the call; NULL: unknown */
	uint32_t file;		   /* its id; 0: none */
	uint32_t count;		   /* operations it stands for; it is the oldest of them */
	bool before;		   /* was in flight before monitoring began */
};

void ledger_lock(struct ledger *ledger);
/* As ledger_lock, but returns false after `max_ns`. */
bool ledger_lock_within(struct ledger *ledger, uint64_t max_ns);
void ledger_unlock(struct ledger *ledger);

/* Locked. Returns the first job; `next` leads to the others. NULL: none yet. LEDGER_UNKNOWN and
 * LEDGER_OTHER are among them once something has been booked on them. */
const struct ledger_job *ledger_jobs(const struct ledger *ledger);
/* Locked. */
const struct ledger_node *ledger_node(const struct ledger *ledger);
/* Locked. Returns what a process has in flight, the oldest first: *count operations. */
const struct ledger_in_flight *
ledger_in_flight(const struct ledger *ledger, const struct ledger_process *process, size_t *count);
/* Locked. Returns the line of a process at which it was longest in a state; NULL: none is known. */
const struct ledger_line *ledger_line(const struct ledger_process *process, uint32_t state);
/* Whether lines are kept at all. */
bool ledger_keeps_lines(const struct ledger *ledger);
/* Locked. Returns how often sums have been booked; *last_ns receives when last
 * (CLOCK_MONOTONIC). */
uint64_t ledger_readings(const struct ledger *ledger, uint64_t *last_ns);

/* --- writing --- */

struct ledger_options {
	/*
	 * Limit on all series. What exceeds it is folded, see ledger_node. Cells of programs,
	 * sleeps, spans and thread states of jobs hold their series until they go; latencies of
	 * jobs take at most half; file systems and devices keep theirs.
	 */
	uint64_t max_series;
	struct ledger_costs {
		/* Series of a program's cell; of a job's cell with latencies. */
		unsigned int (*cell)(enum ledger_op op, enum io_method method);
		unsigned int latency, throttled, span, thread_state, file_system, device, calls;
	} costs;
	uint64_t retire_ns; /* a job goes this long after its last process ended */
	bool lines;	    /* of Python will be added, and forgotten from time to time */
};

int ledger_open(struct ledger **ledger, const struct ledger_options *options);
void ledger_close(struct ledger *ledger); /* NULL is fine */

/* Identity of a process. */
struct ledger_who {
	uint32_t pid, uid;
	const char *user;    /* name; NULL: use the number */
	uint64_t start_ns;   /* start time; 0: `time_ns`, or unknown */
	const char *cgroup;  /* path below its hierarchy's root */
	uint64_t cgroup_set; /* equal for processes in the same cgroups; 0: unknown */
	const char *program; /* program name */
	const char *command; /* command line of `command_bytes`, NULs between arguments */
	size_t command_bytes;
	int64_t rank;
};

/* Called when a process changes its job, begins (`before` is NULL) or has ended, and when its job
 * has got names; in the writing thread, with the ledger locked. */
typedef void ledger_joined_fn(void *context, const struct ledger_process *process,
			      const struct ledger_job *before);
void ledger_on_join(struct ledger *ledger, ledger_joined_fn *emit, void *context);

/* Locked. Calls `ask` for each job whose names are to be looked for now, with a process of it (0:
 * none lives), until it returns false. Names may be found late, so this repeats, a few times. */
typedef bool ledger_ask_fn(void *context, const struct ledger_job *job, uint32_t pid);
void ledger_ask_names(struct ledger *ledger, uint64_t now_ns, ledger_ask_fn *ask, void *context);
/* Locked. Adds names that a job lacks, unless it is gone. */
void ledger_name_job(struct ledger *ledger, uint64_t job, const struct job_names *names);

/* All locked. A process forks; the child inherits its parent's identity. The child of an unknown
 * parent stays unknown until it is reported. */
void ledger_fork(struct ledger *ledger, uint32_t parent, uint32_t child, uint64_t time_ns);
/* A process runs another program, or is reported for the first time. */
void ledger_exec(struct ledger *ledger, const struct ledger_who *who, uint64_t time_ns);
/* A process was found in another cgroup, or ended there. */
void ledger_move(struct ledger *ledger, struct ledger_process *process, const char *cgroup);
void ledger_exit(struct ledger *ledger, uint32_t pid, uint64_t time_ns);
/* A process is gone; it ended at an unknown time after `time_ns`. */
void ledger_vanish(struct ledger *ledger, struct ledger_process *process, uint64_t time_ns);
/* Returns the live process with that pid, or NULL. */
struct ledger_process *ledger_process(struct ledger *ledger, uint32_t pid);
/* Calls `take` for each live process. It may be moved, or vanish. */
void ledger_each_process(struct ledger *ledger,
			 void (*take)(void *context, struct ledger_process *process),
			 void *context);

/* What a file id stands for from now on. */
struct ledger_file_name {
	uint32_t id;
	uint64_t ino;
	uint32_t dev, generation, instance;
	const char *filesystem; /* 16 bytes, NUL-terminated if shorter */
	const char *path;
	size_t path_bytes;
};
void ledger_name_file(struct ledger *ledger, const struct ledger_file_name *name);

/* Who had a pid and may have done something between two moments. Processes that have ended are kept
 * until that time is settled. */
struct ledger_owner {
	struct ledger_job *job; /* NULL: unknown or ambiguous */
	struct ledger_command *command;
	struct ledger_process *process; /* NULL: one of several */
	bool several;			/* of different jobs or programs: `job` is NULL */
};
/* `start_ns`: the kernel's start time, which distinguishes processes that had the same pid;
 * 0: unknown. */
struct ledger_owner ledger_find_owner(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
				      uint64_t first_ns, uint64_t last_ns);

/* Returns whether the process that started then is known or, if `start_ns` is 0, any that had the
 * pid at that time. */
bool ledger_knows(const struct ledger *ledger, uint32_t pid, uint64_t start_ns, uint64_t time_ns);

/* Sets a device's totals so far. Another instance of its number is another device, and the one
 * before is gone; devices of one name are counted together. */
void ledger_set_device(struct ledger *ledger, const struct ledger_device *device,
		       uint32_t instance);

/* What was done since the last time: by one pid, on one file. */
struct ledger_added {
	uint32_t pid;		    /* 0: no process */
	uint64_t start_ns;	    /* see ledger_find_owner */
	uint32_t file;		    /* its id; 0: none */
	uint64_t first_ns, last_ns; /* starts of the first and the last operation */
	enum ledger_op op;
	enum io_method method;
	struct ledger_counts counts;
	const uint32_t *latencies; /* LEDGER_LATENCIES counts */
	/* Its owner where records about processes may be incomplete, or NULL. Used if the pid is
	 * unknown or known only from its fork. */
	const struct ledger_who *who;
};

/*
 * Books operations on the process that had the pid then. If two processes had it between the first
 * and the last operation and are not of the same job, books on LEDGER_UNKNOWN, never on the wrong
 * one.
 */
void ledger_add(struct ledger *ledger, const struct ledger_added *added);
/* Adds sleeps imposed on writers. */
void ledger_add_throttled(struct ledger *ledger, const struct ledger_added *added);
/* Adds spans of a name in the process that had the pid then: `count` have ended, and they have
 * lasted `lasted_ns` since the last call. */
void ledger_add_span(struct ledger *ledger, uint32_t pid, uint64_t time_ns,
		     const struct ledger_span_name *name, uint64_t count, uint64_t lasted_ns);
/* Adds time of a thread, in ns by state; its process is found as by ledger_find_owner. */
void ledger_add_thread(struct ledger *ledger, uint32_t pid, uint64_t start_ns, uint64_t first_ns,
		       uint64_t last_ns, const uint64_t thread_ns[THREAD_STATE_COUNT]);
/* Adds time at a line of Python, in the process that had the pid then. Copies texts. Returns false
 * if there is no such process, or no room. */
bool ledger_add_line(struct ledger *ledger, uint32_t pid, uint64_t time_ns,
		     const struct ledger_line *line);
/* Drops the lines of all processes. May be called from any thread. */
void ledger_forget_lines(struct ledger *ledger);
/* Adds unattributed page-cache bytes. */
void ledger_add_unattributed(struct ledger *ledger, uint64_t fetched_bytes, uint64_t created_bytes);
/* Replaces the operations in flight. Copies paths, and finds those of files by id. */
void ledger_set_in_flight(struct ledger *ledger, const struct ledger_in_flight *operations,
			  size_t count);
/*
 * Everything done before `until_ns` has been added: drops processes that ended before then, and
 * jobs that are due. Returns how many jobs went.
 */
size_t ledger_settle(struct ledger *ledger, uint64_t until_ns);
