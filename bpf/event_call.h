/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the kernel side decodes system calls and operations of io_uring and libaio: the rows that the
 * user side fills in. Knows nothing of the records that are made of them.
 */
#ifndef FAULTLINE_EVENT_CALL_H
#define FAULTLINE_EVENT_CALL_H

#include "event_base.h"

/*
 * How the kernel side decodes a system call: one row per number, filled from the table of calls on
 * the user side. Argument numbers count from 1; 0 means that the call has no such argument.
 */
#define CALL_TABLE_SIZE 512
#define CALL_FPOS (1u << 0)	  /* moves the file position: offset = position at exit - result */
#define CALL_VECTOR (1u << 1)	  /* the length argument is an iovec and its count follows */
#define CALL_OPENS (1u << 2)	  /* the result is a descriptor of the file it is about */
#define CALL_MAP (1u << 3)	  /* its file is the one mapped at its first argument (`fd` is 1) */
#define CALL_MMAP (1u << 4)	  /* protection and flags are arguments 3 and 4 */
#define CALL_TRANSFER (1u << 5)	  /* moves bytes from `fd` to `fd2` */
#define CALL_OFFSET_PTR (1u << 6) /* the offset argument points to it; NULL: the file position */
#define CALL_SEEK (1u << 7)	  /* the result is the offset */
#define CALL_BYTES (1u << 8)	  /* a positive result is a number of bytes */
#define CALL_ADVISES (1u << 9)	  /* the argument behind `length` says what it advises */
#define CALL_OPEN_HOW (1u << 10)  /* open flags are in a struct open_how */
#define CALL_OPEN_FLAGS (1u << 11) /* `length` names the open flags instead */
#define CALL_CLOSES (1u << 12)
#define CALL_PLAIN (1u << 13)	/* the short way will do: set by shape when the table is filled */
#define CALL_WRITES (1u << 14)	/* pages that it brings into its file's cache are its own making */
#define CALL_REQUEST (1u << 15) /* which call it is, its argument `request` says: see below */
#define CALL_RING                                                                                  \
	(1u << 16)	      /* `request` points to a struct io_uring_params, whose SQPOLL it is  \
			       */
#define CALL_EXECS (1u << 17) /* once done, its file is the program that runs then */
#define CALL_SUBMITS (1u << 18)	    /* a positive result is a number of operations that begin */
#define CALL_AIO_SUBMIT (1u << 19)  /* io_submit */
#define CALL_AIO_REAP (1u << 20)    /* a positive result is a number of events, at its argument 4 */
#define CALL_FLOCK (1u << 21)	    /* what it does with the lock is its argument 2 */
#define CALL_LOCK_WAITS (1u << 22)  /* a request; its argument 3 points to a struct flock */
#define CALL_MAPS_ANY (1u << 23)    /* about mappings of any files: it has none of its own */
#define CALL_WRITE_FLAGS (1u << 24) /* RWF_* are its argument 6 */

struct call_row {
	__u32 traits;
	__u16 op; /* 0: not recorded; else number in the table of operations */
	__u8 fd, fd2;
	__u8 offset;
	__u8 length;
	__u8 path, path_dir; /* path_dir 0: relative to the working directory */
	__u8 path2, path2_dir;
	__u8 request;
	__u8 pad;
};

/* A call that is many: its row in the table of calls has CALL_REQUEST, and what is recorded of it
 * stands here. `number` 0: no row (that is read, or io_setup). */
#define CALL_REQUESTS 16
struct call_request {
	__u32 number;
	__u32 request;
	struct call_row row;
};

/*
 * How the kernel side decodes operations of io_uring and libaio: one row per opcode, filled from
 * the table on the user side.
 */
#define URING_TABLE_SIZE 128
#define AIO_TABLE_SIZE 16
#define ASYNC_FLIGHT_MOST 32768 /* operations in flight */
#define ASYNC_NAMES_MOST 1024	/* ... that name paths */
#define ASYNC_USERS_MOST 16384	/* processes that have any */
#define ASYNC_MULTISHOT_MOST 8192
#define ASYNC_BYTES (1u << 0)	  /* a positive result is a number of bytes */
#define ASYNC_WRITES (1u << 1)	  /* pages that it brings in are its own making */
#define ASYNC_VECTOR (1u << 2)	  /* from or to an iovec */
#define ASYNC_BUFFER (1u << 3)	  /* from or to a registered buffer */
#define ASYNC_MULTISHOT (1u << 4) /* completes many times */
#define ASYNC_OPENS (1u << 5)	  /* the result is a descriptor, or a slot, of its file */

/* Where its arguments stand; of io_uring which struct its command is. */
enum async_shape {
	ASYNC_COUNTED, /* not about a file: it is counted, no more */
	ASYNC_FILE,    /* about its descriptor, no more */
	ASYNC_RW,
	ASYNC_SYNC, /* a range */
	ASYNC_ADVICE,
	ASYNC_MAP, /* about the file that is mapped at its address */
	ASYNC_SPLICE,
	ASYNC_CLOSE,
	ASYNC_OPEN,
	ASYNC_STATX,
	ASYNC_UNLINK,
	ASYNC_MKDIR,
	ASYNC_RENAME,
};

struct async_row {
	__u16 op; /* number in the table of operations */
	__u8 shape;
	__u8 traits;
};

#endif
