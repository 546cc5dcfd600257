/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Block devices and servers, and requests to them: columns and fields (see columns.h). */
#pragma once

/* clang-format off */
/* A completed block request, or a completed part of one (TRACE_BLOCK_PART). */
#define TRACE_FIELDS_REQUEST(COLUMN, HIDDEN)                                                       \
	COLUMN(REQUEST_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time of creation")                \
	COLUMN(REQUEST_PID, 2, "pid", UINT, NONE, HEAD(pid),                                       \
	       "process that queued its first recorded bio; 0: the kernel")                        \
	COLUMN(REQUEST_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                   \
	COLUMN(REQUEST_ID, 6, "request", UINT, NONE, FIELD(__u64, id),                             \
	       "request id used by its bios")                                                      \
	COLUMN(REQUEST_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                         \
	       "time from creation to completion")                                                 \
	COLUMN(REQUEST_QUEUE, 14, "queue", UINT, NS, FIELD(__u64, queue_ns),                       \
	       "part of the duration before the driver received it")                               \
	COLUMN(REQUEST_SECTOR, 9, "sector", UINT, NONE, FIELD(__u64, sector),                      \
	       "start on the whole device, in sectors of 512 bytes")                               \
	COLUMN(REQUEST_DEV, 7, "dev", UINT, NONE, FIELD(__u32, dev),                               \
	       "whole device, major << 20 | minor")                                                \
	COLUMN(REQUEST_PART, 8, "part", UINT, NONE, FIELD(__u32, part),                            \
	       "partition, or the whole device")                                                   \
	COLUMN(REQUEST_BYTES, 10, "bytes", UINT, BYTES, FIELD(__u32, bytes), "bytes moved")        \
	COLUMN(REQUEST_OWN_BYTES, 11, "own_bytes", UINT, BYTES, FIELD(__u32, own_bytes),           \
	       "bytes in recorded bios")                                                           \
	COLUMN(REQUEST_BIOS, 12, "bios", UINT, COUNT, FIELD(__u32, bios), "bios merged into it")   \
	COLUMN(REQUEST_OWN_BIOS, 13, "own_bios", UINT, COUNT, FIELD(__u32, own_bios),              \
	       "recorded bios among them")                                                         \
	COLUMN(REQUEST_FILE, 5, "file", UINT, NONE, FIELD(__u32, file),                            \
	       "file id of that bio, 0 for none")                                                  \
	COLUMN(REQUEST_FLAGS, 16, "flags", UINT, NONE, FIELD(__u32, flags),                        \
	       "TRACE_BLOCK_* of flags.h")                                                         \
	COLUMN(REQUEST_OP, 4, "op", UINT, NONE, FIELD(__u16, op),                                  \
	       "operation: number in the header's operations")                                     \
	COLUMN(REQUEST_STATUS, 15, "status", UINT, NONE, FIELD(__u16, status),                     \
	       "0, or the kernel's BLK_STS_* of an error")                                         \
	COLUMN(REQUEST_INSTANCE, 17, "instance", UINT, NONE, FIELD(__u32, instance),               \
	       "tells apart disks that used the same number one after another; 0: unknown")

/* The part of a request that belongs to one file. Sent before the request's record. */
#define TRACE_FIELDS_BIO(COLUMN, HIDDEN)                                                           \
	COLUMN(BIO_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time of queueing")                    \
	COLUMN(BIO_PID, 2, "pid", UINT, NONE, HEAD(pid),                                           \
	       "process that queued it; 0: the kernel, for a file used by the run")                \
	COLUMN(BIO_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                       \
	COLUMN(BIO_REQUEST, 8, "request", UINT, NONE, FIELD(__u64, request),                       \
	       "request it belongs to")                                                            \
	COLUMN(BIO_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                             \
	       "time from queueing to completion")                                                 \
	COLUMN(BIO_QUEUE, 11, "queue", UINT, NS, FIELD(__u64, queue_ns),                           \
	       "part of the duration before the driver received its request")                      \
	COLUMN(BIO_SECTOR, 10, "sector", UINT, NONE, FIELD(__u64, sector),                         \
	       "start on it, as in request")                                                       \
	COLUMN(BIO_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                          \
	       "position in the file; -1 if unknown")                                              \
	COLUMN(BIO_DEV, 9, "dev", UINT, NONE, FIELD(__u32, dev), "whole device, as in request")    \
	COLUMN(BIO_FILE, 5, "file", UINT, NONE, FIELD(__u32, file),                                \
	       "file id, 0 for none or unknown")                                                   \
	COLUMN(BIO_BYTES, 7, "bytes", UINT, BYTES, FIELD(__u32, bytes), "bytes moved")             \
	COLUMN(BIO_FLAGS, 12, "flags", UINT, NONE, FIELD(__u32, flags),                            \
	       "TRACE_BLOCK_* of flags.h")                                                         \
	COLUMN(BIO_OP, 4, "op", UINT, NONE, FIELD(__u32, op),                                      \
	       "operation: number in the header's operations")                                     \
	COLUMN(BIO_INSTANCE, 13, "instance", UINT, NONE, FIELD(__u32, instance),                   \
	       "of the device, as in request")

/* Counters of a class of requests. */
#define TRACE_COLUMNS_OF_CLASS(COLUMN, ID, name, class, first)                                     \
	COLUMN(DEVICE_##ID##_REQUESTS, (first) + 0, name "_requests", UINT, COUNT,                 \
	       PART(total.of[class].requests),                                                     \
	       "completed requests")                                                               \
	COLUMN(DEVICE_##ID##_BYTES, (first) + 1, name "_bytes", UINT, BYTES,                       \
	       PART(total.of[class].bytes),                                                        \
	       "bytes moved")                                                                      \
	COLUMN(DEVICE_##ID##_MERGES, (first) + 2, name "_merges", INT, COUNT,                      \
	       PART(total.of[class].merges),                                                       \
	       "bios and requests merged into another request; -1: not counted")                   \
	COLUMN(DEVICE_##ID##_REQUEUES, (first) + 3, name "_requeues", INT, COUNT,                  \
	       PART(total.of[class].requeues),                                                     \
	       "requests returned by the driver; -1: not counted")                                 \
	COLUMN(DEVICE_##ID##_ERRORS, (first) + 4, name "_errors", UINT, COUNT,                     \
	       PART(total.of[class].errors),                                                       \
	       "failed requests")                                                                  \
	COLUMN(DEVICE_##ID##_TIME, (first) + 5, name "_time", UINT, NS,                            \
	       PART(total.of[class].time_ns),                                                      \
	       "sum of the times from creation to completion")

/* A device's counts so far; built by the user side now and then from the maps in device.h. */
#define TRACE_FIELDS_DEVICE(COLUMN, HIDDEN)                                                        \
	COLUMN(DEVICE_ROW_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                         \
	HIDDEN(struct device_name, name)                                                           \
	COLUMN(DEVICE_NAME, 2, "name", STRING, NONE, PART_TEXT(name.text), "name in /sys/block")   \
	HIDDEN(struct device_total, total)                                                         \
	HIDDEN(struct device_calls, calls[DEVICE_CLASSES])                                         \
	TRACE_COLUMNS_OF_CLASS(COLUMN, READ, "read", 0, 3)                                         \
	TRACE_COLUMNS_OF_CLASS(COLUMN, WRITE, "write", 1, 9)                                       \
	TRACE_COLUMNS_OF_CLASS(COLUMN, DISCARD, "discard", 2, 15)                                  \
	TRACE_COLUMNS_OF_CLASS(COLUMN, FLUSH, "flush", 3, 21)                                      \
	COLUMN(DEVICE_KERNEL_METADATA, 27, "kernel_metadata_bytes", UINT, BYTES,                   \
	       PART(total.kernel_metadata_bytes),                                                  \
	       "bytes of file system metadata written by kernel threads, such as journals")        \
	COLUMN(DEVICE_UNSEEN_READS, 28, "unseen_reads", UINT, COUNT, FIELD(__u64, unseen_reads),   \
	       "further reads in /proc/diskstats, without a completion event; known at the end "   \
	       "of the recording")                                                                 \
	COLUMN(DEVICE_UNSEEN_READ_BYTES, 29, "unseen_read_bytes", UINT, BYTES,                     \
	       FIELD(__u64, unseen_read_bytes),                                                    \
	       "bytes of these reads")                                                             \
	COLUMN(DEVICE_UNSEEN_WRITES, 30, "unseen_writes", UINT, COUNT,                             \
	       FIELD(__u64, unseen_writes),                                                        \
	       "writes, likewise")                                                                 \
	COLUMN(DEVICE_UNSEEN_WRITE_BYTES, 31, "unseen_write_bytes", UINT, BYTES,                   \
	       FIELD(__u64, unseen_write_bytes),                                                   \
	       "bytes of these writes")                                                            \
	COLUMN(DEVICE_DEV, 1, "dev", UINT, NONE, FIELD(__u32, dev),                                \
	       "whole device, major << 20 | minor")                                                \
	COLUMN(DEVICE_INSTANCE, 32, "instance", UINT, NONE, FIELD(__u32, instance),                \
	       "tells apart disks and mounts that used the same number one after another; "        \
	       "0: unknown")

/* A request to the server of a file system. */
#define TRACE_FIELDS_REMOTE(COLUMN, HIDDEN)                                                        \
	COLUMN(REMOTE_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                     \
	       "time at which the kernel queues it for the server")                                \
	COLUMN(REMOTE_PID, 2, "pid", UINT, NONE, HEAD(pid),                                        \
	       "process that it is for; 0: the kernel, which writes back a file")                  \
	COLUMN(REMOTE_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                    \
	COLUMN(REMOTE_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                          \
	       "time from then until its end: in the queue and in the server")                     \
	COLUMN(REMOTE_QUEUE, 14, "queue", INT, NS, FIELD(__s64, queue_ns),                         \
	       "part of the duration before the server took it, for NFS before its last "          \
	       "transmission; -1 if unknown, as for 9p, netfs, virtiofs and before Linux 7.2 "     \
	       "without fentry and kprobes")                                                       \
	COLUMN(REMOTE_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                       \
	       "reads and writes: position in the file; otherwise -1")                             \
	COLUMN(REMOTE_NODE, 8, "node", UINT, NONE, FIELD(__u64, node),                             \
	       "FUSE: number by which kernel and daemon know the file or directory; 1: the root. " \
	       "NFS: inode number of the file, or of the directory of a name; netfs: of the file; " \
	       "9p: number by which the server knows either; 0: unknown")                          \
	COLUMN(REMOTE_RTT, 15, "rtt", INT, NS, FIELD(__s64, rtt_ns),                               \
	       "NFS: time from its last transmission until the reply; 0: no reply, -1: unknown")   \
	COLUMN(REMOTE_DEV, 7, "dev", UINT, NONE, FIELD(__u32, dev),                                \
	       "st_dev of the mount's files, major << 20 | minor")                                 \
	COLUMN(REMOTE_BYTES, 10, "bytes", UINT, BYTES, FIELD(__u32, bytes),                        \
	       "reads, writes and directory listings of FUSE and 9p: bytes moved, at most those "  \
	       "requested")                                                                        \
	COLUMN(REMOTE_ASKED, 9, "asked", UINT, BYTES, FIELD(__u32, asked_bytes),                   \
	       "requested bytes of these; otherwise 0")                                            \
	COLUMN(REMOTE_SERVER, 11, "server_pid", UINT, NONE, FIELD(__u32, server_pid),              \
	       "FUSE: process that replied, the daemon; 0: none did")                              \
	COLUMN(REMOTE_FILE, 5, "file", UINT, NONE, FIELD(__u32, file),                             \
	       "file id, 0 for none or unknown")                                                   \
	COLUMN(REMOTE_FLAGS, 13, "flags", UINT, NONE, FIELD(__u32, flags),                         \
	       "TRACE_REMOTE_* of flags.h")                                                        \
	COLUMN(REMOTE_OP, 4, "op", UINT, NONE, FIELD(__u16, op),                                   \
	       "operation: number in the header's operations")                                     \
	COLUMN(REMOTE_ERROR, 12, "error", UINT, NONE, FIELD(__u16, error),                         \
	       "0, or the errno; from 10001 on an error of NFS (RFC 8881) without an errno")       \
	COLUMN(REMOTE_SENT, 16, "sent", UINT, BYTES, FIELD(__u32, sent_bytes),                     \
	       "NFS: bytes of the call in all transmissions; 9p: of the request")                  \
	COLUMN(REMOTE_RECEIVED, 17, "received", UINT, BYTES, FIELD(__u32, received_bytes),         \
	       "NFS and 9p: bytes of the reply; 0: none came")                                     \
	COLUMN(REMOTE_RETRANSMITS, 18, "retransmits", UINT, COUNT, FIELD(__u32, retransmits),      \
	       "NFS: transmissions after the first one")                                            \
	COLUMN(REMOTE_INSTANCE, 19, "instance", UINT, NONE, FIELD(__u32, instance),                \
	       "tells apart mounts that used the same number one after another; 0: unknown")        \
	HIDDEN(__u32, pad)
/* clang-format on */
