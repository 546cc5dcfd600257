/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The module netfs: reads and writes of network file systems. These are types of a module: read
 * them with bpf_core_read.
 */
#pragma once

#include "fs.h"
#include "types.h"

/* Relocated. They have the size of the kernel's. */
enum netfs_io_source {
	NETFS_DOWNLOAD_FROM_SERVER = 2,
	NETFS_UPLOAD_TO_SERVER = 5,
} __attribute__((mode(byte)));

enum netfs_sreq_trace {
	netfs_sreq_trace_donate_to_prev = 10,
	netfs_sreq_trace_donate_to_next = 11,
	netfs_sreq_trace_io_progress = 19,
	netfs_sreq_trace_retry = 30,
	netfs_sreq_trace_submit = 33,
	netfs_sreq_trace_terminated = 35,
} __attribute__((mode(byte)));

struct netfs_io_request {
	struct inode *inode;
} CORE_STRUCT;

/* One request to a server. A retry starts where the previous attempt has ended. */
struct netfs_io_subrequest {
	struct netfs_io_request *rreq;
	__u64 start;
	size_t len;
	size_t transferred;
	__s16 error; /* negative */
	enum netfs_io_source source;
} CORE_STRUCT;
