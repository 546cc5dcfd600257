/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is seen of a row: what it did to which file, by which method, on whose account. Here, and
 * nowhere else, an operation is classed. Every row is an event, a transfer between two files is
 * two; those that are no operations (spans, moments, forks, ...) are of no class. Knows nothing of
 * tables.
 */
#ifndef FAULTLINE_EVENT_MODEL_H
#define FAULTLINE_EVENT_MODEL_H

#include "analysis/model/held_block.h"
#include "analysis/model/io_class.h"
#include "analysis/model/job.h"

#define EVENT_COUNTED (1u << 0) /* it is an operation (or fault) of its class ... */
#define EVENT_TIMED (1u << 1)	/* ... and its time is time of its class */
#define EVENT_FAILED (1u << 2)
#define EVENT_OPENS (1u << 3)	   /* it opened the file */
#define EVENT_UNLINKED (1u << 4)   /* the file had no name left */
#define EVENT_TRUNCATES (1u << 14) /* it gave the file the size asked_bytes */
#define EVENT_FAULT (1u << 5)	   /* a page fault ... */
#define EVENT_CALL (1u << 6)	   /* ... or a system call, ... */
#define EVENT_ASYNC (1u << 20)	   /* ... or an operation of io_uring or libaio */
#define EVENT_DIRECT (1u << 21)	   /* by O_DIRECT, whatever its method */
#define EVENT_COPIES (1u << 25)	   /* a fault: a store to a private mapping, which copied a page */
#define EVENT_ADVISES (1u << 26)   /* a call: fadvise, and what it advised, or when, is not known */
#define EVENT_DROPS (1u << 28)	   /* a call: fadvise, which drops what memory holds of its file */
#define EVENT_NOWAIT (1u << 27)	   /* a call: it asked for a lock, if at all, without waiting */
#define EVENT_LISTS (1u << 29)	   /* a call: it lists what the file, a directory, holds */
#define EVENT_READS_FOR_WRITE (1u << 30) /* a call: it has read_for_write_sectors */
#define EVENT_CLOSES (1u << 31)		 /* a call: it closes a descriptor of the file */
#define EVENT_VFS (1u << 22)		 /* ... or an operation of the VFS, maybe apart (IO_NONE) */
#define EVENT_SECOND (1u << 7) /* its row gave another event before: counts as one operation */
/*
 * It stands for many, which mode profile has summed up: `summed_*` have their number, errors and
 * time; when which of them was is not known. It comes at the start of the last one. Only consumers
 * that say so (walk_calls.sums) are told of such.
 */
#define EVENT_SUMMED (1u << 23)
/* Of those, how many were of a class of durations or sizes: of class IO_NONE, counted before. */
#define EVENT_CLASSES (1u << 24)
/* No operations, of class IO_NONE and METHOD_NONE: */
#define EVENT_SPAN_BEGIN (1u << 8)
#define EVENT_SPAN_END (1u << 9)
#define EVENT_PROGRAM_END (1u << 10) /* the process ended, or runs another program from now on */
#define EVENT_INSTANT (1u << 11)
#define EVENT_PAGECACHE (1u << 12) /* fetched_bytes of a file, on no operation's account */
#define EVENT_INDIRECT (1u << 13)  /* ... or on that of one whose own file it is not */
#define EVENT_SUBMITS                                                                              \
	(1u << 15)		   /* a call; its result is a number of operations it submitted,   \
				    * which are not recorded themselves */
#define EVENT_THROTTLED (1u << 16) /* the thread is told to sleep, for as long as it lasts */
/* No calls nor faults, but what came of them at a block device; bytes of recorded bios alone: */
#define EVENT_REQUEST (1u << 17)
#define EVENT_BIO (1u << 18)	/* a stretch of one file in a request */
#define EVENT_DEVICE (1u << 19) /* sums of a device up to here */
/* What changes which spans are open. */
#define EVENT_TURN (EVENT_SPAN_BEGIN | EVENT_SPAN_END | EVENT_PROGRAM_END)

#define EVENT_OPEN_FILE_BITS 30

struct event {
	uint64_t start, end; /* on the job's clock, ns */
	union {
		struct { /* of an operation */
			union {
				int64_t offset; /* bytes; negative where it has no meaning */
				uint64_t summed_ns;
			};
			uint64_t bytes;		/* moved between the file and the caller */
			uint64_t fetched_bytes; /* brought into the page cache, */
			uint64_t created_bytes; /* newly cached by writing */
			uint64_t dirtied_bytes; /* by stores through mappings */
		};
		struct {			 /* of a span's begin and end, and of a moment */
			uint64_t id;		 /* as the program gave it */
			uint64_t label;		 /* number in the job's spans; not of an end */
			uint64_t name, category; /* ids of its strings until it is resolved */
		};
	};
	union {
		uint64_t asked_bytes;
		uint64_t summed_count;
	};
	const struct held_block *block; /* the row that it comes from; see event_value */
	uint32_t row;
	uint32_t process; /* number in the job's table; of EVENT_PAGECACHE, forks and files not
			   * looked up: PROCESS_UNKNOWN. A pid until it is resolved */
	union {
		uint32_t thread; /* tid */
		uint32_t summed_errors;
	};
	uint32_t file;			 /* number in the job's table, or FILE_NONE */
	uint32_t open_file;		 /* of a call; EVENT_OPEN_FILE_BITS wide; 0: not known */
	uint32_t major;			 /* major faults */
	uint32_t read_for_write_sectors; /* read from storage to complete pages written in part */
	uint16_t operation; /* number in the job's list; of calls, faults, EVENT_PAGECACHE and
			     * EVENT_THROTTLED */
	uint8_t class;	    /* enum io_class */
	uint8_t method;	    /* enum io_method */
	uint32_t flags;	    /* EVENT_* */
};

/* A value of the row that an event comes from: a column that was asked for, as in the trace. */
static inline uint64_t event_value(const struct event *event, unsigned int column)
{
	return held_block_value(event->block, column, event->row);
}

static inline enum trace_kind event_kind(const struct event *event)
{
	return event->block->kind;
}

static inline uint64_t event_read_for_write(const struct event *event)
{
	return event->read_for_write_sectors * (uint64_t)TRACE_SECTOR_BYTES;
}

/* More than an event has room for are as many as it has: those of 2 TiB. */
static inline uint32_t event_sectors(uint64_t bytes)
{
	uint64_t sectors = bytes / TRACE_SECTOR_BYTES;

	return sectors < UINT32_MAX ? sectors : UINT32_MAX;
}

/* How many operations it stands for, how many of them failed, and their time over all threads. */
static inline uint64_t event_count(const struct event *event)
{
	return event->flags & EVENT_SUMMED ? event->summed_count : 1;
}

static inline uint64_t event_errors(const struct event *event)
{
	if (event->flags & EVENT_SUMMED)
		return event->summed_errors;
	return event->flags & EVENT_FAILED ? 1 : 0;
}

static inline uint64_t event_time_ns(const struct event *event)
{
	return event->flags & EVENT_SUMMED ? event->summed_ns : event->end - event->start;
}

/* Ids come again and again: the files found lately, by the low bits of their ids. */
#define FILE_MEMORY_SLOTS 1024

struct file_memory { /* all zeros at the start: id 0 is no file and never looked up */
	uint64_t ids[FILE_MEMORY_SLOTS];
	uint32_t traces[FILE_MEMORY_SLOTS], files[FILE_MEMORY_SLOTS];
};

/* Rows on their way to be events: some of a block, widened. */
#define CHUNK_ROWS 128

struct event_chunk {
	struct job *job;
	const struct held_block *block;
	struct clock_shift clock; /* of its trace */
	uint32_t row, count;	  /* the first one, and how many: not 0 */
	struct file_memory *memory;
	const uint64_t *columns[TRACE_COLUMNS_MOST]; /* NULL for those not asked for */
};

/* It is done for another operation, or by the kernel's own threads: no operation of the job's. */
static inline bool event_is_apart(const struct event *event)
{
	return event->flags & EVENT_VFS && event->class == IO_NONE;
}

/* The columns that event_decode needs of a kind. */
uint64_t event_columns(enum trace_kind kind);
/* Turns rows into events, in their order, at most two for each, and adds calls and faults to what
 * was seen of their trace. Who did it and what spans are called is left for event_resolve: this may
 * run ahead on a thread of its own, and changes nothing that analyses look at. */
void event_decode(const struct event_chunk *chunk, struct event *events, size_t *count);
/* Finds processes and labels; events must come in their order. Returns 0 or -ENOMEM. */
int event_resolve(struct job *job, struct event *events, size_t count);

/* What operations count as that were summed up under some TRACE_PROFILE_*: class and method, and
 * EVENT_*. A transfer's other side is left to the caller. */
struct event_summed {
	uint8_t class, method;
	uint32_t flags;
};
struct event_summed event_summed_as(const struct operation *operation, uint64_t flags);

/*
 * Where the part of an operation belongs that no row tells of. A lost fault counts as one that
 * reads: most are, and one that writes reads the page first. A lost transfer counts on both sides:
 * which of its ends was a file is lost with it.
 */
struct event_unseen {
	uint8_t class, method;
	bool dirtied; /* its bytes are what stores dirtied, and nothing else is meant */
	bool whole;   /* else only the bytes that came into the cache */
	bool timed;   /* it has the time */
	bool fetched,
		created; /* it has the bytes that came into the cache to be read, by writing */
};

/* Returns how many of the two places are meant, 0 for operations of no class. */
size_t event_unseen(const struct operation *operation, struct event_unseen places[2]);

/* True for operations whose result is a number of bytes read or written. */
bool event_moves_bytes(enum trace_family family);

/* As the kernel tells an error from a result: IS_ERR_VALUE of include/linux/err.h. */
static inline bool result_is_error(uint64_t result)
{
	return result >= (uint64_t)-4095;
}

#endif
