/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Describes every kind of row and every column once: these lists produce the enums and tables of
 * schema.h, what decoding copies from the kernel side's records, and the documentation that
 * `faultline print --list-columns` prints. All lists are append-only.
 *
 *	KIND(ID, name, layer, number of the column with a duration or -1,
 *	     whether its rows say what the numbers in other rows stand for,
 *	     OWN, or SHARED if its columns are numbered with another kind's, meaning)
 *	COLUMN(ID, name, type, unit, source, meaning)
 *
 * Types: TIME is ns on the trace's clock, stored as differences that start at t0; UINT, INT; STRING
 * is the id of a string, 0 for none. The source is its position in a record of bpf/records/event.h:
 * HEAD(field) of the record's header, FIELD(field), PAGES(field) in pages, RARE(field) and
 * RARE_PAGES(field) only in records that go through a ring, SECTORS(field) in sectors, BY_HAND if
 * decode_kinds.c computes it.
 */
#ifndef FAULTLINE_TRACE_COLUMNS_H
#define FAULTLINE_TRACE_COLUMNS_H

/* clang-format off */
#define TRACE_KINDS(KIND)                                                                          \
	KIND(SYSCALL, syscall, "syscall", SYSCALL_DUR, false, OWN,                                 \
	     "a system call on a file")                                                            \
	KIND(SYSCALL_PATH, syscall_path, "syscall", SYSCALL_DUR, false, SHARED,                    \
	     "a system call that names a path or a second file")                                   \
	KIND(FAULT, fault, "fault", FAULT_DUR, false, OWN,                                         \
	     "a page fault on a file mapping")                                                     \
	KIND(PAGECACHE, pagecache, "pagecache", -1, false, OWN,                                    \
	     "an indirect or unattributed page-cache fill: the file is not the operation's own")   \
	KIND(FORK, fork, "task", -1, true, OWN,                                                    \
	     "a new process or thread")                                                            \
	KIND(EXEC, exec, "task", -1, true, OWN,                                                    \
	     "a process exec'd")                                                                   \
	KIND(EXIT, exit, "task", -1, true, OWN,                                                    \
	     "a thread exits, possibly with its process")                                          \
	KIND(FILE, file, "file", -1, true, OWN,                                                    \
	     "the file behind a file id; a later row for the same id replaces it")                 \
	KIND(SPAN_BEGIN, span_begin, "span", -1, false, OWN,                                       \
	     "the application begins a span; a span never ended ends with its process")            \
	KIND(SPAN_END, span_end, "span", -1, false, OWN,                                           \
	     "the application ends a span")                                                        \
	KIND(INSTANT, instant, "span", -1, false, OWN,                                             \
	     "the application marks a moment")                                                     \
	KIND(THROTTLE, throttle, "pagecache", THROTTLE_PAUSE, false, OWN,                          \
	     "a writer is throttled because too many dirty pages await writeback")                 \
	KIND(REQUEST, request, "block", REQUEST_DUR, false, OWN,                                   \
	     "a request to a block device that contains bios of the run")                          \
	KIND(BIO, bio, "block", BIO_DUR, false, OWN,                                               \
	     "a part of a request: a range of a file or of metadata, queued by one task")          \
	KIND(DEVICE, device, "block", -1, false, OWN,                                              \
	     "what a block device has done so far, for any process; the last row holds the "       \
	     "totals")                                                                             \
	KIND(ASYNC, async, "async", SYSCALL_DUR, false, SHARED,                                    \
	     "an operation of io_uring or libaio, from submission to completion; columns as in "   \
	     "syscall_path")                                                                       \
	KIND(VFS, vfs, "vfs", VFS_DUR, false, OWN,                                                 \
	     "a read, write or sync of a file inside the kernel, for a call or on its own")        \
	KIND(PROFILE, profile, "profile", -1, false, OWN,                                          \
	     "sums over operations of one process on one file, as recorded by mode profile")       \
	KIND(PROFILE_CLASS, profile_class, "profile", -1, false, OWN,                              \
	     "the number of such operations in one class of durations or sizes")                   \
	KIND(SUMMARY_TABLE, summary_table, "summary", -1, true, OWN,                               \
	     "a table of a summary (faultline summarize), or a table inside a cell")               \
	KIND(SUMMARY_COLUMN, summary_column, "summary", -1, true, OWN,                             \
	     "a column of such a table, numbered from 0 in order")                                 \
	KIND(SUMMARY_CELL, summary_cell, "summary", -1, false, OWN,                                \
	     "the value in a row and column; a missing cell is unknown")                           \
	KIND(SUMMARY_CLASS, summary_class, "summary", -1, false, OWN,                              \
	     "the number of a percentile's values in one class of histogram.h")

#define TRACE_COLUMNS_SYSCALL(COLUMN)                                                              \
	COLUMN(SYSCALL_TIME, "dts", TIME, NS, HEAD(time_ns), "start")                              \
	COLUMN(SYSCALL_DUR, "dur", UINT, NS, FIELD(duration_ns), "duration")                       \
	COLUMN(SYSCALL_PID, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(SYSCALL_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(SYSCALL_OP, "op", UINT, NONE, FIELD(op),                                            \
	       "operation: number in the header's operations")                                     \
	COLUMN(SYSCALL_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none")               \
	COLUMN(SYSCALL_OFFSET, "offset", INT, BYTES, FIELD(offset),                                \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(SYSCALL_ASKED, "asked", UINT, BYTES, FIELD(asked_bytes), "requested bytes")         \
	COLUMN(SYSCALL_RESULT, "result", INT, NONE, FIELD(result),                                 \
	       "return value; -errno on error")                                                    \
	COLUMN(SYSCALL_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_OP_* of flags.h")          \
	COLUMN(SYSCALL_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                \
	       "bytes of its file (for map calls, of the mapped file) brought into the page "      \
	       "cache to be read, excluding faults inside the call")                               \
	COLUMN(SYSCALL_FAULT_FETCHED, "fault_fetched_bytes", UINT, BYTES,                          \
	       RARE_PAGES(fault_fetched_pages),                                                    \
	       "bytes brought in by faults inside the call; for map calls without a file, bytes "  \
	       "of any mapped file")                                                               \
	COLUMN(SYSCALL_MAJOR, "major", UINT, COUNT, RARE(major_faults),                            \
	       "major faults that the kernel counted inside the call and that have no fault row "  \
	       "(populate, mlock, madvise)")                                                       \
	COLUMN(SYSCALL_CREATED, "created_bytes", UINT, BYTES, PAGES(created_pages),                \
	       "bytes newly cached by writes to its file, or to the file that a transfer writes")  \
	COLUMN(SYSCALL_DIRTIED, "dirtied_bytes", UINT, BYTES, RARE_PAGES(dirtied_pages),           \
	       "bytes dirtied in the file of a map call, in whole folios")                         \
	COLUMN(SYSCALL_READ_FOR_WRITE, "read_for_write_bytes", UINT, BYTES,                        \
	       RARE(read_for_write_bytes),                                                         \
	       "bytes read from storage to complete pages that the call wrote partially")          \
	COLUMN(SYSCALL_OPEN_FILE, "open_file", UINT, NONE, FIELD(open_file),                       \
	       "open file, the same for duplicated and inherited descriptors; numbers have no "    \
	       "order; 0: unknown")

/* Appended to those of TRACE_COLUMNS_SYSCALL. */
#define TRACE_COLUMNS_PATHS(COLUMN)                                                                \
	COLUMN(SYSCALL_PATH_FILE2, "file2", UINT, NONE, FIELD(file2),                              \
	       "file written by sendfile and similar calls")                                       \
	COLUMN(SYSCALL_PATH_DIR, "dir", UINT, NONE, FIELD(dir),                                    \
	       "file id of the directory that the path is relative to")                            \
	COLUMN(SYSCALL_PATH_PATH, "path", STRING, NONE, BY_HAND, "path as given")                  \
	COLUMN(SYSCALL_PATH_DIR2, "dir2", UINT, NONE, FIELD(dir2),                                 \
	       "directory of the second path of rename, link")                                     \
	COLUMN(SYSCALL_PATH_PATH2, "path2", STRING, NONE, BY_HAND, "second path of rename, link")

#define TRACE_COLUMNS_SYSCALL_PATH(COLUMN)                                                         \
	TRACE_COLUMNS_SYSCALL(COLUMN)                                                              \
	TRACE_COLUMNS_PATHS(COLUMN)

#define TRACE_COLUMNS_ASYNC(COLUMN) TRACE_COLUMNS_SYSCALL_PATH(COLUMN)

#define TRACE_COLUMNS_FAULT(COLUMN)                                                                \
	COLUMN(FAULT_TIME, "dts", TIME, NS, HEAD(time_ns), "start")                                \
	COLUMN(FAULT_DUR, "dur", UINT, NS, FIELD(duration_ns), "duration")                         \
	COLUMN(FAULT_PID, "pid", UINT, NONE, HEAD(pid), "process")                                 \
	COLUMN(FAULT_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                  \
	COLUMN(FAULT_FILE, "file", UINT, NONE, FIELD(file), "file id")                             \
	COLUMN(FAULT_OFFSET, "offset", UINT, BYTES, FIELD(offset),                                 \
	       "position of the page in the file")                                                 \
	COLUMN(FAULT_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_FAULT_* of flags.h")         \
	COLUMN(FAULT_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                  \
	       "bytes brought into the page cache")                                                \
	COLUMN(FAULT_DIRTIED, "dirtied_bytes", UINT, BYTES, PAGES(dirtied_pages),                  \
	       "bytes dirtied by the store, in whole folios")

#define TRACE_COLUMNS_PAGECACHE(COLUMN)                                                            \
	COLUMN(PAGECACHE_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                             \
	COLUMN(PAGECACHE_PID, "pid", UINT, NONE, HEAD(pid), "process that brought the pages in")   \
	COLUMN(PAGECACHE_TID, "tid", UINT, NONE, HEAD(tid), "thread that brought them in")         \
	COLUMN(PAGECACHE_FILE, "file", UINT, NONE, FIELD(file), "file id")                         \
	COLUMN(PAGECACHE_OFFSET, "offset", UINT, BYTES, FIELD(offset), "position in the file")     \
	COLUMN(PAGECACHE_BYTES, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                \
	       "bytes brought into the page cache to be read")                                     \
	COLUMN(PAGECACHE_CREATED, "created_bytes", UINT, BYTES, PAGES(created_pages),              \
	       "bytes newly cached by writes")                                                     \
	COLUMN(PAGECACHE_CALL, "call", UINT, NONE, BY_HAND,                                        \
	       "operation that caused it indirectly: number in the header's operations plus 1; "   \
	       "0: unattributed")

#define TRACE_COLUMNS_FORK(COLUMN)                                                                 \
	COLUMN(FORK_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                                  \
	COLUMN(FORK_PID, "pid", UINT, NONE, HEAD(pid), "parent process")                           \
	COLUMN(FORK_TID, "tid", UINT, NONE, HEAD(tid), "calling thread")                           \
	COLUMN(FORK_CHILD_PID, "child_pid", UINT, NONE, FIELD(child_pid),                          \
	       "new process; equal to pid for a thread")                                           \
	COLUMN(FORK_CHILD_TID, "child_tid", UINT, NONE, FIELD(child_tid), "new thread")

#define TRACE_COLUMNS_EXEC(COLUMN)                                                                 \
	COLUMN(EXEC_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                                  \
	COLUMN(EXEC_PID, "pid", UINT, NONE, HEAD(pid), "process")                                  \
	COLUMN(EXEC_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                   \
	COLUMN(EXEC_PPID, "ppid", UINT, NONE, FIELD(ppid), "parent process")                       \
	COLUMN(EXEC_UID, "uid", UINT, NONE, FIELD(uid), "user")                                    \
	COLUMN(EXEC_COMM, "comm", STRING, NONE, BY_HAND, "program name")                           \
	COLUMN(EXEC_COMMAND, "command", STRING, NONE, BY_HAND,                                     \
	       "command line, arguments separated by NUL")                                         \
	COLUMN(EXEC_CGROUP, "cgroup", STRING, NONE, BY_HAND, "cgroup")                             \
	COLUMN(EXEC_RANK, "rank", INT, NONE, BY_HAND, "rank from the environment; -1: none")       \
	COLUMN(EXEC_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_EXEC_* of flags.h")    \
	COLUMN(EXEC_STARTED, "started_ns", UINT, NS, FIELD(started_ns),                            \
	       "start of the process on the trace's clock; before the recording if it was "        \
	       "already running")

#define TRACE_COLUMNS_EXIT(COLUMN)                                                                 \
	COLUMN(EXIT_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                                  \
	COLUMN(EXIT_PID, "pid", UINT, NONE, HEAD(pid), "process")                                  \
	COLUMN(EXIT_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                   \
	COLUMN(EXIT_PROCESS, "process", UINT, NONE, FIELD(process_ends),                           \
	       "1 if this was the last thread of the process")                                     \
	COLUMN(EXIT_CODE, "code", UINT, NONE, BY_HAND,                                             \
	       "wait status of the process, valid if it ended")                                    \
	COLUMN(EXIT_COMM, "comm", STRING, NONE, BY_HAND, "name of the thread")                     \
	COLUMN(EXIT_MAJOR, "major", UINT, COUNT, FIELD(major_faults),                              \
	       "major faults of this thread, as counted by the kernel; 0 if it continues under "   \
	       "the process's id after exec")                                                      \
	COLUMN(EXIT_MINOR, "minor", UINT, COUNT, FIELD(minor_faults), "minor faults, likewise")    \
	COLUMN(EXIT_OOM, "oom", UINT, NONE, FIELD(oom),                                            \
	       "1 if the OOM killer chose the process through this thread")

#define TRACE_COLUMNS_FILE(COLUMN)                                                                 \
	COLUMN(FILE_TIME, "dts", TIME, NS, HEAD(time_ns), "time at which the file was examined")   \
	COLUMN(FILE_ID, "id", UINT, NONE, FIELD(id), "file id used by other rows")                 \
	COLUMN(FILE_DEV, "dev", UINT, NONE, FIELD(dev),                                            \
	       "device, major << 20 | minor, as the kernel stores it; for btrfs the "              \
	       "subvolume's, as in stat")                                                          \
	COLUMN(FILE_INO, "ino", UINT, NONE, FIELD(ino), "inode")                                   \
	COLUMN(FILE_GENERATION, "generation", UINT, NONE, FIELD(generation),                       \
	       "inode generation, which distinguishes files that reuse an inode")                  \
	COLUMN(FILE_MODE, "mode", UINT, NONE, FIELD(mode),                                         \
	       "type and permission bits of st_mode")                                              \
	COLUMN(FILE_SIZE, "size", UINT, BYTES, FIELD(size_bytes), "size")                          \
	COLUMN(FILE_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_FILE_* of flags.h")           \
	COLUMN(FILE_PATH, "path", STRING, NONE, BY_HAND, "path, if known")                         \
	COLUMN(FILE_READAHEAD, "readahead_bytes", UINT, BYTES, PAGES(readahead_pages),             \
	       "readahead limit of an open file; 0: unknown")                                      \
	COLUMN(FILE_FILESYSTEM, "filesystem", STRING, NONE, BY_HAND,                               \
	       "file system type; none: unknown")                                                  \
	COLUMN(FILE_CAPACITY, "capacity_bytes", UINT, BYTES, PAGES(capacity_pages),                \
	       "size limit of its file system, for tmpfs; 0: unknown or unlimited")

#define TRACE_COLUMNS_SPAN_BEGIN(COLUMN)                                                           \
	COLUMN(SPAN_BEGIN_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                            \
	COLUMN(SPAN_BEGIN_PID, "pid", UINT, NONE, HEAD(pid), "process")                            \
	COLUMN(SPAN_BEGIN_TID, "tid", UINT, NONE, HEAD(tid), "thread")                             \
	COLUMN(SPAN_BEGIN_ID, "id", UINT, NONE, FIELD(id),                                         \
	       "id given by the program, unique in the process")                                   \
	COLUMN(SPAN_BEGIN_NAME, "name", STRING, NONE, BY_HAND, "name")                             \
	COLUMN(SPAN_BEGIN_CATEGORY, "category", STRING, NONE, BY_HAND, "category")                 \
	COLUMN(SPAN_BEGIN_ARGS, "args", STRING, NONE, BY_HAND,                                     \
	       "arguments: a msgpack map from the program, or nothing")                            \
	COLUMN(SPAN_BEGIN_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_SPAN_* of flags.h")

#define TRACE_COLUMNS_SPAN_END(COLUMN)                                                             \
	COLUMN(SPAN_END_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                              \
	COLUMN(SPAN_END_PID, "pid", UINT, NONE, HEAD(pid), "process")                              \
	COLUMN(SPAN_END_TID, "tid", UINT, NONE, HEAD(tid),                                         \
	       "thread, possibly not the one that began it")                                       \
	COLUMN(SPAN_END_ID, "id", UINT, NONE, FIELD(id), "id of the span; may match no span")

#define TRACE_COLUMNS_INSTANT(COLUMN)                                                              \
	COLUMN(INSTANT_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(INSTANT_PID, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(INSTANT_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(INSTANT_NAME, "name", STRING, NONE, BY_HAND, "name")                                \
	COLUMN(INSTANT_CATEGORY, "category", STRING, NONE, BY_HAND, "category")                    \
	COLUMN(INSTANT_ARGS, "args", STRING, NONE, BY_HAND, "arguments, as in span_begin")         \
	COLUMN(INSTANT_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_SPAN_* of flags.h")

#define TRACE_COLUMNS_THROTTLE(COLUMN)                                                             \
	COLUMN(THROTTLE_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                              \
	COLUMN(THROTTLE_PAUSE, "pause", UINT, NS, FIELD(pause_ns),                                 \
	       "requested sleep; the actual sleep may be longer")                                  \
	COLUMN(THROTTLE_PID, "pid", UINT, NONE, HEAD(pid), "process")                              \
	COLUMN(THROTTLE_TID, "tid", UINT, NONE, HEAD(tid), "thread")                               \
	COLUMN(THROTTLE_FILE, "file", UINT, NONE, FIELD(file),                                     \
	       "id of the file it wrote, 0 for none")                                              \
	COLUMN(THROTTLE_CALL, "call", UINT, NONE, BY_HAND,                                         \
	       "enclosing operation: number in the header's operations plus 1; 0: none recorded")

#define TRACE_COLUMNS_REQUEST(COLUMN)                                                              \
	COLUMN(REQUEST_TIME, "dts", TIME, NS, HEAD(time_ns), "time of creation")                   \
	COLUMN(REQUEST_DUR, "dur", UINT, NS, FIELD(duration_ns),                                   \
	       "time from creation to completion")                                                 \
	COLUMN(REQUEST_PID, "pid", UINT, NONE, HEAD(pid),                                          \
	       "process that queued its first recorded bio; 0: the kernel")                        \
	COLUMN(REQUEST_TID, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                      \
	COLUMN(REQUEST_OP, "op", UINT, NONE, FIELD(op),                                            \
	       "operation: number in the header's operations")                                     \
	COLUMN(REQUEST_FILE, "file", UINT, NONE, FIELD(file), "file id of that bio, 0 for none")   \
	COLUMN(REQUEST_ID, "request", UINT, NONE, FIELD(id), "request id used by its bios")        \
	COLUMN(REQUEST_DEV, "dev", UINT, NONE, FIELD(dev), "whole device, major << 20 | minor")    \
	COLUMN(REQUEST_PART, "part", UINT, NONE, FIELD(part), "partition, or the whole device")    \
	COLUMN(REQUEST_SECTOR, "sector", UINT, NONE, FIELD(sector),                                \
	       "start on the whole device, in sectors of 512 bytes")                               \
	COLUMN(REQUEST_BYTES, "bytes", UINT, BYTES, FIELD(bytes), "bytes moved")                   \
	COLUMN(REQUEST_OWN_BYTES, "own_bytes", UINT, BYTES, FIELD(own_bytes),                      \
	       "bytes in recorded bios")                                                           \
	COLUMN(REQUEST_BIOS, "bios", UINT, COUNT, FIELD(bios), "bios merged into it")              \
	COLUMN(REQUEST_OWN_BIOS, "own_bios", UINT, COUNT, FIELD(own_bios),                         \
	       "recorded bios among them")                                                         \
	COLUMN(REQUEST_QUEUE, "queue", UINT, NS, FIELD(queue_ns),                                  \
	       "part of the duration before the driver received it")                               \
	COLUMN(REQUEST_STATUS, "status", UINT, NONE, FIELD(status),                                \
	       "0, or the kernel's BLK_STS_* of an error")                                         \
	COLUMN(REQUEST_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_BLOCK_* of flags.h")

#define TRACE_COLUMNS_BIO(COLUMN)                                                                  \
	COLUMN(BIO_TIME, "dts", TIME, NS, HEAD(time_ns), "time of queueing")                       \
	COLUMN(BIO_DUR, "dur", UINT, NS, FIELD(duration_ns), "time from queueing to completion")   \
	COLUMN(BIO_PID, "pid", UINT, NONE, HEAD(pid),                                              \
	       "process that queued it; 0: the kernel, for a file used by the run")                \
	COLUMN(BIO_TID, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                          \
	COLUMN(BIO_OP, "op", UINT, NONE, FIELD(op),                                                \
	       "operation: number in the header's operations")                                     \
	COLUMN(BIO_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none or unknown")        \
	COLUMN(BIO_OFFSET, "offset", INT, BYTES, FIELD(offset),                                    \
	       "position in the file; -1 if unknown")                                              \
	COLUMN(BIO_BYTES, "bytes", UINT, BYTES, FIELD(bytes), "bytes moved")                       \
	COLUMN(BIO_REQUEST, "request", UINT, NONE, FIELD(request), "request it belongs to")        \
	COLUMN(BIO_DEV, "dev", UINT, NONE, FIELD(dev), "whole device, as in request")              \
	COLUMN(BIO_SECTOR, "sector", UINT, NONE, FIELD(sector), "start on it, as in request")      \
	COLUMN(BIO_QUEUE, "queue", UINT, NS, FIELD(queue_ns),                                      \
	       "part of the duration before the driver received its request")                      \
	COLUMN(BIO_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_BLOCK_* of flags.h")

/* Counters of a class of requests. */
#define TRACE_COLUMNS_COUNTS(COLUMN, ID, name, class)                                              \
	COLUMN(DEVICE_##ID##_REQUESTS, name "_requests", UINT, COUNT,                              \
	       FIELD(total.of[class].requests),                                                    \
	       "completed requests")                                                               \
	COLUMN(DEVICE_##ID##_BYTES, name "_bytes", UINT, BYTES, FIELD(total.of[class].bytes),      \
	       "bytes moved")                                                                      \
	COLUMN(DEVICE_##ID##_MERGES, name "_merges", INT, COUNT, FIELD(total.of[class].merges),    \
	       "bios and requests merged into another request; -1: not counted")                   \
	COLUMN(DEVICE_##ID##_REQUEUES, name "_requeues", INT, COUNT,                               \
	       FIELD(total.of[class].requeues),                                                    \
	       "requests returned by the driver; -1: not counted")                                 \
	COLUMN(DEVICE_##ID##_ERRORS, name "_errors", UINT, COUNT, FIELD(total.of[class].errors),   \
	       "failed requests")                                                                  \
	COLUMN(DEVICE_##ID##_TIME, name "_time", UINT, NS, FIELD(total.of[class].time_ns),         \
	       "sum of the times from creation to completion")

#define TRACE_COLUMNS_DEVICE(COLUMN)                                                               \
	COLUMN(DEVICE_ROW_TIME, "dts", TIME, NS, HEAD(time_ns), "time")                            \
	COLUMN(DEVICE_DEV, "dev", UINT, NONE, FIELD(dev), "whole device, major << 20 | minor")     \
	COLUMN(DEVICE_NAME, "name", STRING, NONE, BY_HAND, "name in /sys/block")                   \
	TRACE_COLUMNS_COUNTS(COLUMN, READ, "read", 0)                                              \
	TRACE_COLUMNS_COUNTS(COLUMN, WRITE, "write", 1)                                            \
	TRACE_COLUMNS_COUNTS(COLUMN, DISCARD, "discard", 2)                                        \
	TRACE_COLUMNS_COUNTS(COLUMN, FLUSH, "flush", 3)                                            \
	COLUMN(DEVICE_KERNEL_METADATA, "kernel_metadata_bytes", UINT, BYTES,                       \
	       FIELD(total.kernel_metadata_bytes),                                                 \
	       "bytes of file system metadata written by kernel threads, such as journals")        \
	COLUMN(DEVICE_UNSEEN_READS, "unseen_reads", UINT, COUNT, FIELD(unseen_reads),              \
	       "further reads in /proc/diskstats, without a completion event; known at the end "   \
	       "of the recording")                                                                 \
	COLUMN(DEVICE_UNSEEN_READ_BYTES, "unseen_read_bytes", UINT, BYTES,                         \
	       FIELD(unseen_read_bytes),                                                           \
	       "bytes of these reads")                                                             \
	COLUMN(DEVICE_UNSEEN_WRITES, "unseen_writes", UINT, COUNT, FIELD(unseen_writes),           \
	       "writes, likewise")                                                                 \
	COLUMN(DEVICE_UNSEEN_WRITE_BYTES, "unseen_write_bytes", UINT, BYTES,                       \
	       FIELD(unseen_write_bytes),                                                          \
	       "bytes of these writes")

#define TRACE_COLUMNS_VFS(COLUMN)                                                                  \
	COLUMN(VFS_TIME, "dts", TIME, NS, HEAD(time_ns), "start")                                  \
	COLUMN(VFS_DUR, "dur", UINT, NS, FIELD(duration_ns), "duration")                           \
	COLUMN(VFS_PID, "pid", UINT, NONE, HEAD(pid), "process; 0: the kernel")                    \
	COLUMN(VFS_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                    \
	COLUMN(VFS_OP, "op", UINT, NONE, FIELD(op),                                                \
	       "operation: number in the header's operations")                                     \
	COLUMN(VFS_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none")                   \
	COLUMN(VFS_OFFSET, "offset", INT, BYTES, FIELD(offset),                                    \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(VFS_ASKED, "asked", UINT, BYTES, FIELD(asked_bytes), "requested bytes")             \
	COLUMN(VFS_RESULT, "result", INT, NONE, FIELD(result), "return value; -errno on error")    \
	COLUMN(VFS_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_VFS_* of flags.h")

#define TRACE_COLUMNS_PROFILE(COLUMN)                                                              \
	COLUMN(PROFILE_TIME, "dts", TIME, NS, BY_HAND, "start of the last operation")              \
	COLUMN(PROFILE_OVER, "over", UINT, NS, BY_HAND,                                            \
	       "approximate time before it in which the operations began")                         \
	COLUMN(PROFILE_PID, "pid", UINT, NONE, FIELD(key.pid), "process")                          \
	COLUMN(PROFILE_FILE2, "file2", UINT, NONE, FIELD(key.file2),                               \
	       "file written by sendfile and similar calls")                                       \
	COLUMN(PROFILE_OP, "op", UINT, NONE, FIELD(key.op),                                        \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_FILE, "file", UINT, NONE, FIELD(key.file), "file id, 0 for none")           \
	COLUMN(PROFILE_FLAGS, "flags", UINT, NONE, FIELD(key.flags), "TRACE_PROFILE_* of flags.h") \
	COLUMN(PROFILE_COUNT, "count", UINT, COUNT, FIELD(sums.count), "number of operations")     \
	COLUMN(PROFILE_ERRORS, "errors", UINT, COUNT, FIELD(sums.errors), "failed operations")     \
	COLUMN(PROFILE_BYTES, "bytes", UINT, BYTES, FIELD(sums.bytes), "bytes moved")              \
	COLUMN(PROFILE_THREAD_TIME, "thread_time", UINT, NS, FIELD(sums.time_ns),                  \
	       "sum of their durations")                                                           \
	COLUMN(PROFILE_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(sums.fetched_pages),           \
	       "bytes brought into the page cache, as in syscall and fault")                       \
	COLUMN(PROFILE_FAULT_FETCHED, "fault_fetched_bytes", UINT, BYTES,                          \
	       PAGES(sums.fault_fetched_pages),                                                    \
	       "bytes brought in by faults inside calls")                                          \
	COLUMN(PROFILE_CREATED, "created_bytes", UINT, BYTES, PAGES(sums.created_pages),           \
	       "bytes newly cached by writes")                                                     \
	COLUMN(PROFILE_DIRTIED, "dirtied_bytes", UINT, BYTES, PAGES(sums.dirtied_pages),           \
	       "bytes dirtied by stores, and by map calls ahead of them")                          \
	COLUMN(PROFILE_MAJOR, "major", UINT, COUNT, FIELD(sums.major_faults),                      \
	       "major faults; for map calls, those that they caused")                              \
	COLUMN(PROFILE_READ_FOR_WRITE, "read_for_write_bytes", UINT, BYTES,                        \
	       SECTORS(sums.read_for_write_sectors),                                               \
	       "bytes read from storage to complete partially written pages")

#define TRACE_COLUMNS_PROFILE_CLASS(COLUMN)                                                        \
	COLUMN(PROFILE_CLASS_TIME, "dts", TIME, NS, BY_HAND, "as in the profile row")              \
	COLUMN(PROFILE_CLASS_WHAT, "what", UINT, NONE, BY_HAND,                                    \
	       "0: durations, 1: requested sizes")                                                 \
	COLUMN(PROFILE_CLASS_PID, "pid", UINT, NONE, FIELD(key.pid), "process")                    \
	COLUMN(PROFILE_CLASS_FILE2, "file2", UINT, NONE, FIELD(key.file2),                         \
	       "as in the profile row")                                                            \
	COLUMN(PROFILE_CLASS_OP, "op", UINT, NONE, FIELD(key.op),                                  \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_CLASS_FILE, "file", UINT, NONE, FIELD(key.file), "file id, 0 for none")     \
	COLUMN(PROFILE_CLASS_FLAGS, "flags", UINT, NONE, FIELD(key.flags),                         \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_CLASS_BITS, "bits", UINT, NONE, BY_HAND,                                    \
	       "class: durations below, or sizes up to, two to this power, and above half of "     \
	       "that; 64: all above the other classes")                                            \
	COLUMN(PROFILE_CLASS_COUNT, "count", UINT, COUNT, BY_HAND, "number of operations")

#define TRACE_COLUMNS_SUMMARY_TABLE(COLUMN)                                                        \
	COLUMN(SUMMARY_TABLE_TIME, "dts", TIME, NS, BY_HAND, "end of the summarized time")         \
	COLUMN(SUMMARY_TABLE_NUMBER, "table", UINT, NONE, BY_HAND,                                 \
	       "table number; a table in a cell has a lower one than the table of that cell")      \
	COLUMN(SUMMARY_TABLE_NAME, "name", STRING, NONE, BY_HAND,                                  \
	       "name in the report; none for a table in a cell")                                   \
	COLUMN(SUMMARY_TABLE_SHAPE, "shape", UINT, NONE, BY_HAND, "0: one row, 1: a list")         \
	COLUMN(SUMMARY_TABLE_ABSENT, "absent", UINT, NONE, BY_HAND,                                \
	       "1: its data was not recorded, as opposed to having no rows")                       \
	COLUMN(SUMMARY_TABLE_NOTE, "note", STRING, NONE, BY_HAND, "note on the table")             \
	COLUMN(SUMMARY_TABLE_ROWS, "rows", UINT, COUNT, BY_HAND, "number of rows")                 \
	COLUMN(SUMMARY_TABLE_FOLDED, "folded", UINT, COUNT, BY_HAND,                               \
	       "rows summed in the last row; 0: it is an ordinary row")                            \
	COLUMN(SUMMARY_TABLE_CUT, "cut", UINT, COUNT, BY_HAND,                                     \
	       "rows dropped for lack of room, and in no sum")

#define TRACE_COLUMNS_SUMMARY_COLUMN(COLUMN)                                                       \
	COLUMN(SUMMARY_COLUMN_TIME, "dts", TIME, NS, BY_HAND, "end of the summarized time")        \
	COLUMN(SUMMARY_COLUMN_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")          \
	COLUMN(SUMMARY_COLUMN_NAME, "name", STRING, NONE, BY_HAND, "name in the report")           \
	COLUMN(SUMMARY_COLUMN_TITLE, "title", STRING, NONE, BY_HAND, "heading; may be none")       \
	COLUMN(SUMMARY_COLUMN_UNIT, "unit", UINT, NONE, BY_HAND,                                   \
	       "0: none, 1: count, 2: bytes, 3: ns, 4: share of 1, 5: none, a path")               \
	COLUMN(SUMMARY_COLUMN_MEANING, "meaning", STRING, NONE, BY_HAND,                           \
	       "one line of explanation; none if the names suffice")

#define TRACE_COLUMNS_SUMMARY_CELL(COLUMN)                                                         \
	COLUMN(SUMMARY_CELL_TIME, "dts", TIME, NS, BY_HAND, "end of the summarized time")          \
	COLUMN(SUMMARY_CELL_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")            \
	COLUMN(SUMMARY_CELL_ROW, "row", UINT, NONE, BY_HAND, "row, from 0")                        \
	COLUMN(SUMMARY_CELL_COLUMN, "column", UINT, NONE, BY_HAND, "column, from 0")               \
	COLUMN(SUMMARY_CELL_TYPE, "type", UINT, NONE, BY_HAND,                                     \
	       "0: nothing, 1: unsigned, 2: signed, 3: real, 4: boolean, 5: text, 6: list of "     \
	       "texts, 7: table, 8: next text of the preceding list")                              \
	COLUMN(SUMMARY_CELL_FLAGS, "flags", UINT, NONE, BY_HAND,                                   \
	       "1: the number is a lower bound, 2: it stands for an unknown number")               \
	COLUMN(SUMMARY_CELL_VALUE, "value", UINT, NONE, BY_HAND,                                   \
	       "number; bits of a real; count of texts; table number")                             \
	COLUMN(SUMMARY_CELL_TEXT, "text", STRING, NONE, BY_HAND, "text")

#define TRACE_COLUMNS_SUMMARY_CLASS(COLUMN)                                                        \
	COLUMN(SUMMARY_CLASS_TIME, "dts", TIME, NS, BY_HAND, "end of the summarized time")         \
	COLUMN(SUMMARY_CLASS_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")           \
	COLUMN(SUMMARY_CLASS_ROW, "row", UINT, NONE, BY_HAND, "row, from 0")                       \
	COLUMN(SUMMARY_CLASS_COLUMN, "column", UINT, NONE, BY_HAND, "column, from 0")              \
	COLUMN(SUMMARY_CLASS_PERCENT, "percent", UINT, NONE, BY_HAND, "percentile")                \
	COLUMN(SUMMARY_CLASS_MAX, "most", UINT, NONE, BY_HAND, "largest of all values")           \
	COLUMN(SUMMARY_CLASS_NUMBER, "class", UINT, NONE, BY_HAND,                                 \
	       "class: values below 128 have their own; above, 64 of equal width per power of "    \
	       "two")                                                                              \
	COLUMN(SUMMARY_CLASS_COUNT, "count", UINT, COUNT, BY_HAND, "values in the class")
/* clang-format on */

#endif
