/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The layers of a recording, listed once, in the order of a trace's header: LAYER(ID, name, also).
 * LAYER_ID is its number in a recording, `name` its name in --layers, traces and reports. Analyses
 * know that it was recorded as JOB_ID, and as the bits `also` (analysis/job/job.h).
 */
#ifndef FAULTLINE_TRACE_LAYERS_H
#define FAULTLINE_TRACE_LAYERS_H

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
	LAYER(FUSE, "fuse", JOB_MOUNTS)                                                            \
	LAYER(NFS, "nfs", JOB_MOUNTS)                                                              \
	LAYER(P9, "9p", JOB_MOUNTS)

#define LAYER_ENUM(id, ...) LAYER_##id,
enum layer { TRACE_LAYERS(LAYER_ENUM) LAYER_COUNT };

/* Indexed by enum layer. */
extern const char *const layer_names[LAYER_COUNT];

#endif
