/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * NFS clients: their remote procedure calls. These are mostly types of modules, for which there are
 * no plain loads: read them with bpf_core_read.
 */
#pragma once

#include "fs.h"
#include "types.h"

struct rpc_procinfo {
	__u32 p_statidx; /* number of its counts */
	const char *p_name;
} CORE_STRUCT;

struct rpc_message {
	const struct rpc_procinfo *rpc_proc;
	void *rpc_argp, *rpc_resp;
} CORE_STRUCT;

struct rpc_clnt {
	__u32 cl_prog, cl_vers;
} CORE_STRUCT;

struct rpc_rqst {
	unsigned long rq_xmit_bytes_sent; /* of all transmissions */
	unsigned long rq_reply_bytes_recvd;
	int rq_ntrans;
} CORE_STRUCT;

struct rpc_task {
	int tk_status;
	struct rpc_message tk_msg;
	void *tk_calldata;
	struct rpc_clnt *tk_client;
	struct rpc_rqst *tk_rqstp;
	__s64 tk_start; /* since 2.6.38 a ktime_t; set again when it starts over */
} CORE_STRUCT;

struct nfs_fh {
	__u16 size;
} CORE_STRUCT;

struct nfs_inode {
	struct nfs_fh fh;
	struct inode vfs_inode;
} CORE_STRUCT;

/* The first of version 4's arguments, and of some that versions share. */
struct nfs4_sequence_args {
	void *sa_slot;
} CORE_STRUCT;

/* Of CREATE and SYMLINK in version 4. */
struct nfs4_create_arg {
	struct nfs_fh *dir_fh;
} CORE_STRUCT;

/* Arguments and results of a read or write, in its nfs_pgio_header. */
struct nfs_pgio_args {
	__u64 offset;
	__u32 count;
} CORE_STRUCT;

struct nfs_pgio_res {
	__u64 count; /* before 6.1 32 bits */
} CORE_STRUCT;

struct nfs_pgio_header {
	struct inode *inode;
} CORE_STRUCT;

struct nfs_commit_data {
	struct inode *inode;
} CORE_STRUCT;
