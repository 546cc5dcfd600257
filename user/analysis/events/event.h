/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events: what a row did to which file, by which method, for which process. Operations are
 * classified only here. Every row is an event, a transfer between two files is two; events that are
 * not operations (spans, instants, forks, ...) have no class.
 */
#pragma once

#include "analysis/events/loaded_block.h"
#include "analysis/events/io_class.h"
#include "analysis/job/job.h"
#include "trace/format/thread_states.h"

#define EVENT_COUNTED (1u << 0) /* an operation (or fault) of its class ... */
#define EVENT_TIMED (1u << 1)	/* ... whose time counts as time of its class */
#define EVENT_FAILED (1u << 2)
#define EVENT_OPENS (1u << 3)		 /* opened the file */
#define EVENT_UNLINKED (1u << 4)	 /* the file was unlinked */
#define EVENT_TRUNCATES (1u << 14)	 /* set the file's size to asked_bytes */
#define EVENT_FAULT (1u << 5)		 /* a page fault ... */
#define EVENT_CALL (1u << 6)		 /* ... or a system call, ... */
#define EVENT_ASYNC (1u << 20)		 /* ... or an operation of io_uring or libaio */
#define EVENT_DIRECT (1u << 21)		 /* used O_DIRECT, regardless of the method */
#define EVENT_ADVISES (1u << 26)	 /* a call: fadvise, with the advice or its time unknown */
#define EVENT_DROPS (1u << 28)		 /* a call: fadvise that drops cached pages */
#define EVENT_NOWAIT (1u << 27)		 /* a call: did not wait for a lock, if any; */
#define EVENT_COPIES EVENT_NOWAIT	 /* a fault: a store that copied a private page */
#define EVENT_LISTS (1u << 29)		 /* a call: lists the directory that is its file */
#define EVENT_READS_FOR_WRITE (1u << 30) /* a call: has read_for_write_sectors */
#define EVENT_CLOSES (1u << 31)		 /* a call: closes a descriptor of the file */
#define EVENT_VFS (1u << 22)		 /* ... or a VFS operation; see event_is_for_other */
#define EVENT_SECOND (1u << 7)		 /* second event of its row: they count as one */
/*
 * Stands for many operations that profile mode aggregated: `summed_*` have their number, errors and
 * time; their individual times are unknown. Comes at the start of the last one. Only consumers with
 * walk_calls.sums receive such events.
 */
#define EVENT_SUMMED (1u << 23)
/* How many of those fell into a duration or size class: IO_NONE, as they are already counted. */
#define EVENT_CLASSES (1u << 24)
/* Not operations; IO_NONE and METHOD_NONE: */
#define EVENT_SPAN_BEGIN (1u << 8)
#define EVENT_SPAN_END (1u << 9)
#define EVENT_PROGRAM_END (1u << 10) /* the process ended or exec'd */
#define EVENT_INSTANT (1u << 11)
#define EVENT_PAGECACHE (1u << 12) /* unattributed: fetched_bytes of no operation */
#define EVENT_INDIRECT (1u << 13)  /* ... or indirect: of an operation on another file */
#define EVENT_SUBMITS                                                                              \
	(1u << 15)		   /* a call; its result is a number of operations it submitted,   \
				    * which have no rows */
#define EVENT_THROTTLED (1u << 16) /* the kernel makes the thread sleep that long */
/* Not calls or faults but the requests that they caused; bytes of recorded bios only: */
#define EVENT_REQUEST (1u << 17) /* see event_is_remote */
#define EVENT_BIO (1u << 18)	 /* part of a request, for one file */
#define EVENT_DEVICE (1u << 19)	 /* totals of a device up to this time */
/* A thread's time in each state, from start to end; one of its waits: see event_is_wait; or a
 * sample of it: see event_is_sample. */
#define EVENT_THREAD (1u << 25)
/* Events that change which spans are open. */
#define EVENT_SPAN_CHANGE (EVENT_SPAN_BEGIN | EVENT_SPAN_END | EVENT_PROGRAM_END)

#define EVENT_OPEN_FILE_BITS 30

struct event {
	uint64_t start, end; /* on the job's clock, ns */
	union {
		struct { /* operations */
			union {
				int64_t offset; /* bytes; negative if meaningless */
				uint64_t summed_ns;
			};
			uint64_t bytes;		/* moved between the file and the caller */
			uint64_t fetched_bytes; /* brought into the page cache to be read */
			uint64_t created_bytes; /* newly cached by writes */
			uint64_t dirtied_bytes; /* dirtied by stores through mappings */
		};
		struct {			 /* span begins, span ends and instants */
			uint64_t id;		 /* assigned by the program */
			uint64_t label;		 /* in the job's labels; not for ends */
			uint64_t name, category; /* string ids until the event is resolved */
		};
	};
	union {
		uint64_t asked_bytes;
		uint64_t summed_count;
	};
	const struct loaded_block *block; /* the row that the event comes from; see event_value */
	uint32_t row;
	uint32_t process; /* number in the job's table; a pid until the event is resolved.
			   * PROCESS_UNKNOWN for EVENT_PAGECACHE, forks and files */
	union {
		uint32_t thread; /* tid */
		uint32_t summed_errors;
	};
	uint32_t file;			 /* number in the job's table, or FILE_NONE */
	uint32_t open_file;		 /* for calls; EVENT_OPEN_FILE_BITS wide; 0: unknown */
	uint32_t major;			 /* major faults */
	uint32_t read_for_write_sectors; /* read from storage to complete partial pages */
	uint16_t operation; /* number in the job's list; for calls, faults, samples, EVENT_PAGECACHE
			     * and EVENT_THROTTLED */
	uint8_t class;	    /* enum io_class */
	uint8_t method;	    /* enum io_method */
	uint32_t flags;	    /* EVENT_* */
};

/* Returns whether an open call freed the file's earlier data, for which it may wait. */
static inline bool event_overwrites(const struct event *event)
{
	return (event->flags & (EVENT_OPENS | EVENT_TRUNCATES)) == (EVENT_OPENS | EVENT_TRUNCATES);
}

/* Returns a value of the event's row as in the trace; the column must have been requested. */
static inline uint64_t event_value(const struct event *event, unsigned int column)
{
	return loaded_block_value(event->block, column, event->row);
}

static inline enum trace_kind event_kind(const struct event *event)
{
	return event->block->kind;
}

/* True for an operation without a result: its thread or the recording ended first. It counts as
 * EVENT_FAILED, but is no error. */
static inline bool event_is_cut(const struct event *event)
{
	switch (event_kind(event)) {
	case TRACE_SYSCALL:
	case TRACE_SYSCALL_PATH:
	case TRACE_ASYNC:
		return event_value(event, SYSCALL_FLAGS) & TRACE_OP_UNFINISHED;
	case TRACE_FAULT:
		return event_value(event, FAULT_FLAGS) & TRACE_FAULT_WAITING;
	default:
		return false;
	}
}

/* True for a sample: some of a thread's time, with its stack. It has the file and the operation
 * that took the time, but is not counted as one. */
static inline bool event_is_sample(const struct event *event)
{
	return event->flags & EVENT_THREAD && event_kind(event) == TRACE_SAMPLE;
}

/* True for a wait of a thread outside recorded operations: see trace/format/columns.h. */
static inline bool event_is_wait(const struct event *event)
{
	return event->flags & EVENT_THREAD && event_kind(event) == TRACE_WAIT;
}

/* True for a request to the server of a file system, not to a block device. */
static inline bool event_is_remote(const struct event *event)
{
	return event->flags & EVENT_REQUEST && event_kind(event) == TRACE_REMOTE;
}

/* Columns of a row that identify its device: see event_device. */
#define DEVICE_OF_REQUEST (1ull << REQUEST_DEV | 1ull << REQUEST_INSTANCE)
#define DEVICE_OF_REMOTE (1ull << REMOTE_DEV | 1ull << REMOTE_INSTANCE)
#define DEVICE_OF_BIO (1ull << BIO_DEV | 1ull << BIO_INSTANCE)
#define DEVICE_OF_DEVICE (1ull << DEVICE_DEV | 1ull << DEVICE_INSTANCE)

/* Returns the device of a request, a bio or a device's totals: its number, and in the upper half
 * its instance, which tells apart devices that used the same number one after another. */
uint64_t event_device(const struct event *event);

static inline uint64_t device_of(uint32_t number, uint32_t instance)
{
	return (uint64_t)instance << 32 | number;
}

static inline uint32_t device_number(uint64_t device)
{
	return device;
}

/* Returns 0 if it is unknown. */
static inline uint32_t device_instance(uint64_t device)
{
	return device >> 32;
}

_Static_assert((int)REMOTE_DEV == (int)REQUEST_DEV && (int)REMOTE_BYTES == (int)REQUEST_BYTES,
	       "analyses of devices read both alike");

/* Returns the state of that name: enum thread_state or SAMPLE_IO. */
unsigned int event_state_named(struct trace_string name);
/* Returns the state of a sample: enum thread_state or SAMPLE_IO. Needs its column. */
unsigned int event_sample_state(const struct job *job, const struct event *event);
/* Returns the number of operations that a sample represents: it was taken because its operation,
 * with similar ones before it, took the weight. Needs the column of the weight. */
double event_sample_operations(const struct event *event);
/* Returns the time that a sample represents: its weight. A sample whose weight is its own duration
 * is exact; if a filter cuts the run, only the part inside counts. `state`: the sample's. *exact
 * may be NULL. */
uint64_t event_sample_time(const struct job *job, const struct event *event, unsigned int state,
			   bool *exact);
extern const char *const sample_state_names[THREAD_STATE_COUNT + 1];

static inline uint64_t event_read_for_write(const struct event *event)
{
	return event->read_for_write_sectors * (uint64_t)TRACE_SECTOR_BYTES;
}

/* Saturates at the most that an event can hold, 2 TiB. */
static inline uint32_t event_sectors(uint64_t bytes)
{
	uint64_t sectors = bytes / TRACE_SECTOR_BYTES;

	return sectors < UINT32_MAX ? sectors : UINT32_MAX;
}

/* How many operations the event stands for, how many of them failed, and their thread time. */
static inline uint64_t event_count(const struct event *event)
{
	return event->flags & EVENT_SUMMED ? event->summed_count : 1;
}

static inline uint64_t event_errors(const struct event *event)
{
	if (event->flags & EVENT_SUMMED)
		return event->summed_errors;
	return event->flags & EVENT_FAILED && !event_is_cut(event) ? 1 : 0;
}

static inline uint64_t event_time_ns(const struct event *event)
{
	return event->flags & EVENT_SUMMED ? event->summed_ns : event->end - event->start;
}

/* Recently found files, by the low bits of their ids: ids recur. */
#define FILE_MEMORY_SLOTS 1024

struct file_memory { /* all zeros initially: id 0 is no file and never looked up */
	uint64_t ids[FILE_MEMORY_SLOTS];
	uint32_t traces[FILE_MEMORY_SLOTS], files[FILE_MEMORY_SLOTS];
};

/* Rows of a block, widened for decoding. */
#define CHUNK_ROWS 128

struct event_chunk {
	struct job *job;
	const struct loaded_block *block;
	struct clock_shift clock; /* of the block's trace */
	uint32_t row, count;	  /* first row, and number of rows, at least 1 */
	struct file_memory *memory;
	const uint64_t *columns[TRACE_COLUMNS_MAX]; /* NULL for those not requested */
};

/* True if it was done for another operation or by a kernel thread: not an operation of the job. */
static inline bool event_is_for_other(const struct event *event)
{
	return event->flags & EVENT_VFS && event->class == IO_NONE;
}

/* Returns the columns that event_decode needs of a kind. */
uint64_t event_columns(enum trace_kind kind);
/* Turns rows into events in order, at most two per row, and adds them to the totals seen in their
 * trace. Processes and labels are left to event_resolve: this may run ahead on its own thread, and
 * changes nothing that analyses read. */
void event_decode(const struct event_chunk *chunk, struct event *events, size_t *count);
/* Finds processes and labels; events must come in order. Returns 0 or -ENOMEM. */
int event_resolve(struct job *job, struct event *events, size_t count);

/* How operations aggregated under TRACE_PROFILE_* flags count: class, method and EVENT_*. The other
 * side of a transfer is left to the caller. */
struct event_summed {
	uint8_t class, method;
	uint32_t flags;
};
struct event_summed event_summed_as(const struct operation *operation, uint64_t flags);

/*
 * Where the part of an operation's totals counts that has no rows. A lost fault counts as a read:
 * most are, and a write fault reads the page first. A lost transfer counts on both sides: which of
 * its ends was a file is unknown.
 */
struct event_unseen {
	uint8_t class, method;
	bool dirtied;	       /* its bytes were dirtied by stores; nothing else counts */
	bool whole;	       /* otherwise only the bytes that entered the page cache count */
	bool timed;	       /* its time counts */
	bool fetched, created; /* bytes read into the cache, or newly cached by writes */
};

/* Returns how many of the two targets apply; 0 for operations without a class. */
size_t event_unseen(const struct operation *operation, struct event_unseen targets[2]);

/* True for operations whose result is a number of bytes read or written. */
bool event_moves_bytes(enum trace_family family);

/* The kernel's test for an error: IS_ERR_VALUE of include/linux/err.h. */
static inline bool result_is_error(uint64_t result)
{
	return result >= (uint64_t)-4095;
}
