/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The two objects of a trace that are not rows: the header at its start, the totals at its end. The
 * object's creator owns its strings.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/schema.h"

/* Longest string. Writers truncate longer ones; readers cut those of forged traces, which many rows
 * may share. The longest that are recorded are paths of 4.5 KiB. */
#define TRACE_STRING_BYTES_MAX (8u << 10)

/* What an operation does, so that a reader needs no list of system calls. */
enum trace_family {
	TRACE_READ,
	TRACE_WRITE,
	TRACE_METADATA,
	TRACE_SYNC,
	TRACE_MAP,	/* mmap, munmap, madvise, mlock ... */
	TRACE_TRANSFER, /* reads `file` and writes `file2`: sendfile, splice, copy_file_range */
	TRACE_ADVICE, /* posix_fadvise, readahead: no bytes for the caller, maybe into the cache */
	TRACE_FILEFAULT,   /* faults on file mappings */
	TRACE_ANONFAULT,   /* faults on anonymous and shared memory: totals only */
	TRACE_CACHE,	   /* unattributed: pages brought into the cache by no operation */
	TRACE_INDIRECT,	   /* ... indirect: by an operation on another file */
	TRACE_UNDECODED,   /* counted, not decoded: calls of 32-bit programs */
	TRACE_SUBMITS,	   /* submits or requests operations: io_uring, libaio */
	TRACE_STORES,	   /* dirtied by stores through mappings: bytes of whole folios */
	TRACE_DELAY,	   /* writers throttled because too much waits for writeback */
	TRACE_STORAGE,	   /* requests to block devices */
	TRACE_OTHER,	   /* io_uring and libaio, not on files: only counted */
	TRACE_KERNEL_READ, /* the kernel reads and writes files itself, on a task's behalf */
	TRACE_KERNEL_WRITE,
	TRACE_SPLICE_READ, /* halves of a transfer whose call is not recorded */
	TRACE_SPLICE_WRITE,
	TRACE_APART,  /* for another operation, or by kernel threads: in no total */
	TRACE_SERVED, /* requests to servers of file systems: in no total either */
	TRACE_FAMILY_COUNT,
};

/* "read", "write", "metadata", "sync", "map", "transfer", "advice", "fault", "anonymous",
 * "pagecache", "indirect", "undecoded", "async", "stores", "delay", "storage", "other",
 * "kernel_read", "kernel_write", "splice_read", "splice_write", "apart", "remote"; indexed by
 * enum trace_family. */
extern const char *const trace_family_names[TRACE_FAMILY_COUNT];

struct trace_operation {
	const char *layer; /* "syscall", "fault", "pagecache" */
	const char *name;  /* the kernel's name of the call; "fault", "anonymous_fault", ... */
	enum trace_family family;
};

struct trace_layer {
	const char *name;
	bool on;
	const char *attach; /* the chosen variant, e.g. "tp_btf"; NULL when off */
	const char *reason; /* why it is off, or what it lacks; NULL if neither */
};

struct trace_mount {
	uint32_t dev;		  /* as in file rows */
	const char *type;	  /* of the file system */
	const char *options;	  /* separated by commas */
	const char *path;	  /* as seen by the trace's creator */
	uint64_t readahead_bytes; /* readahead window of the device; 0: unknown */
};

/* What a flight recorder kept, and why it was written. */
struct trace_flight {
	const char *reason;	   /* NULL: not from a flight recorder */
	uint64_t complete_from_ns; /* from this time on it is complete, for all CPUs */
	uint64_t overwritten;	   /* earlier records, which are missing */
};

/* Texts that a redaction replaces. */
enum trace_name {
	TRACE_NAME_PATH,    /* each component is hashed */
	TRACE_NAME_PROGRAM, /* of a program or a thread: hashed, except Python's */
	TRACE_NAME_DEVICE, /* hashed like a path if it is the source of a mount: "server:/export" */
	TRACE_NAME_COMMAND, /* left out */
	TRACE_NAME_COUNT,
};

struct redaction;

struct trace_header {
	uint32_t version; /* TRACE_VERSION */
	const char *tool; /* version of the program that wrote it */
	const char *host, *boot_id, *kernel, *machine;
	uint32_t page_bytes, cpus;
	uint64_t clock_monotonic_ns;  /* the trace's clock ... */
	uint64_t clock_realtime_ns;   /* ... and the wall clock at the same moment */
	uint64_t memory_bytes;	      /* of the machine; 0: unknown, as for those below */
	uint64_t cgroup_memory_bytes; /* lowest enclosing cgroup limit; 0: none, too */
	uint64_t cpu_milli;   /* CPUs that quotas or the affinity allow, in thousandths; 0: all */
	uint64_t dirty_bytes; /* above this, writers wait, */
	uint64_t dirty_background_bytes;  /* and above this, writeback begins; as of the start */
	const struct trace_mount *mounts; /* at the start, except the kernel's own */
	size_t mount_count;
	const char *mode;	    /* "trace", "profile", "auto": as for --mode */
	const char *start;	    /* "run": with a command; "attach": to running processes */
	const char *const *command; /* NULL-terminated; may be NULL */
	const char *const *targets; /* what it attached to, in words; like `command` */
	struct trace_flight flight;
	const struct trace_layer *layers;
	size_t layer_count;
	const struct trace_operation *operations; /* `op` columns index this list */
	size_t operation_count;
	const struct redaction *redaction; /* of names that a writer is given; NULL: none */
};

/* Exact counts from the kernel: all events, written or lost. Indexed like the header's
 * operations. */
struct trace_operation_total {
	uint64_t count, errors;
	uint64_t bytes; /* sum of positive results of calls that move bytes */
	uint64_t thread_time_ns;
	uint64_t fetched_bytes, created_bytes;
	uint64_t submissions; /* sum of positive results of TRACE_SUBMITS calls that submit */
	uint64_t read_for_write_bytes; /* from storage, to complete partial pages */
	uint64_t major_faults;	       /* of faults; TRACE_NOT_COUNTED: an older trace */
};

#define TRACE_NOT_COUNTED UINT64_MAX

/* Events by kind of record: events = written + lost. */
struct trace_kind_total {
	const char *kind; /* name of the block kind */
	const char *layer;
	uint64_t events, written, lost;
};

/* What could not be observed, by name. */
#define TRACE_NOTE_UNFOLLOWED "children_not_followed"
#define TRACE_NOTE_UNTIMED "faults_untimed"		   /* start, end or both were not seen */
#define TRACE_NOTE_ASYNC_BEFORE "async_begun_before"	   /* submitted before the recording */
#define TRACE_NOTE_SPANS_BEFORE "spans_begun_before"	   /* open when the recording attached */
#define TRACE_NOTE_SPANS_UNCOUNTED "span_begins_uncounted" /* how many were lost is unknown */
#define TRACE_NOTE_ENDED_UNSEEN "programs_ended_unseen"	   /* whether they mark spans is unknown */
#define TRACE_NOTE_BIOS_UNSEEN "bios_ended_unseen"	   /* they have no records */
/* For how long the module of a server layer was loaded without being recorded, in ns. */
#define TRACE_NOTE_UNSEEN_NS(layer) layer "_unseen_ns"
#define TRACE_NOTE_BIOS_UNDER_WAY "bios_under_way" /* at the end, or ended unseen */
/* Samples in Python code with --stacks python, by what is known of their stacks. */
#define TRACE_NOTE_PYTHON_WHOLE "python_stacks_whole"
#define TRACE_NOTE_PYTHON_CUT "python_stacks_cut" /* outer frames are missing */
#define TRACE_NOTE_PYTHON_FAILED "python_stacks_failed"
/* Samples with --stacks native, by what is known of their native stacks. */
#define TRACE_NOTE_NATIVE_WHOLE "native_stacks_whole"
#define TRACE_NOTE_NATIVE_CUT "native_stacks_cut"	  /* deeper than the copy */
#define TRACE_NOTE_NATIVE_FAILED "native_stacks_failed"	  /* they lack frames for another reason */
#define TRACE_NOTE_NATIVE_DROPPED "native_stacks_dropped" /* not unwound */
#define TRACE_NOTE_CPU_THROTTLED "cpu_throttled_ns" /* by the quota of the cgroup, over CPUs */
#define TRACE_NOTE_LEFT_OUT "operations_left_out"   /* on files excluded from the recording */
/* Why events were lost; these are also counted by kind: */
#define TRACE_NOTE_LOST_FULL "lost_buffers_full"     /* they came faster than they were read */
#define TRACE_NOTE_LOST_STOPPED "lost_while_stopped" /* the tracer did not run */
#define TRACE_NOTE_LOST_NO_ROOM "lost_not_written"   /* no room for the trace */

struct trace_note {
	const char *name;
	uint64_t count;
};

struct trace_totals {
	uint64_t end_ns;   /* when tracing ended, on the trace's clock */
	uint64_t start_ns; /* exec of the command */
	int32_t exit_code; /* of the command, as returned by `run`; -1 if unknown */
	const struct trace_operation_total *operations;
	size_t operation_count;
	const struct trace_kind_total *kinds;
	size_t kind_count;
	const uint64_t *survivors; /* pids of followed processes still alive at the end */
	size_t survivor_count;
	const struct trace_note *notes; /* only those above 0 */
	size_t note_count;
};
