/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a trace can hold: the kinds of blocks and their columns, as tables.
 * Knows nothing of BPF, of how a row was captured or of what it is used for.
 *
 * A row is an array of 64-bit values in the column order given here. In memory every value is a
 * uint64_t; signed columns hold the two's complement. Both lists are append only.
 */
#ifndef FAULTLINE_TRACE_SCHEMA_H
#define FAULTLINE_TRACE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flags.h"

#define TRACE_VERSION 1
#define TRACE_BLOCK_ROWS 32768		  /* a writer's blocks hold at most this many rows */
#define TRACE_BLOCK_ROWS_MAX (1u << 17)	  /* a reader refuses blocks of more rows */
#define TRACE_FRAME_BYTES_MAX (64u << 20) /* ... and frames that decompress to more */
#define TRACE_COLUMNS_MOST 64		  /* of a kind: as many as a mask can name */

enum trace_kind {
	TRACE_SYSCALL,	    /* a system call on a file */
	TRACE_SYSCALL_PATH, /* a system call that names a path or a second file */
	TRACE_FAULT,	    /* a page fault on a file mapping */
	TRACE_PAGECACHE,  /* pages that came into the cache of a file that is no operation's own */
	TRACE_FORK,	  /* a new process or thread */
	TRACE_EXEC,	  /* a process is named anew */
	TRACE_EXIT,	  /* a thread ends, maybe with its process */
	TRACE_FILE,	  /* what a file id stands for; a later row for the same id replaces it */
	TRACE_SPAN_BEGIN, /* the application begins a span */
	TRACE_SPAN_END,	  /* ... and ends it */
	TRACE_INSTANT,	  /* the application marks a moment */
	TRACE_KIND_COUNT,
};
/* Besides these kinds a trace holds the header, "string" blocks, "index" and "totals". */

enum trace_column_type {
	TRACE_TIME,   /* ns on the trace's clock; stored as `dts`, differences that start at t0 */
	TRACE_UINT,   /* unsigned */
	TRACE_INT,    /* signed */
	TRACE_STRING, /* id of a string, 0 for none */
};

struct trace_column {
	const char *name;
	enum trace_column_type type;
};

struct trace_schema {
	const char *kind;  /* the block's name in the file */
	const char *layer; /* the layer that its rows belong to */
	const struct trace_column *columns;
	unsigned int column_count;
	int duration; /* number of the column that holds a duration in ns, or -1 */
	bool names;   /* its rows say what the numbers in other rows stand for */
};

/* One row per kind, indexed by enum trace_kind. */
extern const struct trace_schema trace_schemas[TRACE_KIND_COUNT];

/* Column 0 of every kind is its time: the start of an operation, the moment of an event. */
#define TRACE_COL_TIME 0

enum { /* TRACE_SYSCALL; TRACE_SYSCALL_PATH starts with the same columns */
       SYSCALL_TIME,
       SYSCALL_DUR,	/* "dur": ns */
       SYSCALL_PID,	/* "pid" */
       SYSCALL_TID,	/* "tid" */
       SYSCALL_OP,	/* "op": number in the header's `operations` */
       SYSCALL_FILE,	/* "file": file id, 0 for none */
       SYSCALL_OFFSET,	/* "offset": bytes, signed, -1 where it has no meaning */
       SYSCALL_ASKED,	/* "asked": bytes */
       SYSCALL_RESULT,	/* "result": as returned, -errno for errors */
       SYSCALL_FLAGS,	/* "flags": TRACE_OP_* */
       SYSCALL_FETCHED, /* "fetched_bytes": of its own file brought into the cache for reading,
			 * and, for map calls, of the mapped file; bytes of faults inside it not
			 * included */
       SYSCALL_FAULT_FETCHED, /* "fault_fetched_bytes": brought in by faults inside the call */
       SYSCALL_MAJOR,	/* "major": major faults the kernel counted inside the call for which no
			 * fault row exists (populate, mlock, madvise) */
       SYSCALL_CREATED, /* "created_bytes": newly cached by writing: of its own file, of the file
			 * that a transfer writes */
       SYSCALL_DIRTIED, /* "dirtied_bytes": of the file that a map call is about, made to be
			 * written back: whole folios */
       SYSCALL_COLUMNS,
       /* TRACE_SYSCALL_PATH only */
       SYSCALL_PATH_FILE2 =
	       SYSCALL_COLUMNS, /* "file2": the file written by sendfile and its like */
       SYSCALL_PATH_DIR,	/* "dir": file id of the directory `path` is relative to */
       SYSCALL_PATH_PATH,	/* "path": string id, as given */
       SYSCALL_PATH_DIR2,	/* "dir2", "path2": the second path of rename, link */
       SYSCALL_PATH_PATH2,
       SYSCALL_PATH_COLUMNS,
};

enum { /* TRACE_FAULT */
       FAULT_TIME,
       FAULT_DUR,     /* "dur" */
       FAULT_PID,     /* "pid" */
       FAULT_TID,     /* "tid" */
       FAULT_FILE,    /* "file" */
       FAULT_OFFSET,  /* "offset": of the page in the file, bytes */
       FAULT_FLAGS,   /* "flags": TRACE_FAULT_* */
       FAULT_FETCHED, /* "fetched_bytes" */
       FAULT_DIRTIED, /* "dirtied_bytes": made to be written back by the store: whole folios */
       FAULT_COLUMNS,
};

enum { /* TRACE_PAGECACHE */
       PAGECACHE_TIME,
       PAGECACHE_PID,	  /* "pid": the task that brought them in */
       PAGECACHE_TID,	  /* "tid" */
       PAGECACHE_FILE,	  /* "file" */
       PAGECACHE_OFFSET,  /* "offset": bytes */
       PAGECACHE_BYTES,	  /* "fetched_bytes" */
       PAGECACHE_CREATED, /* "created_bytes": newly cached by writing */
       PAGECACHE_CALL,	  /* "call": number of the operation on whose account they came though the
			   * file is not its own, in the header's `operations`, plus 1; 0: nobody's */
       PAGECACHE_COLUMNS,
};

enum { /* TRACE_FORK */
       FORK_TIME,
       FORK_PID,       /* "pid": of the parent */
       FORK_TID,       /* "tid": the thread that called */
       FORK_CHILD_PID, /* "child_pid": equal to pid for a thread */
       FORK_CHILD_TID, /* "child_tid" */
       FORK_COLUMNS,
};

enum { /* TRACE_EXEC */
       EXEC_TIME,
       EXEC_PID,     /* "pid" */
       EXEC_TID,     /* "tid" */
       EXEC_PPID,    /* "ppid" */
       EXEC_UID,     /* "uid" */
       EXEC_COMM,    /* "comm": string id */
       EXEC_COMMAND, /* "command": string id; arguments separated by NUL */
       EXEC_CGROUP,  /* "cgroup": string id */
       EXEC_RANK,    /* "rank": signed, -1 where the environment names none */
       EXEC_FLAGS,   /* "flags": TRACE_EXEC_* */
       EXEC_COLUMNS,
};

enum { /* TRACE_EXIT */
       EXIT_TIME,
       EXIT_PID,     /* "pid" */
       EXIT_TID,     /* "tid" */
       EXIT_PROCESS, /* "process": 1 when the last thread of the process ended */
       EXIT_CODE,    /* "code": wait status of the process (meaningful with process = 1) */
       EXIT_COMM,    /* "comm": string id */
       EXIT_MAJOR,   /* "major": major faults of this thread, by the kernel's own count; 0 where it
		      * goes on under the process's id, having executed a program */
       EXIT_MINOR,   /* "minor" */
       EXIT_COLUMNS,
};

enum { /* TRACE_FILE */
       FILE_TIME,
       FILE_ID,		/* "id" */
       FILE_DEV,	/* "dev": major << 20 | minor, as the kernel keeps it; of a btrfs
			 * subvolume its own, as stat tells it */
       FILE_INO,	/* "ino" */
       FILE_GENERATION, /* "generation" */
       FILE_MODE,	/* "mode": type and permission bits of st_mode */
       FILE_SIZE,	/* "size": bytes */
       FILE_FLAGS,	/* "flags": TRACE_FILE_* */
       FILE_PATH,	/* "path": string id */
       FILE_READAHEAD,	/* "readahead_bytes": what an open file may read ahead; 0: not known */
       FILE_FILESYSTEM, /* "filesystem": string id of its type's name; 0: not known */
       FILE_COLUMNS,
};

enum { /* TRACE_SPAN_BEGIN; a span that never ends, ends with its process */
       SPAN_BEGIN_TIME,
       SPAN_BEGIN_PID,	    /* "pid" */
       SPAN_BEGIN_TID,	    /* "tid" */
       SPAN_BEGIN_ID,	    /* "id": given by the program, its own within the process */
       SPAN_BEGIN_NAME,	    /* "name": string id */
       SPAN_BEGIN_CATEGORY, /* "category": string id */
       SPAN_BEGIN_ARGS,	 /* "args": string id; a msgpack map as the program made it, or nothing */
       SPAN_BEGIN_FLAGS, /* "flags": TRACE_SPAN_* */
       SPAN_BEGIN_COLUMNS,
};

enum { /* TRACE_SPAN_END */
       SPAN_END_TIME,
       SPAN_END_PID, /* "pid" */
       SPAN_END_TID, /* "tid": may be another than the one that began it */
       SPAN_END_ID,  /* "id": may be of no span */
       SPAN_END_COLUMNS,
};

enum { /* TRACE_INSTANT */
       INSTANT_TIME,
       INSTANT_PID,	 /* "pid" */
       INSTANT_TID,	 /* "tid" */
       INSTANT_NAME,	 /* "name": string id */
       INSTANT_CATEGORY, /* "category": string id */
       INSTANT_ARGS,	 /* "args": string id */
       INSTANT_FLAGS,	 /* "flags": TRACE_SPAN_* */
       INSTANT_COLUMNS,
};

#endif
