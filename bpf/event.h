/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What crosses from the kernel side to the user side: records in the rings, and the tables that
 * both read. Fixed width, no padding that is not spelled out; kinds are append only. How calls are
 * decoded, how markers are read, and the memory that both sides have mapped have headers of their
 * own.
 */
#ifndef FAULTLINE_EVENT_H
#define FAULTLINE_EVENT_H

#include "event_base.h"
#include "event_call.h"
#include "event_in_flight.h"
#include "event_lane.h"
#include "event_marker.h"
#include "event_profile.h"
#include "user/trace/flags.h"

/* Stands for the kernel's function bpf_rdonly_cast until a program is loaded: no helper's number.
 */
#define RDONLY_CAST_CALL 0x7ffffff0

enum record_kind {
	RECORD_NONE,
	RECORD_SYSCALL,
	RECORD_SYSCALL_PATH,
	RECORD_FAULT,
	RECORD_PAGECACHE,
	RECORD_FORK,
	RECORD_EXEC,
	RECORD_EXIT,
	RECORD_FILE,
	RECORD_SPAN_BEGIN,
	RECORD_SPAN_END,
	RECORD_INSTANT,
	RECORD_CODE,
	RECORD_THROTTLE,
	RECORD_REQUEST,
	RECORD_BIO,
	RECORD_DEVICE,
	RECORD_ASYNC,
	RECORD_VFS,
	RECORD_KIND_COUNT,
};

#define EVENT_PATH_BYTES 4096	    /* of one path, its NUL included */
#define EVENT_ASYNC_PATH_BYTES 1024 /* ... that an operation in flight names */
#define EVENT_COMMAND_BYTES 4096    /* of a command line that is kept */
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
	__u16 pad;
	__u32 fetched_pages;
	__u32 fault_fetched_pages;
	__u32 major_faults;
	__u32 created_pages;
	__u32 dirtied_pages;
	__u32 read_for_write_bytes;
	__u32 open_file; /* see open_file_of; 0: not known */
	__u32 flags;	 /* TRACE_OP_* */
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
	struct event_syscall call;
	__u32 file2;
	__u32 dir;
	__u32 dir2;
	__u16 path_bytes;  /* without a NUL */
	__u16 path2_bytes; /* follows the first */
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

/* Environment variables that name a rank, the one that counts first first. Nothing else of an
 * environment leaves its process. */
#define EVENT_RANK_VARIABLES(X)                                                                    \
	X("RANK") X("SLURM_PROCID") X("OMPI_COMM_WORLD_RANK") X("PMI_RANK") X("PMIX_RANK")
#define EVENT_RANK_COUNT 5
#define EVENT_RANK_BYTES 12 /* of a value, its NUL included; a longer one is no rank */

struct event_ranks {
	char value[EVENT_RANK_COUNT][EVENT_RANK_BYTES]; /* "": it has no such variable */
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
	struct event_ranks ranks;
	__u32 pad;
	char command[];
};

struct event_exit {
	struct event_header header;
	__u64 major_faults; /* of this thread */
	__u64 minor_faults;
	char comm[EVENT_COMM_BYTES];
	__u32 process_ends;
	__s32 code; /* wait status of the process */
	__u32 oom;  /* 1: the OOM killer chose this thread's process */
	__u32 pad;
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
	__u32 capacity_pages; /* of the file system, if that is tmpfs; 0: none, or not known */
	__u32 names_bytes;
	char names[]; /* path components from the leaf to the root, each with its NUL */
};

/* What the kernel side's tables hold of a file, where they tell it by its identity. */
struct file_entry {
	__u32 id;	 /* 0: none; maybe with FILE_UNTOLD */
	__u32 name_hash; /* of the path that was told: a rename changes it; 0: none was */
	__s64 size_bytes;
	__u32 turn; /* when its id was given out: see file.h */
	__u32 pad;
};

/* With an id: what it stands for could not be told, so that it must not be remembered. */
#define FILE_UNTOLD (1u << 31)

/* Of RECORD_SPAN_BEGIN, and with id 0 of RECORD_INSTANT. */
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
#define DEVICES_MOST_LOG 9
#define DEVICES_MOST (1 << DEVICES_MOST_LOG)

struct device_name {
	char text[32];
};

/* Where a device's number is found, and what it was called when it was first met. */
struct device_place {
	__u64 taken;		 /* by which: DEVICE_TAKEN(its dev_t); 0: it is free */
	struct device_name name; /* empty until it is known */
};

#define DEVICE_TAKEN(dev) ((dev) + 1ull)

/* Made by the user side from both, now and then: a device's counts so far. */
struct event_device {
	struct event_header header;
	struct device_name name;
	struct device_total total;
	/* At the end: requests that /proc/diskstats has beyond these. */
	__u64 unseen_reads, unseen_read_bytes;
	__u64 unseen_writes, unseen_write_bytes;
	__u32 dev;
	__u32 pad;
};

/*
 * Paths of cgroups of the second version's hierarchy as they were made or joined: whoever looks one
 * up by its id later finds nothing where it is gone. In memory that both sides have mapped, by the
 * low bits of the id; a later one takes the place of an earlier one.
 */
#define CGROUP_PLACES 4096 /* a power of two */
#define CGROUP_PATH_BYTES 504
struct cgroup_place {
	__u64 id; /* 0: none, or it is being written */
	char path[CGROUP_PATH_BYTES];
};
EVENT_SIZE(cgroup_place, 512);

/* Kinds of files, as --file-types names them. */
#define FILE_CLASS_REG (1u << 0)
#define FILE_CLASS_DIR (1u << 1)
#define FILE_CLASS_BLK (1u << 2)
#define FILE_CLASS_CHR (1u << 3)
#define FILE_CLASS_FIFO (1u << 4)
#define FILE_CLASS_SOCK (1u << 5)
#define FILE_CLASS_ANON (1u << 6)

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
	__u32 local_pid;	     /* in the namespace of who reads the iterator */
	__u32 pad;
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

/* Kept per CPU and operation; counts everything, whether its record was written or lost. */
struct op_total {
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 time_ns;
	__u64 fetched_pages;
	__u64 created_pages;
	__u64 read_for_write_bytes;
	__u64 submissions;
	__u64 major_faults; /* of operations that are faults */
};

/* Kept per CPU and record kind. */
struct kind_total {
	__u64 events;
	__u64 lost;
};

/* Counters of things that should not happen, or that explain a number; one word each, per CPU. */
enum {
	NOTE_UNFOLLOWED,     /* a child could not be followed: no memory for its state */
	NOTE_FAULT_UNTIMED,  /* a fault whose start or end was not seen */
	NOTE_PRIVILEGED,     /* a program gained rights at its exec and was not followed into */
	NOTE_ASYNC_BEFORE,   /* an operation that was submitted before the recording */
	NOTE_BIO_END_UNSEEN, /* a bio's address came again before its end was seen */
	NOTE_COUNT,
};

EVENT_SIZE(event_header, 24);
EVENT_SIZE(event_syscall, 96);
EVENT_SIZE(event_syscall_path, 112);
EVENT_SIZE(event_async, 112);
EVENT_SIZE(event_vfs, 64);
EVENT_SIZE(event_pagecache, 48);
EVENT_SIZE(event_throttle, 40);
EVENT_SIZE(event_fork, 32);
EVENT_SIZE(event_exec, 144);
EVENT_SIZE(event_exit, 72);
EVENT_SIZE(event_file, 96);
EVENT_SIZE(event_span, 40);
EVENT_SIZE(event_span_end, 32);
EVENT_SIZE(event_code, 40);
EVENT_SIZE(event_request, 96);
EVENT_SIZE(event_bio, 88);
EVENT_SIZE(event_device, 296);
EVENT_SIZE(attach_row, 72);

#endif
