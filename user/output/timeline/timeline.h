/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The model of a timeline, which all timeline formats share. One pass over the events of a job
 * decides what is on which track; an encoder only writes it.
 *
 * - tracks: processes; their threads; devices; lanes below these for overlapping slices
 *
 * - slices: calls, faults, VFS operations, throttling and waits on their thread, with the lines of
 * code that samples of them have, and spans around them; io_uring and libaio operations on lanes of
 * their process; block requests on lanes of their device. A slice that would cross another of its
 * thread is on a lane below.
 *
 * - instants: marked instants, forks, execs, exits, page-cache fill of no operation, bios where a
 * thread queued them, and samples of a thread on a CPU, by their line
 *
 * - counters: bytes per second by process, each operation's spread evenly over its time
 *
 * With a filter by line, only samples pass: those of operations and waits are slices then.
 *
 * Times of threads are not drawn: an interval lasts as long as its thread sleeps, and counters of
 * each thread and state would hide the others.
 *
 * Memory grows with processes, threads, lanes, files, strings, stacks and open spans, not with
 * events.
 */
#pragma once

#include "analysis/events/event.h"
#include "output/base/export.h"

#define TIMELINE_NONE UINT32_MAX
#define TIMELINE_PID_STEP 10000000	/* added to a pid that another process has already */
#define TIMELINE_THREADS_MAX (1u << 17) /* further ones share one per process */
#define TIMELINE_DEPTH 4 /* nested slices without spans: a wait in a fault in a call is three */
#define TIMELINE_ITEM_ARGS 24

enum timeline_kind {
	TIMELINE_PROCESS,
	TIMELINE_THREAD,   /* of a process */
	TIMELINE_CROSSING, /* lane of a thread, for slices that cross others */
	TIMELINE_ASYNC,	   /* lane of a process */
	TIMELINE_DEVICE,
	TIMELINE_REQUESTS, /* lane of a device */
	TIMELINE_COUNTER,  /* of a process */
};

/* A sample of an operation of the same thread, start and end, on the job's clock. */
struct timeline_sample {
	uint64_t start_ns, end_ns, tid;
	uint64_t stack; /* id in the trace; 0: none */
	bool cut;
};

struct timeline_lanes;

/* A track. Slices of a thread nest; those of a lane follow each other. */
struct timeline_track {
	enum timeline_kind kind;
	uint32_t number;   /* from 0, in no order */
	uint32_t parent;   /* number of another track, or TIMELINE_NONE */
	uint32_t process;  /* in the job's table; of devices, their trace */
	uint64_t key;	   /* tid, device, counter, or number of the lane */
	uint64_t pid, tid; /* unique on the timeline; of devices, their number and lane */
	/* Empty if unknown. Valid while the track is written; a counter's, always. */
	struct trace_string name;
	/* Private to the model: */
	bool used;
	struct timeline_lanes *lanes; /* below it; NULL: none */
	uint32_t top, aside; /* innermost open span, and the first one that does not nest */
	uint32_t depth;
	uint64_t ends[TIMELINE_DEPTH]; /* of a thread's open slices, innermost last */
	uint64_t shared;	       /* events of further threads */
	struct timeline_sample sample; /* of the operation that begins next */
};

/* Arguments of slices and instants. */
#define TIMELINE_ARGS(ARG)                                                                         \
	ARG(FILE, "file")                                                                          \
	ARG(FILE2, "file2")                                                                        \
	ARG(OFFSET, "offset")                                                                      \
	ARG(ASKED, "asked")                                                                        \
	ARG(REQUEST, "request")                                                                    \
	ARG(SECTOR, "sector")                                                                      \
	ARG(BYTES, "bytes")                                                                        \
	ARG(RESULT, "result")                                                                      \
	ARG(ERROR, "error")                                                                        \
	ARG(CALL, "call")                                                                          \
	ARG(OBJECT, "object")                                                                      \
	ARG(WAKER_PID, "waker_pid")                                                                \
	ARG(WAKER_TID, "waker_tid")                                                                \
	ARG(OWNER_PID, "owner_pid")                                                                \
	ARG(OWNER_TID, "owner_tid")                                                                \
	ARG(FETCHED, "fetched_bytes")                                                              \
	ARG(CREATED, "created_bytes")                                                              \
	ARG(READ_FOR_WRITE, "read_for_write_bytes")                                                \
	ARG(FAULT_FETCHED, "fault_fetched_bytes")                                                  \
	ARG(MAJOR, "major")                                                                        \
	ARG(PAUSE, "pause_ns")                                                                     \
	ARG(OWN_BYTES, "own_bytes")                                                                \
	ARG(BIOS, "bios")                                                                          \
	ARG(QUEUE, "queue_ns")                                                                     \
	ARG(SERVICE, "service_ns")                                                                 \
	ARG(QUEUED_BY_PID, "queued_by_pid")                                                        \
	ARG(QUEUED_BY_TID, "queued_by_tid")                                                        \
	ARG(QUEUED_BY, "queued_by")                                                                \
	ARG(CHILD_PID, "child_pid")                                                                \
	ARG(CHILD_TID, "child_tid")                                                                \
	ARG(COMM, "comm")                                                                          \
	ARG(COMMAND, "command")                                                                    \
	ARG(PPID, "ppid")                                                                          \
	ARG(UID, "uid")                                                                            \
	ARG(CGROUP, "cgroup")                                                                      \
	ARG(RANK, "rank")                                                                          \
	ARG(SIGNAL, "signal")                                                                      \
	ARG(STATUS, "status")                                                                      \
	ARG(MINOR, "minor")                                                                        \
	ARG(WEIGHT, "weight_ns")                                                                   \
	ARG(AT, "at")                                                                              \
	ARG(STACK, "stack")                                                                        \
	ARG(GIVEN, "args")                                                                         \
	ARG(FLAGS, "flags")                                                                        \
	ARG(ENDED_BY, "ended_by")                                                                  \
	ARG(UNFINISHED, "unfinished")                                                              \
	ARG(TOO_MANY_OPEN, "too_many_open")                                                        \
	ARG(WITHOUT_ID, "without_id")                                                              \
	ARG(CUT, "cut")

#define TIMELINE_ARG_ENUM(id, name) TIMELINE_##id,
enum timeline_arg_id { TIMELINE_ARGS(TIMELINE_ARG_ENUM) TIMELINE_ARG_COUNT };
extern const char *const timeline_arg_names[TIMELINE_ARG_COUNT];

enum timeline_type {
	TIMELINE_UINT,
	TIMELINE_INT,	/* `value`, signed */
	TIMELINE_TRUE,	/* just present */
	TIMELINE_ERRNO, /* positive */
	TIMELINE_BITS,	/* flags of a row of the item's kind */
	TIMELINE_PATH,	/* `value` is a file's number: see timeline_text */
	TIMELINE_TEXT,
	TIMELINE_WORDS,	  /* `text`: separated by NUL */
	TIMELINE_MSGPACK, /* `text`: the arguments that a program gave; see output/base/args.h */
};

struct timeline_arg {
	uint8_t id, type;
	union {
		uint64_t value;
		struct trace_string text;
	};
};

/* A text with an id that no different text has, for interning it. */
struct timeline_name {
	struct trace_string text;
	uint64_t id;
};

/* A slice or an instant. */
struct timeline_item {
	enum trace_kind kind;	   /* TRACE_SPAN_BEGIN for spans */
	const struct event *event; /* its row; NULL for spans */
	uint32_t process, trace;
	uint64_t tid;				     /* as in the trace */
	const struct timeline_track *track, *thread; /* no thread: a request */
	uint64_t start_ns, end_ns;		     /* since base_ns */
	struct timeline_name name, category;
	const char *cut; /* truncated end: "start", "end", "both"; or NULL */
	bool of_process; /* an instant of the whole process */
	bool inside;	 /* an instant within a slice of its thread */
	uint64_t flow;	 /* of a bio: its request. Of a request: itself. 0: none */
	size_t arg_count;
	struct timeline_arg args[TIMELINE_ITEM_ARGS]; /* last: see take_event */
};

struct timeline {
	struct job job;
	struct filter filter;	    /* as requested */
	uint64_t base_ns;	    /* earliest row, on the job's clock */
	uint64_t from_ns, until_ns; /* the window, since base_ns */
	struct sink *out;	    /* the encoder may replace it at the end of a callback */
	void *state;		    /* the encoder's, initially zeros */
	int error;		    /* the first one: see timeline_fail */
};

struct timeline_encoder {
	uint64_t kinds;	    /* rows that it writes, as bits, besides spans; 0: all */
	bool cuts;	    /* slices are cut to the window; otherwise they are whole */
	bool all_processes; /* even those that did nothing */
	bool stacks;	    /* whole stacks, in addition to their innermost lines */
	size_t state_bytes;
	/* All but `slice` may be NULL. The first and the last return 0 or -errno. */
	int (*begin)(struct timeline *timeline);
	/* Comes before anything on the track, its parent first; again if its name becomes known. */
	void (*track)(struct timeline *timeline, const struct timeline_track *track);
	/* `out` is the timeline's, or a buffer that is appended to it later. */
	void (*slice)(struct timeline *timeline, struct sink *out,
		      const struct timeline_item *item);
	void (*instant)(struct timeline *timeline, const struct timeline_item *item);
	/* A value that differs from the one before. Comes last, by track and time. */
	void (*counter)(struct timeline *timeline, const struct timeline_track *track,
			uint64_t time_ns, double value);
	int (*finish)(struct timeline *timeline);
	void (*close)(struct timeline *timeline); /* frees what the state holds */
};

/* Returns the kinds of rows that are drawn: a mask of 1 << enum trace_kind. */
uint64_t timeline_kinds(void);
/* ... and those of which slices and instants have names and arguments. */
uint64_t timeline_kinds_described(void);

/* Writes the traces with format->timeline. */
export_stream timeline_export;

/* Keeps the first error (`status` is 0 or negative), which ends the export. */
static inline void timeline_fail(struct timeline *timeline, int status)
{
	if (status && !timeline->error)
		timeline->error = status;
}
/* Returns the text of a TIMELINE_PATH, TIMELINE_TEXT or TIMELINE_WORDS; empty if unknown. */
struct trace_string timeline_text(const struct timeline *timeline, const struct timeline_arg *arg);
/* Returns the item's argument, or NULL. */
const struct timeline_arg *timeline_find_arg(const struct timeline_item *item,
					     enum timeline_arg_id id);
static inline struct trace_string timeline_literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}
