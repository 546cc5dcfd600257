/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * FUSE: requests to daemons.
 */
#pragma once

#include "fs.h"
#include "mm.h"
#include "types.h"

struct pid_namespace {
	unsigned int level; /* 0: the initial one */
} CORE_STRUCT;

struct fuse_conn {
	struct pid_namespace *pid_ns; /* of the process that opened /dev/fuse */
	struct list_head mounts;
} CORE_STRUCT;

struct fuse_mount {
	struct fuse_conn *fc;
	struct super_block *sb;
	struct list_head fc_entry; /* in the list of the connection */
} CORE_STRUCT;

struct fuse_in_arg {
	unsigned int size;
	const void *value;
} CORE_STRUCT;

struct fuse_arg {
	unsigned int size; /* of a reply: what the daemon sent, if it may send less */
	void *value;
} CORE_STRUCT;

struct fuse_args {
	__u64 nodeid;
	__u32 opcode;
	struct fuse_in_arg in_args[3];
	struct fuse_arg out_args[2];
} CORE_STRUCT;

/* Around the arguments of reads and writes. */
struct fuse_args_pages {
	struct fuse_args args;
	struct folio **folios;
} CORE_STRUCT;

/* Before 6.13. */
struct fuse_args_pages___pages {
	struct fuse_args args;
	struct page **pages;
} CORE_STRUCT;

struct fuse_in_header {
	__u32 pid; /* the thread that asks, in the daemon's PID namespace; 0: none, or not in it */
} CORE_STRUCT;

struct fuse_out_header {
	__s32 error;
	__u64 unique; /* 0: the daemon has not replied */
} CORE_STRUCT;

struct fuse_req {
	struct fuse_args *args;
	unsigned long flags;
	struct {
		struct fuse_in_header h;
	} in;
	struct {
		struct fuse_out_header h;
	} out;
	struct fuse_mount *fm;
} CORE_STRUCT;

/* Since 7.2. */
struct fuse_chan {
	struct fuse_conn *conn;
} CORE_STRUCT;

struct fuse_req___chan {
	struct fuse_chan *chan;
} CORE_STRUCT;

/* State of one read or write of /dev/fuse. */
struct fuse_copy_state {
	struct fuse_req *req;
} CORE_STRUCT;

/* Relocated: bits of fuse_req.flags. */
enum fuse_req_flag {
	FR_BACKGROUND = 2,
	FR_INTERRUPTED = 5,
};

/* --- the protocol, which never changes: include/uapi/linux/fuse.h --- */

/* Read, write and readdir begin alike. */
struct fuse_range_in {
	__u64 fh;
	__u64 offset;
	__u32 size;
	__u32 flags; /* of a write: FUSE_WRITE_* */
};

#define FUSE_WRITE_CACHE 1u /* writeback */

#define FUSE_READ 15
#define FUSE_WRITE 16
#define FUSE_FSYNC 20
#define FUSE_READDIR 28
#define FUSE_FSYNCDIR 30
#define FUSE_READDIRPLUS 44
#define FUSE_SYNCFS 50
