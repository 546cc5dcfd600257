/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * 9p clients: their requests and files. Except for the first ones, these are types of a module:
 * read them with bpf_core_read.
 */
#pragma once

#include "fs.h"
#include "types.h"

struct xarray {
	void *xa_head;
} CORE_STRUCT;

struct xa_node {
	__u8 shift;
	void *slots[64]; /* or 16 */
} CORE_STRUCT;

struct idr {
	struct xarray idr_rt;
} CORE_STRUCT;

struct p9_client {
	struct idr fids, reqs;
} CORE_STRUCT;

struct p9_qid {
	__u64 path;
} CORE_STRUCT;

/* The number by which client and server know a file. */
struct p9_fid {
	struct p9_client *clnt;
	__u32 fid;
	struct p9_qid qid;
	struct hlist_node dlist; /* in a list that begins at its dentry's d_fsdata, ... */
	struct hlist_node ilist; /* ... or, if it is open, at its inode's i_private */
} CORE_STRUCT;

struct p9_fcall {
	__u32 size;
	__u16 tag;
	__u8 *sdata;
} CORE_STRUCT;

struct p9_req_t {
	unsigned int status;
	int t_err; /* of the transport, negative */
	struct {
		struct {
			int counter;
		} refs;
	} refcount;
	struct p9_fcall tc, rc; /* request and reply */
} CORE_STRUCT;

/* Relocated. */
enum p9_req_status_t {
	REQ_STATUS_ALLOC,
	REQ_STATUS_RCVD = 3,
	REQ_STATUS_ERROR = 5,
};

/* --- the protocol, which never changes --- */

/* Reads, writes and listings begin like this; other requests that are about a file, up to `fid`. */
struct p9_request {
	__u32 size;
	__u8 type;
	__u16 tag;
	__u32 fid;
	__u64 offset;
	__u32 count;
} __attribute__((packed));

/* Replies to reads, writes and listings begin with a count. */
struct p9_reply {
	__u32 size;
	__u8 type;
	__u16 tag;
	__u32 value;
} __attribute__((packed));

#define P9_TREADDIR 40
#define P9_TFSYNC 50
#define P9_TVERSION 100
#define P9_TAUTH 102
#define P9_TFLUSH 108
#define P9_TREAD 116
#define P9_TWRITE 118
