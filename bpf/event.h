/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What crosses from the kernel side to the user side: records in the rings, and the tables that
 * both read. Fixed width, no padding that is not spelled out; kinds are append only.
 */
#ifndef FAULTLINE_EVENT_H
#define FAULTLINE_EVENT_H

#ifndef __bpf__
#include <assert.h>
#include <stddef.h>
#include <linux/types.h>
#endif

#include "user/trace/flags.h"

/* Stands for the kernel's function bpf_rdonly_cast until a program is loaded: no helper's number.
 */
#define RDONLY_CAST_CALL 0x7ffffff0

enum event_kind {
	EVENT_NONE,
	EVENT_SYSCALL,
	EVENT_SYSCALL_PATH,
	EVENT_FAULT,
	EVENT_PAGECACHE,
	EVENT_FORK,
	EVENT_EXEC,
	EVENT_ENVIRON,
	EVENT_EXIT,
	EVENT_FILE,
	EVENT_SPAN_BEGIN,
	EVENT_SPAN_END,
	EVENT_INSTANT,
	EVENT_CODE,
	EVENT_THROTTLE,
	EVENT_REQUEST,
	EVENT_BIO,
	EVENT_DEVICE,
	EVENT_ASYNC,
	EVENT_VFS,
	EVENT_KIND_COUNT,
};

#define EVENT_PATH_BYTES 4096	    /* of one path, its NUL included */
#define EVENT_ASYNC_PATH_BYTES 1024 /* ... that an operation in flight names */
#define EVENT_COMMAND_BYTES 4096    /* of a command line that is kept */
#define EVENT_ENVIRON_BYTES 4096    /* of the environment in one record */
#define EVENT_ENVIRON_RECORDS 32
#define EVENT_COMM_BYTES 16
#define EVENT_SPAN_NAME_BYTES 255
#define EVENT_SPAN_CATEGORY_BYTES 63
#define EVENT_SPAN_ARGS_BYTES 1024
#define EVENT_SPAN_TEXT_BYTES 512 /* room for name and category */

struct event_header {
	__u64 time_ns; /* CLOCK_MONOTONIC: start of an operation, moment of an event */
	__u16 kind;
	__u16 cpu;
	__u32 size; /* of the whole record */
	__u32 pid;
	__u32 tid;
};

struct event_syscall {
	struct event_header header;
	__u64 duration_ns;
	__s64 offset; /* -1: has no meaning for this call */
	__u64 asked_bytes;
	__s64 result;
	__u32 file;
	__u16 op;
	__u16 flags; /* TRACE_OP_* */
	__u32 fetched_pages;
	__u32 fault_fetched_pages;
	__u32 major_faults;
	__u32 created_pages;
	__u32 dirtied_pages;
	__u32 pad;
};

struct event_syscall_path {
	struct event_syscall call;
	__u32 file2;
	__u32 dir;
	__u32 dir2;
	__u16 path_bytes;  /* without a NUL */
	__u16 path2_bytes; /* follows the first */
	char text[];
};

/* An operation of io_uring or libaio, from its submission to its completion. The header's process
 * and thread are those that submitted it, or own the ring that the kernel polls. */
struct event_async {
	struct event_syscall call; /* its `flags` are those below */
	__u32 file2;
	__u32 dir;
	__u32 dir2;
	__u16 path_bytes;  /* without a NUL */
	__u16 path2_bytes; /* follows the first */
	__u32 flags;	   /* TRACE_OP_* */
	__u32 pad;
	char text[];
};

struct event_vfs {
	struct event_header header; /* pid 0: a thread of the kernel's own */
	__u64 duration_ns;
	__s64 offset; /* -1: has no meaning */
	__u64 asked_bytes;
	__s64 result;
	__u32 file;
	__u16 op;
	__u16 flags; /* TRACE_VFS_* */
};

struct event_pagecache {
	struct event_header header;
	__u64 offset;
	__u32 file;
	__u32 fetched_pages;
	__u32 created_pages;
	__u32 op; /* in flight, on whose account they came; OP_NONE: on nobody's */
};

/* A task that writes is told to sleep, because too much waits to be written back. */
struct event_throttle {
	struct event_header header;
	__u64 pause_ns;
	__u32 file;
	__u32 op; /* in flight: OP_FAULT or a call; OP_NONE: none that is recorded */
};

struct event_fork {
	struct event_header header; /* of the parent */
	__u32 child_pid;
	__u32 child_tid;
};

struct event_exec {
	struct event_header header;
	__u64 started_ns; /* the process; CLOCK_MONOTONIC */
	__u64 cgroup_id;
	__u64 cgroup_set; /* one for all that are in the same cgroups of all hierarchies; an
			   * address, compared only */
	__u32 ppid;
	__u32 uid;
	char comm[EVENT_COMM_BYTES];
	__u32 command_bytes; /* arguments, each with its NUL */
	__u32 flags;	     /* TRACE_EXEC_* */
	char command[];
};

/* Comes before the exec record of the same task, on the same CPU, in order. */
struct event_environ {
	struct event_header header;
	__u32 offset;
	__u32 bytes;
	char text[];
};

struct event_exit {
	struct event_header header;
	__u64 major_faults; /* of this thread */
	__u64 minor_faults;
	char comm[EVENT_COMM_BYTES];
	__u32 process_ends;
	__s32 code; /* wait status of the process */
};

struct event_file {
	struct event_header header;
	__u64 ino;
	__u64 size_bytes;
	__u32 id;
	__u32 dev;
	__u32 generation;
	__u32 mode;
	__u32 rdev;
	__u32 flags;	       /* TRACE_FILE_* */
	__u32 class;	       /* FILE_CLASS_*, one bit */
	__u32 readahead_pages; /* that an open file begins with; 0: none, or not known */
	char filesystem[EVENT_COMM_BYTES];
	__u32 pad;
	__u32 names_bytes;
	char names[]; /* path components from the leaf to the root, each with its NUL */
};

/* Of EVENT_SPAN_BEGIN, and with id 0 of EVENT_INSTANT. */
struct event_span {
	struct event_header header;
	__u64 id;
	__u16 name_bytes; /* without NULs; name, category and arguments follow each other */
	__u16 category_bytes;
	__u16 args_bytes;
	__u16 flags; /* TRACE_SPAN_* */
	char text[];
};

struct event_span_end {
	struct event_header header;
	__u64 id;
};

/* A request to a block device that has ended, or a part of it (TRACE_BLOCK_PART). */
struct event_request {
	struct event_header header; /* of the task that queued the first of its recorded bios; 0:
				     * the kernel did. From when the request was made */
	__u64 id;
	__u64 duration_ns;
	__u64 queue_ns; /* of it, before the driver got the request */
	__u64 sector;
	__u32 dev;  /* of the whole device */
	__u32 part; /* of its partition, or of itself */
	__u32 bytes;
	__u32 own_bytes; /* of bios that are recorded */
	__u32 bios;
	__u32 own_bios;
	__u32 file;  /* of the first of those */
	__u32 flags; /* TRACE_BLOCK_*, of that, too */
	__u16 op;
	__u16 status; /* the block layer's BLK_STS_*; 0: done */
	__u32 pad;
};

/* What a request did for a file. Comes before the request's record. */
struct event_bio {
	struct event_header
		header; /* of the task that queued it; 0: the kernel did. From then on */
	__u64 request;
	__u64 duration_ns;
	__u64 queue_ns; /* of it, before the driver got the request */
	__u64 sector;
	__s64 offset; /* in the file; -1: not known */
	__u32 dev;
	__u32 file; /* 0: none, or not known */
	__u32 bytes;
	__u32 flags; /* TRACE_BLOCK_* */
	__u32 op;
	__u32 pad;
};

/* A request's record may have that of its only recorded bio behind it. */
struct event_request_single {
	struct event_request request; /* its size is that of both */
	struct event_bio bio;
};

/* What a device did, whoever it was for: kept per CPU and device, by class of requests as
 * /proc/diskstats has them. */
enum device_class {
	DEVICE_READ,
	DEVICE_WRITE,
	DEVICE_DISCARD,
	DEVICE_FLUSH,
	DEVICE_CLASSES,
};

struct device_counts {
	__u64 requests; /* that ended */
	__u64 bytes;
	__u64 merges;	/* of bios and of requests into others; or DEVICE_NOT_COUNTED */
	__u64 requeues; /* given back by the driver, to be given to it again; or ... */
	__u64 errors;
	__u64 time_ns; /* from when they were made to their ends, summed up */
};

struct device_total {
	struct device_counts of[DEVICE_CLASSES];
	__u64 kernel_metadata_bytes; /* that kernel threads queued to be written */
};

#define DEVICE_NOT_COUNTED (~0ull)
#define DEVICES_MOST 512
#define SECTOR_BYTES 512 /* whatever the device's own are */

struct device_name {
	char text[32];
};

/* Made by the user side from both, now and then: a device's counts so far. */
struct event_device {
	struct event_header header;
	struct device_name name;
	struct device_total total;
	__u32 dev;
	__u32 pad;
};

/* Kinds of files, as --file-types names them. */
#define FILE_CLASS_REG (1u << 0)
#define FILE_CLASS_DIR (1u << 1)
#define FILE_CLASS_BLK (1u << 2)
#define FILE_CLASS_CHR (1u << 3)
#define FILE_CLASS_FIFO (1u << 4)
#define FILE_CLASS_SOCK (1u << 5)
#define FILE_CLASS_ANON (1u << 6)

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
#define CALL_MADVISE (1u << 9)
#define CALL_OPEN_HOW (1u << 10)   /* open flags are in a struct open_how */
#define CALL_OPEN_FLAGS (1u << 11) /* `length` names the open flags instead */
#define CALL_CLOSES (1u << 12)
#define CALL_PLAIN (1u << 13)	/* the short way will do: set by shape when the table is filled */
#define CALL_WRITES (1u << 14)	/* pages that it brings into its file's cache are its own making */
#define CALL_REQUEST (1u << 15) /* which call it is, its argument `request` says: see below */
#define CALL_RING                                                                                  \
	(1u << 16)	      /* `request` points to a struct io_uring_params, whose SQPOLL it is  \
			       */
#define CALL_EXECS (1u << 17) /* once done, its file is the program that runs then */
#define CALL_SUBMITS (1u << 18)	   /* a positive result is a number of operations that begin */
#define CALL_AIO_SUBMIT (1u << 19) /* io_submit */
#define CALL_AIO_REAP (1u << 20)   /* a positive result is a number of events, at its argument 4 */

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
#define ASYNC_MULTISHOT_MOST 1024
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

/* The first word of a task's state; the user side arms the command. */
enum task_mode {
	TASK_IGNORED,
	TASK_ARMED,    /* followed from its next exec on */
	TASK_FOLLOWED, /* and with it every task that it creates */
};

/* Functions by which the kernel reads, writes and syncs files. */
enum vfs_function {
	VFS_READ,
	VFS_WRITE,
	VFS_READV,
	VFS_WRITEV,
	VFS_KERNEL_READ,
	VFS_KERNEL_WRITE,
	VFS_ITER_READ,
	VFS_ITER_WRITE,
	VFS_IOCB_ITER_READ,
	VFS_IOCB_ITER_WRITE,
	VFS_SPLICE_READ,
	VFS_SPLICE_WRITE,
	VFS_FSYNC_RANGE,
	VFS_FUNCTIONS,
};

/* What a recording attaches to. */
enum attach_to {
	ATTACH_NOTHING, /* a command is run */
	ATTACH_PROCESSES,
	ATTACH_CGROUP,
	ATTACH_ALL,
};

#define ATTACH_ANYBODY (~0u)
#define ATTACH_FAMILY_MOST 4096 /* processes that are named */

/* The mark of such a process. */
enum attach_mark {
	ATTACH_NOT_NAMED,
	ATTACH_NAMED,
	ATTACH_MET, /* by the iterator over tasks */
};

/* A task that the iterator has found and that is followed from then on. */
struct attach_row {
	__u64 armed_ns;
	__u64 started_ns; /* the process; CLOCK_MONOTONIC */
	__u64 cgroup_id;  /* of the second version's hierarchy */
	__u64 cgroup_set; /* as event_exec has it */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 uid;
	char comm[EVENT_COMM_BYTES]; /* of the process */
};

/* Operations that are no system calls come first in the table of operations. */
enum {
	OP_NONE,
	OP_UNDECODED, /* calls of 32-bit programs */
	OP_FAULT,
	OP_ANONYMOUS_FAULT,
	OP_SHMEM_FAULT,
	OP_PAGECACHE,
	OP_UNKNOWN_FAULT,
	OP_INDIRECT,
	OP_DIRTIED,
	OP_THROTTLED,
	OP_REQUEST_READ, /* and so on, by enum device_class */
	OP_REQUEST_WRITE,
	OP_REQUEST_DISCARD,
	OP_REQUEST_FLUSH,
	OP_VFS, /* and as many as there are functions; once more for what is told apart */
	OP_VFS_APART = OP_VFS + VFS_FUNCTIONS,
	OP_FIRST_CALL = OP_VFS_APART + VFS_FUNCTIONS,
};
#define OP_TABLE_SIZE 256

/* A process has mapped code from a file, at an address and for a length as mmap() has them. */
struct event_code {
	struct event_header header;
	__u64 address;
	__u64 bytes;
};

/*
 * Markers: the USDT probes of provider "faultline". Where the arguments of one stand is told by the
 * note that describes it, and read from there by the kernel side: one row per marker attached to.
 */
enum marker_kind {
	MARKER_SPAN_BEGIN,
	MARKER_SPAN_END,
	MARKER_SPAN_RECORD,
	MARKER_INSTANT,
	MARKER_KIND_COUNT,
};

#define MARKER_ARGS_MAX 7
#define MARKER_SPECS_MAX 1024

/* Registers are told by their offset in struct pt_regs, as a uprobe sees it. */
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
#define MARKER_REGISTERS_BYTES 272
#else
#define MARKER_REGISTERS_BYTES 168
#endif

enum marker_source {
	MARKER_CONSTANT, /* `value` */
	MARKER_REGISTER, /* what `base` holds */
	MARKER_MEMORY,	 /* at `value` + what `base` holds + `scale` times what `index` holds */
};

struct marker_arg {
	__s64 value;
	__u16 base, index;
	__u8 source; /* enum marker_source */
	__u8 scale;  /* 0: no index */
	__u8 bytes;
	__u8 is_signed;
};

struct marker_spec {
	__u32 kind;
	__u32 pad;
	struct marker_arg args[MARKER_ARGS_MAX]; /* one that the marker has not is a constant 0 */
};

/*
 * Lanes: slots of one size for the records that come by the million. `ready` of a slot is its
 * number plus one once it holds the record of that number; the numbers of a lane count up from 0,
 * and number n stands in slot n modulo the number of slots.
 *
 * A slot is a cache line: it travels from the CPU that writes it to the one that reads it. `op`
 * says what stands in it. What has no room there (a long call, one that faulted) goes through the
 * ring as event_syscall.
 */
struct lane_call {
	__u64 time_ns;
	__s64 offset;
	__u64 asked_bytes;
	__s64 result;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 duration_ns;
	__u16 op;
	__u16 flags; /* TRACE_OP_* */
	__u16 fetched_pages;
	__u16 created_pages;
};

struct lane_fault {
	__u64 time_ns;
	__u64 offset;
	__u64 duration_ns;
	__u32 dirtied_pages;
	__u32 pad;
	__u32 pid;
	__u32 tid;
	__u32 file;
	__u32 flags; /* TRACE_FAULT_* */
	__u16 op;    /* OP_FAULT */
	__u16 pad2;
	__u32 fetched_pages;
};

struct lane_slot {
	__u64 ready;
	union {
		struct lane_call call;
		struct lane_fault fault;
	};
};

/* One cache line for each side to write. */
struct lane_control {
	__u64 given; /* by the kernel side: the next number */
	__u64 pad[7];
	__u64 taken; /* by the user side: the first number not taken yet */
	__u64 pad2[7];
};

/*
 * Flight recorder: the slots of all lanes are one memory that wraps. Numbers are taken from it in
 * chunks; a chunk is one lane's. `given` of a lane's control is then the next number of its chunk,
 * `taken` counts its records; one more control has the next chunk's number in `given`. `ready` of a
 * slot is its number plus one, with its lane; or says that it is being written.
 *
 * A lane leaves a chunk when the others have come a part of the memory farther: so what was written
 * since all but that part was given is there still.
 */
#define FLIGHT_CHUNK 64
#define FLIGHT_STALE_PART 16
#define FLIGHT_BUSY (1ull << 63)
#define FLIGHT_LANE_SHIFT 48
#define FLIGHT_NUMBER_MASK ((1ull << FLIGHT_LANE_SHIFT) - 1)
#define FLIGHT_SLOTS_LEAST(lanes) ((__u64)(lanes)*FLIGHT_CHUNK * FLIGHT_STALE_PART * 2)

/* An operation that took long: the first since the reader has looked. */
enum flight_slow_state { FLIGHT_SLOW_NONE, FLIGHT_SLOW_TELLING, FLIGHT_SLOW_TOLD };

struct flight_slow {
	__u64 state; /* enum flight_slow_state; the reader sets it back */
	__u64 start_ns;
	__u64 duration_ns;
	__u32 pid;
	__u32 file;
	__u32 op;
	__u32 pad;
};

/* Kept per CPU and operation; counts everything, whether its record was written or lost. */
struct op_total {
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 time_ns;
	__u64 fetched_pages;
	__u64 created_pages;
	__u64 submissions;
};

/*
 * Mode profile: operations are summed up by process, file and operation in slots of memory that
 * both sides have mapped. Slots count up and are never set back: the reader takes differences. Each
 * is of one CPU, so that nobody else writes to its cache lines; the reader adds up what is alike.
 */
enum profile_mode {
	PROFILE_OFF,  /* a record for each operation */
	PROFILE_ON,   /* none */
	PROFILE_AUTO, /* none of processes that do more than so many a second */
};

struct profile_key {
	__u32 pid;
	__u32 file;
	__u32 file2; /* that a transfer writes */
	__u16 op;
	__u16 cpu;
	__u32 flags; /* TRACE_PROFILE_* */
	__u32 pad;
};

enum profile_state {
	PROFILE_FREE,
	PROFILE_TAKING, /* its key is being written */
	PROFILE_USED,
	PROFILE_RETIRED, /* set by the reader, which gives it back once nobody adds to it any more
			  */
};

/* Classes of durations: below 64 ns, below 128, and so on by powers of two; the last is open. Those
 * of sizes: up to 1 KiB, 2 KiB, ... 4 GiB, above. */
#define PROFILE_LATENCIES 32
#define PROFILE_LATENCY_SHIFT 6
#define PROFILE_SIZES 24
#define PROFILE_SIZE_SHIFT 10

/* Everything that counts up. */
struct profile_sums {
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 time_ns;
	__u64 fetched_pages;
	__u64 fault_fetched_pages;
	__u64 created_pages;
	__u64 dirtied_pages;
	__u64 major_faults;
	__u32 latencies[PROFILE_LATENCIES];
	__u32 sizes[PROFILE_SIZES]; /* of what was asked for */
};

struct profile_slot {
	__u64 state; /* enum profile_state */
	struct profile_key key;
	__u64 first_ns; /* start of the first operation under this key */
	__u64 last_ns;	/* ... of the last one */
	struct profile_sums sums;
	__u64 pad[5];
};

/*
 * The slots: first those that any key may take, then those for keys of TRACE_FILE_OTHER, last one
 * for each operation and variant of it, for what found no slot among either: of nobody's process.
 * How many of the first there are is a setting, a power of two.
 */
#define PROFILE_OTHERS 1024 /* for TRACE_FILE_OTHER, a power of two */
#define PROFILE_VARIANTS 4
#define PROFILE_RESTS (OP_TABLE_SIZE * PROFILE_VARIANTS)
#define PROFILE_PROBES 8 /* places next to each other that a key may be at */

/* Processes that are watched for how much they do (PROFILE_AUTO), by the low bits of their ids. */
#define PROFILE_RATES 4096
struct profile_rate {
	__u64 leader; /* address of the process's first task, compared only */
	__u64 since_ns;
	__u32 count; /* since then */
	__u32 summed;
};

/* Kept per CPU and record kind. */
struct kind_total {
	__u64 events;
	__u64 lost;
};

/* Counters of things that should not happen, or that explain a number; one word each, per CPU. */
enum {
	NOTE_UNFOLLOWED,    /* a child could not be followed: no memory for its state */
	NOTE_FAULT_UNTIMED, /* a fault whose start or end was not seen */
	NOTE_PRIVILEGED,    /* a program gained rights at its exec and was not followed into */
	NOTE_ASYNC_BEFORE,  /* an operation that was submitted before the recording */
	NOTE_COUNT,
};

_Static_assert(__builtin_offsetof(struct lane_call, op) ==
		       __builtin_offsetof(struct lane_fault, op),
	       "op tells them apart");
#ifdef __bpf__
#define EVENT_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), #type)
#else
#define EVENT_SIZE(type, bytes) static_assert(sizeof(struct type) == (bytes), #type)
#endif
EVENT_SIZE(event_header, 24);
EVENT_SIZE(event_syscall, 88);
EVENT_SIZE(event_syscall_path, 104);
EVENT_SIZE(event_async, 112);
EVENT_SIZE(event_vfs, 64);
EVENT_SIZE(event_pagecache, 48);
EVENT_SIZE(event_throttle, 40);
EVENT_SIZE(event_fork, 32);
EVENT_SIZE(event_exec, 80);
EVENT_SIZE(event_environ, 32);
EVENT_SIZE(event_exit, 64);
EVENT_SIZE(event_file, 96);
EVENT_SIZE(event_span, 40);
EVENT_SIZE(event_span_end, 32);
EVENT_SIZE(event_code, 40);
EVENT_SIZE(event_request, 96);
EVENT_SIZE(event_bio, 88);
EVENT_SIZE(event_device, 264);
EVENT_SIZE(attach_row, 64);
EVENT_SIZE(marker_arg, 16);
EVENT_SIZE(marker_spec, 120);
EVENT_SIZE(lane_call, 56);
EVENT_SIZE(lane_fault, 56);
EVENT_SIZE(lane_slot, 64);
EVENT_SIZE(lane_control, 128);
EVENT_SIZE(flight_slow, 40);
EVENT_SIZE(profile_key, 24);
EVENT_SIZE(profile_slot, 384);
EVENT_SIZE(profile_rate, 24);
#undef EVENT_SIZE

#endif
