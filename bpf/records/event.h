/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the kernel side and the user side: the records in the rings and the tables that both
 * read. All fields have a fixed width, padding is explicit, and kinds are append-only. Call
 * decoding, markers and shared mapped memory have their own headers.
 */
#pragma once

#include "bpf/fuse/fuse_operations.h"
#include "bpf/netfs/netfs_operations.h"
#include "bpf/nfs/nfs_operations.h"
#include "bpf/p9/p9_operations.h"
#include "bpf/records/event_base.h"
#include "bpf/records/event_call.h"
#include "bpf/records/event_lane.h"
#include "bpf/records/event_marker.h"
#include "bpf/records/event_native.h"
#include "bpf/records/event_profile.h"
#include "bpf/records/event_python.h"
#include "bpf/records/event_thread.h"
#include "bpf/vfs/vfs_functions.h"
#include "user/trace/format/columns.h"
#include "user/trace/format/flags.h"
#include "user/trace/format/layers.h"

/* Placeholder for the kernel function bpf_rdonly_cast until a program is loaded; not a helper
 * number. */
#define RDONLY_CAST_CALL 0x7ffffff0

#define RING_WAKE_PART 4 /* the reader of a ring is woken when 1/4 of it is filled */

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
	RECORD_THREAD_TIME,
	RECORD_WAIT,
	RECORD_FRAME,
	RECORD_STACK,
	RECORD_SAMPLE,
/* Requests to servers: a kind for each layer. */
#define RECORD_OF_SERVER(id, ...) RECORD_##id,
	TRACE_SERVER_LAYERS(RECORD_OF_SERVER) RECORD_KIND_COUNT,
};

#define EVENT_PATH_BYTES 4096	    /* one path, including its NUL */
#define EVENT_ASYNC_PATH_BYTES 1024 /* one path of an async operation */
#define EVENT_COMMAND_BYTES 4096    /* longest command line that is kept */
#define EVENT_SPAN_NAME_BYTES 255
#define EVENT_SPAN_CATEGORY_BYTES 63
#define EVENT_SPAN_ARGS_BYTES 1024
#define EVENT_SPAN_TEXT_BYTES 512 /* for name and category */
#define SAMPLE_RUNS_UNKNOWN 0xffffffffu
#define EVENT_FRAME_PATH_BYTES 512
#define EVENT_FRAME_FUNCTION_BYTES 256
#define EVENT_FRAME_TABLE_BYTES 65536 /* longest table of lines that is kept */

struct event_header {
	__u64 time_ns; /* CLOCK_MONOTONIC: start of the operation or time of the event */
	__u16 kind;
	__u16 cpu;
	__u32 size; /* whole record, in bytes */
	__u32 pid;
	__u32 tid;
};

/* Environment variables that name a rank, in order of precedence. Nothing else of an environment
 * leaves its process. */
#define EVENT_RANK_VARIABLES(X)                                                                    \
	X("RANK") X("SLURM_PROCID") X("OMPI_COMM_WORLD_RANK") X("PMI_RANK") X("PMIX_RANK")
#define EVENT_RANK_COUNT 5
#define EVENT_RANK_BYTES 12 /* one value, including its NUL; longer values are not ranks */

struct event_ranks {
	char value[EVENT_RANK_COUNT][EVENT_RANK_BYTES]; /* "": variable not set */
};

/* A file in the kernel side's tables, found by its identity. */
struct file_entry {
	__u32 id;	 /* 0: none; may include FILE_UNANNOUNCED */
	__u32 name_hash; /* hash of the announced path, changed by a rename; 0: none announced */
	__s64 size_bytes;
	__u32 epoch; /* when the id was assigned: see file.h */
	__u32 pad;
};

/* Flag in an id: the file's record was lost, so the id must not be remembered. */
#define FILE_UNANNOUNCED (1u << 31)

/* All activity of a device or served mount, from any process, counted per CPU and device.
 * Classes as in /proc/diskstats; other requests to servers of mounts are not counted here. */
enum device_class {
	DEVICE_READ,
	DEVICE_WRITE,
	DEVICE_DISCARD,
	DEVICE_FLUSH,
	DEVICE_CLASSES,
};

struct device_counts {
	__u64 requests; /* completed requests */
	__u64 bytes;
	__u64 merges;	/* bios and requests merged into others; or DEVICE_NOT_COUNTED */
	__u64 requeues; /* returned by the driver to be issued again; or DEVICE_NOT_COUNTED */
	__u64 errors;
	__u64 time_ns; /* sum over requests, from creation to completion */
};

struct device_total {
	struct device_counts of[DEVICE_CLASSES];
	__u64 kernel_metadata_bytes; /* queued for writing by kernel threads */
};

/* Calls to the server of an NFS mount, by class. Servers get no discards: DEVICE_OTHER_CALLS are
 * those that are neither reads, writes nor commits. */
#define DEVICE_OTHER_CALLS DEVICE_DISCARD
struct device_calls {
	__u64 calls;
	__u64 retransmits;
	__u64 round_trip_ns; /* summed, each from the last transmission to the reply */
};

#define DEVICE_NOT_COUNTED (~0ull)
#define DEVICES_MAX_LOG 9
#define DEVICES_MAX (1 << DEVICES_MAX_LOG)

struct device_name {
	char text[128]; /* of a mount: its source and type; longer ones are cut */
};

/* Slot of a device, whose index is the device's number, with the name it had when first seen. A
 * later device with the same dev_t is another instance, with a slot of its own. */
struct device_slot {
	__u64 taken; /* DEVICE_TAKEN() of the device; 0: free, DEVICE_FREED */
	__u64 named; /* the names below are complete */
	struct device_name name;
	/* Type of a mount's file system; empty for a disk. */
	char type[16];
	char subtype[16];
	/* From any process and CPU. A later device that gets the slot counts on from there. */
	struct device_calls calls[DEVICE_CLASSES];
};

#define DEVICE_TAKEN(dev, instance) (((__u64)(instance) << 32 | (dev)) + 1)
#define DEVICE_FREED (~0ull) /* by the user side: taken before, and searches go on behind it */

/*
 * The records, from the lists in columns.h, with the sizes of their fixed parts. The lists also
 * have the parts that follow. Records of CPU buffers are in event_lane.h.
 */
#define EVENT_COLUMN(id, number, name, type, unit, source, meaning) EVENT_##source
#define EVENT_MEMBER(type, field) type field;
#define EVENT_FIELD EVENT_MEMBER
#define EVENT_PAGES EVENT_MEMBER
#define EVENT_RARE EVENT_MEMBER
#define EVENT_RARE_PAGES EVENT_MEMBER
#define EVENT_CALL EVENT_MEMBER
#define EVENT_TEXT(bytes, field) char field[bytes];
#define EVENT_HEAD(field)
#define EVENT_PART(member)
#define EVENT_PART_TEXT(member)
#define EVENT_BY_HAND

#define EVENT_RECORD(name, head, ID, bytes)                                                        \
	struct name {                                                                              \
		head;                                                                              \
		TRACE_FIELDS_##ID(EVENT_COLUMN, EVENT_MEMBER)                                      \
	};                                                                                         \
	EVENT_SIZE(name, bytes)

EVENT_RECORD(event_syscall, struct event_header header, SYSCALL, 96);
EVENT_RECORD(event_syscall_path, struct event_syscall call, PATHS, 112);
EVENT_RECORD(event_async, struct event_syscall call, PATHS, 112);
EVENT_RECORD(event_vfs, struct event_header header, VFS, 64);
EVENT_RECORD(event_pagecache, struct event_header header, PAGECACHE, 48);
EVENT_RECORD(event_throttle, struct event_header header, THROTTLE, 40);
EVENT_RECORD(event_fork, struct event_header header, FORK, 32);
EVENT_RECORD(event_exec, struct event_header header, EXEC, 144);
EVENT_RECORD(event_exit, struct event_header header, EXIT, 88);
EVENT_RECORD(event_file, struct event_header header, FILE, 104);
EVENT_RECORD(event_span, struct event_header header, SPAN_BEGIN, 40); /* and instants */
EVENT_RECORD(event_span_end, struct event_header header, SPAN_END, 32);
EVENT_RECORD(event_request, struct event_header header, REQUEST, 96);
EVENT_RECORD(event_bio, struct event_header header, BIO, 88);
EVENT_RECORD(event_device, struct event_header header, DEVICE, 488);
EVENT_RECORD(event_thread_time, struct event_header header, THREAD_TIME, 152);
EVENT_RECORD(event_wait, struct event_header header, WAIT, 64);
EVENT_RECORD(event_frame, struct event_header header, FRAME, 824);
EVENT_RECORD(event_stack, struct event_header header, STACK, 56);
EVENT_RECORD(event_sample, struct event_header header, SAMPLE, 88);
EVENT_RECORD(event_remote, struct event_header header, REMOTE, 112);

#include "bpf/records/event_in_flight.h"

/* A request followed by its only recorded bio, in one record. */
struct event_request_single {
	struct event_request request; /* header.size covers both */
	struct event_bio bio;
};

/* A sample with the thread's registers and a copy of its stack, in one record. */
struct event_native_sample {
	struct event_sample sample; /* header.size covers all of it */
	struct native_copy copy;
};

/*
 * Paths of cgroup v2 cgroups, stored when the cgroups are created or joined: a later lookup by id
 * fails once a cgroup has been removed. The table is shared mapped memory, indexed by the low bits
 * of the id; a later entry replaces an earlier one.
 */
#define CGROUP_SLOTS 4096 /* a power of two */
#define CGROUP_PATH_BYTES 504
struct cgroup_slot {
	__u64 id; /* 0: empty, or being written */
	char path[CGROUP_PATH_BYTES];
};
EVENT_SIZE(cgroup_slot, 512);

/* File types, as --file-types names them. */
#define FILE_CLASS_REG (1u << 0)
#define FILE_CLASS_DIR (1u << 1)
#define FILE_CLASS_BLK (1u << 2)
#define FILE_CLASS_CHR (1u << 3)
#define FILE_CLASS_FIFO (1u << 4)
#define FILE_CLASS_SOCK (1u << 5)
#define FILE_CLASS_ANON (1u << 6)

/* First word of a task's state. The user side arms the command. */
enum task_mode {
	TASK_IGNORED,
	TASK_ARMED,    /* followed from its next exec */
	TASK_FOLLOWED, /* followed, like every task it creates */
};

/* Kernel functions that read, write and sync files. */
#define VFS_ENUM(id, ...) VFS_##id,
enum vfs_function {
	VFS_OPERATIONS(VFS_ENUM) VFS_FUNCTIONS,
};

/* Kinds of targets that a recording attaches to. */
enum attach_to {
	ATTACH_NOTHING, /* runs a command */
	ATTACH_PROCESSES,
	ATTACH_CGROUP,
	ATTACH_ALL,
};

#define ATTACH_ANYBODY (~0u)
#define ATTACH_FAMILY_MAX 4096 /* named processes */

/* Mark on a named process. */
enum attach_mark {
	ATTACH_NOT_NAMED,
	ATTACH_NAMED,
	ATTACH_MET, /* the task iterator has found it */
};

/* A task that the iterator has found and that is followed from then on. */
struct attach_row {
	__u64 armed_ns;
	__u64 started_ns; /* start of the process; CLOCK_MONOTONIC */
	__u64 cgroup_id;  /* cgroup v2 */
	__u64 cgroup_set; /* see event_exec */
	__u32 pid;
	__u32 tid;
	__u32 ppid;
	__u32 uid;
	char comm[EVENT_COMM_BYTES]; /* name of the process */
	__u32 local_pid;	     /* in the PID namespace of the iterator's reader */
	__u32 pad;
};

/* Operations that are not system calls come first in the table of operations. */
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
	OP_REQUEST_READ, /* in the order of enum device_class */
	OP_REQUEST_WRITE,
	OP_REQUEST_DISCARD,
	OP_REQUEST_FLUSH,
	OP_VFS, /* one per function, then once more per function for those counted separately */
	OP_VFS_APART = OP_VFS + VFS_FUNCTIONS,
	OP_FIRST_CALL = OP_VFS_APART + VFS_FUNCTIONS,
};
/* Requests to servers of file systems follow, by layer. Mode profile does not aggregate them. */
#define OP_PROFILED_SIZE 256
enum {
	OP_PROFILED_LAST = OP_PROFILED_SIZE - 1,
#define OP_OF_SERVER(id, ...) OP_##id, OP_##id##_LAST = OP_##id + id##_OPERATION_COUNT - 1,
	TRACE_SERVER_LAYERS(OP_OF_SERVER) OP_COUNT,
};
#define OP_TABLE_SIZE 512

/* A process has mapped code from a file; address and length as passed to mmap(). */
struct event_code {
	struct event_header header;
	__u64 address;
	__u64 bytes;
	struct code_file file; /* ino 0: it is not an interpreter, or one that is known */
};

/* Kept per CPU and operation. Counts every operation, whether its record was written or lost. */
struct op_total {
	__u64 count;
	__u64 errors;
	__u64 bytes;
	__u64 time_ns;
	__u64 fetched_pages;
	__u64 created_pages;
	__u64 read_for_write_bytes;
	__u64 submissions;
	__u64 major_faults; /* operations that are major faults */
};

/* Kept per CPU and record kind. */
struct kind_total {
	__u64 events;
	__u64 lost;
};

/* Counters of unexpected events and of events that explain a number; one word each, per CPU. */
enum {
	NOTE_UNFOLLOWED,     /* no memory for the state of a child, which is not followed */
	NOTE_FAULT_UNTIMED,  /* the start or end of a fault was missed */
	NOTE_PRIVILEGED,     /* setuid program that was not followed */
	NOTE_ASYNC_BEFORE,   /* operation submitted before the recording began */
	NOTE_BIO_END_UNSEEN, /* a bio's address was reused before its end was seen */
/* Counted by the user side: for how long requests to servers of a layer were not seen. */
#define NOTE_OF_SERVER(id, ...) NOTE_##id##_UNSEEN_NS,
	TRACE_SERVER_LAYERS(NOTE_OF_SERVER) NOTE_COUNT,
};

EVENT_SIZE(event_header, 24);
EVENT_SIZE(event_code, 56);
EVENT_SIZE(attach_row, 72);
