/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How the kernel side decodes system calls, io_uring and libaio operations: tables that the user
 * side fills in.
 */
#pragma once

#include "bpf/records/event_base.h"

/*
 * Decoding of a system call: one row per number, filled in from the call table on the user side.
 * Arguments are numbered from 1; 0 means that the call has no such argument.
 */
#define CALL_TABLE_SIZE 512
#define CALL_FPOS (1u << 0)	   /* moves the position: offset = position at exit - result */
#define CALL_VECTOR (1u << 1)	   /* the length argument is an iovec, followed by its count */
#define CALL_OPENS (1u << 2)	   /* the result is a descriptor of the call's file */
#define CALL_MAP (1u << 3)	   /* the file is the one mapped at argument 1 (`fd` is 1) */
#define CALL_MMAP (1u << 4)	   /* protection and flags are arguments 3 and 4 */
#define CALL_TRANSFER (1u << 5)	   /* moves bytes from `fd` to `fd2` */
#define CALL_OFFSET_PTR (1u << 6)  /* the offset argument is a pointer; NULL: the file position */
#define CALL_SEEK (1u << 7)	   /* the result is the offset */
#define CALL_BYTES (1u << 8)	   /* a positive result is a byte count */
#define CALL_ADVISES (1u << 9)	   /* the argument after `length` is the advice */
#define CALL_OPEN_HOW (1u << 10)   /* open flags are in a struct open_how */
#define CALL_OPEN_FLAGS (1u << 11) /* `length` is the argument with the open flags */
#define CALL_CLOSES (1u << 12)
#define CALL_PLAIN (1u << 13)	/* takes the fast path; derived from the row's shape */
#define CALL_WRITES (1u << 14)	/* pages it adds to its file's cache are created */
#define CALL_REQUEST (1u << 15) /* argument `request` selects a call_request */
#define CALL_RING                                                                                  \
	(1u << 16) /* `request` points to a struct io_uring_params, keyed by its SQPOLL flag */
#define CALL_EXECS (1u << 17)	    /* on success, its file is the program that runs */
#define CALL_SUBMITS (1u << 18)	    /* a positive result is the number submitted */
#define CALL_AIO_SUBMIT (1u << 19)  /* io_submit */
#define CALL_AIO_REAP (1u << 20)    /* a positive result counts events at argument 4 */
#define CALL_FLOCK (1u << 21)	    /* argument 2 is the lock operation */
#define CALL_LOCK_WAITS (1u << 22)  /* may wait; argument 3 points to a struct flock */
#define CALL_MAPS_ANY (1u << 23)    /* acts on mappings of any files; has no own file */
#define CALL_WRITE_FLAGS (1u << 24) /* argument 6 holds RWF_* */
#define CALL_MEMORY (1u << 25)	    /* I/O only if it brings in or dirties pages of files */

struct call_row {
	__u32 traits;
	__u16 op; /* index into the table of operations; 0: not recorded */
	__u8 fd, fd2;
	__u8 offset;
	__u8 length;
	__u8 path, path_dir; /* path_dir 0: relative to the working directory */
	__u8 path2, path2_dir;
	__u8 request;
	__u8 pad;
};

/* One operation of a multiplexed call. The call's row has CALL_REQUEST; `row` is what is recorded
 * for `request`. `number` 0: unused entry (0 is read or io_setup, which are not multiplexed). */
#define CALL_REQUESTS 16
struct call_request {
	__u32 number;
	__u32 request;
	struct call_row row;
};

/*
 * Decoding of io_uring and libaio operations: one row per opcode, filled in from the table on the
 * user side.
 */
#define URING_TABLE_SIZE 128
#define AIO_TABLE_SIZE 16
#define ASYNC_FLIGHT_MAX 32768	  /* operations in flight */
#define ASYNC_NAMES_MAX 1024	  /* ... with paths */
#define ASYNC_USERS_MAX 16384	  /* processes that have any */
#define ASYNC_BYTES (1u << 0)	  /* a positive result is a byte count */
#define ASYNC_WRITES (1u << 1)	  /* pages it adds to the cache count as created */
#define ASYNC_VECTOR (1u << 2)	  /* uses an iovec */
#define ASYNC_BUFFER (1u << 3)	  /* uses a registered buffer */
#define ASYNC_MULTISHOT (1u << 4) /* completes many times */

/* Layout of the arguments; for io_uring, which command struct is used. The order matters: before
 * ASYNC_SPLICE, the file is the request's own; up to ASYNC_CLOSE, there are no paths. */
enum async_shape {
	ASYNC_COUNTED, /* no file: only counted */
	ASYNC_FILE,    /* only a descriptor */
	ASYNC_RW,
	ASYNC_SYNC, /* a range of a file */
	ASYNC_ADVICE,
	ASYNC_MAP, /* the file mapped at its address */
	ASYNC_SPLICE,
	ASYNC_CLOSE,
	ASYNC_OPEN,
	ASYNC_STATX,
	ASYNC_UNLINK,
	ASYNC_MKDIR,
	ASYNC_RENAME,
	ASYNC_SYMLINK,
	ASYNC_XATTR,
};

struct async_row {
	__u16 op; /* index into the table of operations */
	__u8 shape;
	__u8 traits;
};
