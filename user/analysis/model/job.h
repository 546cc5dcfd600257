/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A job: one or more traces taken as one, on one clock, with their operations, files and processes.
 * Knows nothing of what is to be made of them.
 */
#ifndef FAULTLINE_JOB_H
#define FAULTLINE_JOB_H

#include <stdbool.h>

#include "analysis/base/clock.h"
#include "analysis/model/file_table.h"
#include "analysis/model/labels.h"
#include "analysis/model/open_spans.h"
#include "analysis/model/process_table.h"
#include "trace/reader.h"

/* Layers that numbers depend on, as bits: what was not recorded is null, never 0. */
#define JOB_SYSCALL (1u << 0)
#define JOB_FAULT (1u << 1)
#define JOB_PAGECACHE (1u << 2) /* all `fetched_bytes`, of calls and faults too, come from it */
#define JOB_SPAN (1u << 3)
#define JOB_DIRTIED (1u << 4)	/* what stores through mappings dirtied: of the layer of faults */
#define JOB_THROTTLED (1u << 5) /* how long writers were told to sleep: ... of the page cache */
#define JOB_BLOCK (1u << 6)
#define JOB_ASYNC (1u << 7) /* operations of io_uring and libaio */
#define JOB_VFS (1u << 8)
#define JOB_MOVED (1u << 9) /* reads and writes are told: by calls, or by the VFS */
/* No layer: all operations are told, none summed up (mode profile). */
#define JOB_EVENTS (1u << 10)
#define JOB_IO (1u << 11)	      /* operations of some kind are told, by one layer at least */
#define JOB_READ_FOR_WRITE (1u << 12) /* what writes read first: of pagecache and block */
#define JOB_OTHER_PAGES (1u << 13)    /* pages that no operation on their file brought in */
#define JOB_PARTS (1u << 14)	      /* bios: they tell where operations waited */

#define JOB_OPERATIONS_MOST 1024 /* kinds of operations in all traces; the kernel has some 100 */

/* What requests to devices do, and their parts. */
enum device_use { DEVICE_READS, DEVICE_WRITES, DEVICE_DISCARDS, DEVICE_FLUSHES, DEVICE_USES };

/* As operations call them, behind "request_". */
extern const char *const device_use_names[DEVICE_USES];

struct operation {
	const char *layer, *name; /* both together tell operations of different traces apart */
	enum trace_family family;
	bool opens;	/* open and its like: a success opens a file */
	bool submits;	/* its result is a number of operations handed to the kernel */
	bool truncates; /* ftruncate: a success gives a file the size that was asked for */
	bool resizes;	/* it gives a file room, or takes it away: no name is looked up for it */
	bool advises;	/* fadvise and its like: it may fetch, or drop what memory holds */
	bool lists;	/* what a directory holds */
	bool locks;	/* locks or unlocks a file */
	bool closes;	/* closes a descriptor, not necessarily the last of its open file */
	bool polls;	/* a success makes a ring that is submitted to without a call */
	bool uring, libaio; /* it is an operation of one of these itself */
	/* Of requests and their parts; DEVICE_USES: it is none. */
	enum device_use use;
	/*
	 * Of the rows, and what the kernel counted beyond them: lost events, and operations that
	 * have no rows. Nothing is known beyond the rows of an incomplete trace.
	 */
	struct trace_operation_total seen, unseen;
};

/* What an operation is by its name, but for what was counted; its texts stay the other's. */
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
	struct trace_operation_total *seen; /* of the rows, by number in the header */
	uint16_t fault, pagecache, indirect, dirtied,
		throttled;	   /* what rows without an `op` column are; as `seen` */
	uint64_t start_ns, end_ns; /* on the job's clock */
	unsigned int layers;	   /* JOB_*: those that it recorded */
};

struct job {
	struct job_trace *traces;
	size_t trace_count;
	struct operation *operations;
	size_t operation_count;
	struct file_table files;
	struct process_table processes;
	struct labels labels;
	struct open_spans spans;       /* at the moment that the pass over the events has reached */
	struct activities *activities; /* up to that moment */
	uint64_t start_ns, end_ns;     /* of the first trace to start and the last to end */
	bool complete;		       /* all traces are */
	uint64_t lost;		       /* events of complete traces, */
	uint64_t damaged;	       /* those in blocks that could not be read among them */
	uint64_t lost_spans;	       /* those of the span layer among them */
	unsigned int layers;	       /* JOB_*: those that any of the traces recorded */
	unsigned int filtered;	       /* JOB_*: those whose totals the filter makes unknown */
	bool many_hosts;
	bool summed;	 /* operations of some of the traces were summed up, */
	bool all_summed; /* or of all of them, from beginning to end */
	bool chosen; /* a filter leaves out events by who or what they are, the kernel's own, too */
	uint64_t memory_bytes;
	uint64_t slowest;   /* operations to tell one by one; 0: a few */
	uint64_t file_rows; /* files to tell one by one; 0: as many as there is memory for */
};

/* Memory that is meant for what is made of a job by default. */
#define JOB_MEMORY_BYTES (1ull << 30)
/* What a process or a file takes of it, with all that is summed up for it: a file, its path
 * included, some 300 bytes where there are many (measured: each opened and read once), more of them
 * where requests are known, too. */
#define JOB_PROCESS_BYTES 1024
#define JOB_FILE_BYTES 512

/* Why requests to devices are not known; NULL if they are. */
const char *job_lacks_requests(const struct job *job);
/* JOB_* that the layer of that name stands for; 0 for none. */
unsigned int job_layer(const char *name);

/* Takes in all of the traces but their events: of files those that have room in half of the memory,
 * of processes in a third; the others are counted as beyond. Returns 0 or -errno; `error` says
 * which and what. */
int job_load_within(struct job *job, struct trace_reader *const *traces, const char *const *names,
		    size_t trace_count, uint64_t memory_bytes, struct trace_error *error);
/* The same within JOB_MEMORY_BYTES. */
int job_load(struct job *job, struct trace_reader *const *traces, const char *const *names,
	     size_t trace_count, struct trace_error *error);
void job_free(struct job *job);

/* A block of a trace that could not be read is passed over, and its rows are lost. */
void job_pass_over(struct job *job, uint32_t trace, size_t block, const struct trace_error *error);

/* How many rows of so many columns a table may have that has a row for each file or process. */
size_t job_rows_most(const struct job *job, size_t columns);

/* Sets `seen` and `unseen` of the operations, once all events have been read. */
void job_count_unseen(struct job *job);

/* Sum of a note (header.h) of all traces; those without an end have none. */
uint64_t job_count_notes(const struct job *job, const char *name);

/* Name of a process, that of its last exec; empty where it is not known. */
struct trace_string job_comm(const struct job *job, uint32_t process);
/* ... of what it ran at a time: before its first exec that is what its parent ran. */
struct trace_string job_comm_at(const struct job *job, uint32_t process, uint64_t time_ns);

/* Puts the name of a trace in front of what an error says. */
void job_error(const struct job *job, uint32_t trace, struct trace_error *error);

#endif
