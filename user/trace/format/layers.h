/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The layers of a recording, listed once, in the order of a trace's header: LAYER(ID, name, also).
 * LAYER_ID is its number in a recording, `name` its name in --layers, traces and reports. Analyses
 * know that it was recorded as JOB_ID, and as the bits `also` (analysis/job/job.h).
 *
 * Layers of requests to the servers of file systems are listed by themselves:
 * SERVER_LAYER(ID, name, also, mounts, requests, servers), with words for messages. `name` is also
 * the module without which there are no such requests. Kinds of records, operations and notes
 * follow this list, with the same IDs and in the same order.
 */
#pragma once

#define TRACE_LAYERS(LAYER)                                                                        \
	LAYER(TASK, "task", 0)                                                                     \
	LAYER(SYSCALL, "syscall", JOB_MOVED | JOB_IO)                                              \
	LAYER(FAULT, "fault", JOB_IO)                                                              \
	LAYER(PAGECACHE, "pagecache", JOB_OTHER_PAGES)                                             \
	LAYER(SPAN, "span", 0)                                                                     \
	LAYER(BLOCK, "block", JOB_PARTS)                                                           \
	LAYER(ASYNC, "async", JOB_IO)                                                              \
	LAYER(VFS, "vfs", JOB_MOVED | JOB_IO)                                                      \
	LAYER(THREAD, "thread", 0)                                                                 \
	LAYER(STACK, "stack", 0)                                                                   \
	TRACE_SERVER_LAYERS(LAYER)

#define TRACE_SERVER_LAYERS(SERVER_LAYER)                                                          \
	SERVER_LAYER(FUSE, "fuse", JOB_MOUNTS, "FUSE", "requests", "daemons")                      \
	SERVER_LAYER(NFS, "nfs", JOB_MOUNTS, "NFS", "calls", "servers")                            \
	SERVER_LAYER(P9, "9p", JOB_MOUNTS, "9p", "requests", "servers")                            \
	SERVER_LAYER(NETFS, "netfs", JOB_MOUNTS, "CIFS, AFS or Ceph", "requests", "servers")

/* Prose. */
#define LAYER_LISTED(id, name, ...) ", " name
#define LAYERS_LISTED "all, default" TRACE_LAYERS(LAYER_LISTED)
#define SERVER_LAYERS "fuse, nfs, 9p and netfs"
#define SERVED_MOUNT "FUSE, NFS, 9p, CIFS, AFS or Ceph mount"
#define SERVED_MOUNTS "FUSE, NFS, 9p, CIFS, AFS and Ceph mounts"

#define LAYER_ENUM(id, ...) LAYER_##id,
enum layer { TRACE_LAYERS(LAYER_ENUM) LAYER_COUNT };

#define LAYER_BIT(id, ...) | 1u << LAYER_##id
#define LAYERS_OF_SERVERS (0u TRACE_SERVER_LAYERS(LAYER_BIT))

/* Indexed by enum layer. */
extern const char *const layer_names[LAYER_COUNT];
