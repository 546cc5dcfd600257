/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A job: one or more traces combined on one clock, with their operations, files and processes. */
#pragma once

#include <stdbool.h>

#include "base/clock.h"
#include "analysis/job/file_table.h"
#include "analysis/job/labels.h"
#include "analysis/job/open_spans.h"
#include "analysis/job/process_table.h"
#include "analysis/job/stack_table.h"
#include "trace/format/layers.h"
#include "trace/read/reader.h"

/* Bits for recorded data that values depend on: values that were not recorded are null, never 0.
 * First the layers, JOB_SYSCALL and so on. JOB_PAGECACHE is the source of all `fetched_bytes`, also
 * of calls and faults. */
#define JOB_LAYER(id, ...) JOB_##id = 1u << LAYER_##id,
enum { TRACE_LAYERS(JOB_LAYER) };
#define JOB_BIT(number) (1u << (LAYER_COUNT + (number)))
#define JOB_DIRTIED JOB_BIT(0)	      /* bytes dirtied through mappings: fault layer */
#define JOB_THROTTLED JOB_BIT(1)      /* throttling of writers: page cache layer */
#define JOB_MOVED JOB_BIT(2)	      /* reads and writes are recorded, by calls or by the VFS */
#define JOB_EVENTS JOB_BIT(3)	      /* all operations are recorded, none aggregated */
#define JOB_IO JOB_BIT(4)	      /* at least one layer records operations */
#define JOB_READ_FOR_WRITE JOB_BIT(5) /* reads to complete partial pages: pagecache and block */
#define JOB_OTHER_PAGES JOB_BIT(6)    /* pages that no operation on their file brought in */
#define JOB_PARTS JOB_BIT(7)	      /* bios: they show where operations waited */
#define JOB_MOUNTS JOB_BIT(8)	      /* requests to servers of mounts */

#define JOB_OPERATIONS_MAX 1024 /* kinds of operations in all traces; the kernel has about 100 */

/* What requests to devices, and their parts, do. */
enum device_use { DEVICE_READS, DEVICE_WRITES, DEVICE_DISCARDS, DEVICE_FLUSHES, DEVICE_USES };

/* Names in operations, after "request_". */
extern const char *const device_use_names[DEVICE_USES];

struct operation {
	const char *layer, *name; /* together they identify an operation across traces */
	enum trace_family family;
	bool opens;	    /* open and the like: on success, it opens a file */
	bool submits;	    /* its result is a number of operations submitted to the kernel */
	bool truncates;	    /* ftruncate: on success, the file has the requested size */
	bool replaces;	    /* removes a name, or moves one, possibly over another */
	bool resizes;	    /* changes a file's space; no name is looked up for it */
	bool advises;	    /* fadvise and the like: may fetch or drop cached pages */
	bool lists;	    /* lists a directory */
	bool locks;	    /* locks or unlocks a file */
	bool closes;	    /* closes a descriptor, not necessarily the last of its open file */
	bool unmaps;	    /* munmap: on success, gives memory or a mapping back */
	bool polls;	    /* on success, creates a ring that needs no submit calls */
	bool uring, libaio; /* is itself an operation of one of these */
	/* For requests that read, write, discard or flush, and their parts; otherwise
	 * DEVICE_USES. */
	enum device_use use;
	/*
	 * Totals of the rows, and what the kernel counted beyond them: lost events, and operations
	 * without rows. For an incomplete trace, nothing is known beyond the rows.
	 */
	struct trace_operation_total seen, unseen;
};

/* Derives an operation from its name, except for its counts; its strings remain those of `from`. */
void operation_describe(struct operation *operation, const struct trace_operation *from);

struct activities;

struct job_trace {
	struct trace_reader *reader;
	const char *name;
	const struct trace_header *header;
	const struct trace_totals *totals; /* NULL: incomplete */
	struct clock_shift clock;
	uint32_t host;			    /* the same for traces of one boot */
	uint16_t *operations;		    /* number in the header -> number in the job */
	struct trace_operation_total *seen; /* totals of the rows, by number in the header */
	uint16_t fault, pagecache, indirect, dirtied,
		throttled;	   /* operations of rows without an `op` column, as `seen` */
	uint64_t start_ns, end_ns; /* on the job's clock */
	unsigned int layers;	   /* JOB_*: layers that it recorded */
};

struct job {
	struct job_trace *traces;
	size_t trace_count;
	struct operation *operations;
	size_t operation_count;
	struct file_table files;
	struct process_table processes;
	struct labels labels;
	struct stack_table stacks;
	struct open_spans spans;       /* at the current position of the pass over the events */
	struct activities *activities; /* up to that position */
	uint64_t start_ns, end_ns;     /* first start and last end of any trace */
	bool complete;		       /* all traces are complete */
	uint64_t lost;		       /* lost events of complete traces */
	uint64_t damaged;	       /* part of `lost`: events in unreadable blocks */
	uint64_t lost_spans;	       /* part of `lost`: events of the span layer */
	unsigned int layers;	       /* JOB_*: recorded by any of the traces */
	unsigned int filtered;	       /* JOB_*: totals unknown because of the filter */
	bool many_hosts;
	bool aggregated;     /* some traces have aggregated operations, */
	bool all_aggregated; /* or all have nothing else, from beginning to end */
	/* A filter selects a part of the time, or a trace is the end of a longer recording: rows
	 * may reach beyond start_ns and end_ns. */
	bool cut;
	bool chosen; /* a filter by more than time and file excludes the kernel's own activity */
	uint64_t memory_bytes;
	uint64_t slowest;   /* operations to list individually; 0: a few */
	uint64_t file_rows; /* files to list individually; 0: as many as fit in memory */
};

/* Kinds of rows that the job has read: events of them are of no use. */
#define JOB_KINDS                                                                                  \
	(1ull << TRACE_FORK | 1ull << TRACE_FILE | 1ull << TRACE_FRAME | 1ull << TRACE_STACK)

/* Default memory limit for what is computed from a job. */
#define JOB_MEMORY_BYTES (1ull << 30)
/* Memory per process and per file, including all of its sums: a file with its path takes about 300
 * bytes if there are many (measured: each opened and read once), more if requests are recorded,
 * too. */
#define JOB_PROCESS_BYTES 1024
#define JOB_FILE_BYTES 512
/* Memory per stack and per frame. */
#define JOB_STACK_BYTES 128

/* Returns why requests to devices are unknown; NULL if they are known. */
const char *job_lacks_requests(const struct job *job);
/* Returns JOB_* of the named layer; 0 if there is none. */
unsigned int job_layer(const char *name);

/* Loads everything except events: files up to half of the memory, processes up to a third,
 * stacks and frames up to an eighth each; the others are counted as `beyond`. Returns 0 or -errno;
 * `error` names the trace and the cause. */
int job_load_within(struct job *job, struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, uint64_t memory_bytes, struct trace_error *error);
/* The same with JOB_MEMORY_BYTES. */
int job_load(struct job *job, struct trace_reader *const *traces, const char *const *names,
	     size_t trace_count, struct trace_error *error);
void job_free(struct job *job);

/* Skips an unreadable block of a trace and counts its rows as lost. */
void job_pass_over(struct job *job, uint32_t trace, size_t block, const struct trace_error *error);

/* Returns the maximum rows of a table with that many columns and a row per file or process. */
size_t job_rows_max(const struct job *job, size_t columns);

/* Sets `seen` and `unseen` of the operations. Must run after all events have been read. */
void job_count_unseen(struct job *job);
/* Adds an operation's rows and what the kernel counted beyond them. */
void job_add_operation(struct trace_operation_total *sum, const struct operation *operation);

/* Sums a note (header.h) over all traces; traces without an end have none. */
uint64_t job_count_notes(const struct job *job, const char *name);
/* Returns the number of CPUs of all hosts. */
uint64_t job_cpus(const struct job *job);
/* Returns how many CPUs the commands could use at once, by quotas and affinity. The traces of a
 * host are taken to share the largest limit among them; those of hosts add up. Infinity: all, or
 * unknown. */
double job_cpu_limit(const struct job *job);

/* Name of a process after its last exec; empty if unknown. */
struct trace_string job_comm(const struct job *job, uint32_t process);
/* ... of the program that it ran at a time: before its first exec, its parent's. */
struct trace_string job_comm_at(const struct job *job, uint32_t process, uint64_t time_ns);

/* Prefixes an error with the name of a trace. */
void job_error(const struct job *job, uint32_t trace, struct trace_error *error);
