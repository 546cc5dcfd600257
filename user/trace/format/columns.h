/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Describes every kind of row and every column once: these lists produce the enums and tables of
 * schema.h, the records of bpf/records/event.h, their decoding, and the documentation that
 * `faultline print --list-columns` prints. Kinds and numbers are append-only.
 *
 *	KIND(ID, name, layer, number of the column with a duration or -1,
 *	     whether its rows say what the numbers in other rows stand for,
 *	     OWN, or SHARED if its columns are numbered with another kind's,
 *	     its flags: a list of flags.h or NO, meaning)
 *	COLUMN(ID, number, name, type, unit, source, meaning)
 *	HIDDEN(C type, field), a field of the record that is no column by itself
 *
 * A list is in the order of the record's fields; the columns of a trace are in that of the numbers.
 * Types:
 * TIME is ns on the trace's clock, stored as differences that start at t0; UINT, INT; STRING is the
 * id of a string, 0 for none. The source is a field of the record, with its C type:
 *
 *	FIELD(type, field)
 *	PAGES(type, field)	in pages
 *	RARE, RARE_PAGES	the same, but only in records that go through a ring
 *	CALL(type, field)	an operation's number; the column's is one above, 0 for none
 *	TEXT(bytes, field)	text, with a NUL unless it fills the field
 *	HEAD(field)		of the record's header
 *	PART(member)		of a hidden field; also PART_PAGES, PART_SECTORS, PART_TEXT
 *	BY_HAND			computed in decode_kinds.c, for example from text at the end
 */
#ifndef FAULTLINE_TRACE_COLUMNS_H
#define FAULTLINE_TRACE_COLUMNS_H

/* clang-format off */
#define TRACE_KINDS(KIND)                                                                          \
	KIND(SYSCALL, syscall, "syscall", SYSCALL_DUR, false, OWN, OP,                             \
	     "a system call on a file")                                                            \
	KIND(SYSCALL_PATH, syscall_path, "syscall", SYSCALL_DUR, false, SHARED, OP,                \
	     "a system call that names a path or a second file")                                   \
	KIND(FAULT, fault, "fault", FAULT_DUR, false, OWN, FAULT,                                  \
	     "a page fault on a file mapping")                                                     \
	KIND(PAGECACHE, pagecache, "pagecache", -1, false, OWN, NO,                                \
	     "an indirect or unattributed page-cache fill: the file is not the operation's own")   \
	KIND(FORK, fork, "task", -1, true, OWN, NO,                                                \
	     "a new process or thread")                                                            \
	KIND(EXEC, exec, "task", -1, true, OWN, EXEC,                                              \
	     "a process exec'd")                                                                   \
	KIND(EXIT, exit, "task", -1, true, OWN, NO,                                                \
	     "a thread exits, possibly with its process")                                          \
	KIND(FILE, file, "file", -1, true, OWN, FILE,                                              \
	     "the file behind a file id; a later row for the same id replaces it")                 \
	KIND(SPAN_BEGIN, span_begin, "span", -1, false, OWN, SPAN,                                 \
	     "the application begins a span; a span never ended ends with its process")            \
	KIND(SPAN_END, span_end, "span", -1, false, OWN, NO,                                       \
	     "the application ends a span")                                                        \
	KIND(INSTANT, instant, "span", -1, false, OWN, SPAN,                                       \
	     "the application marks a moment")                                                     \
	KIND(THROTTLE, throttle, "pagecache", THROTTLE_PAUSE, false, OWN, NO,                      \
	     "a writer is throttled because too many dirty pages await writeback")                 \
	KIND(REQUEST, request, "block", REQUEST_DUR, false, OWN, BLOCK,                            \
	     "a request to a block device that contains bios of the run")                          \
	KIND(BIO, bio, "block", BIO_DUR, false, OWN, BLOCK,                                        \
	     "a part of a request: a range of a file or of metadata, queued by one task")          \
	KIND(DEVICE, device, "block", -1, false, OWN, NO,                                          \
	     "what a block device has done so far, for any process; the last row holds the "       \
	     "totals")                                                                             \
	KIND(ASYNC, async, "async", SYSCALL_DUR, false, SHARED, OP,                                \
	     "an operation of io_uring or libaio, from submission to completion; columns as in "   \
	     "syscall_path")                                                                       \
	KIND(VFS, vfs, "vfs", VFS_DUR, false, OWN, VFS,                                            \
	     "a read, write or sync of a file inside the kernel, for a call or on its own")        \
	KIND(PROFILE, profile, "profile", -1, false, OWN, PROFILE,                                 \
	     "sums over operations of one process on one file, as recorded by mode profile")       \
	KIND(PROFILE_CLASS, profile_class, "profile", -1, false, OWN, PROFILE,                     \
	     "the number of such operations in one class of durations or sizes")                   \
	KIND(SUMMARY_TABLE, summary_table, "summary", -1, true, OWN, NO,                           \
	     "a table of a summary (faultline summarize), or a table inside a cell")               \
	KIND(SUMMARY_COLUMN, summary_column, "summary", -1, true, OWN, NO,                         \
	     "a column of such a table, numbered from 0 in order")                                 \
	KIND(SUMMARY_CELL, summary_cell, "summary", -1, false, OWN, NO,                            \
	     "the value in a row and column; a missing cell is unknown")                           \
	KIND(SUMMARY_CLASS, summary_class, "summary", -1, false, OWN, NO,                          \
	     "the number of a percentile's values in one class of histogram.h")                    \
	KIND(THREAD_TIME, thread_time, "thread", THREAD_TIME_DUR, false, OWN, NO,                  \
	     "the time of one thread in each state during an interval; the intervals of a thread " \
	     "cover its life in the recording without gaps")                                       \
	KIND(WAIT, wait, "thread", WAIT_DUR, false, OWN, WAIT,                                     \
	     "a thread was blocked for 1 ms or longer, other than for storage")                    \
	KIND(FRAME, frame, "stack", -1, true, OWN, NO,                                             \
	     "a line of a function that stacks contain")                                           \
	KIND(STACK, stack, "stack", -1, true, OWN, NO,                                             \
	     "a stack: a frame, and the stack of its callers")                                     \
	KIND(SAMPLE, sample, "stack", SAMPLE_DUR, false, OWN, SAMPLE,                              \
	     "an operation or wait of 1 ms or more, or one of many shorter ones, with the stack "  \
	     "of the thread at its end; and of the thread running on each CPU, 49 times a second") \
	KIND(REMOTE, remote, "fuse", REMOTE_DUR, false, OWN, REMOTE,                               \
	     "a request to the daemon of a FUSE file system, or a remote procedure call of an NFS " \
	     "client: for a thread of the run, or to write back a file that the run has used")

/* The columns of a kind without the other fields. */
#define TRACE_COLUMNS(ID, COLUMN) TRACE_FIELDS_##ID(COLUMN, TRACE_NO_COLUMN)
#define TRACE_NO_COLUMN(...)

#define TRACE_FIELDS_SYSCALL(COLUMN, HIDDEN)                                                       \
	COLUMN(SYSCALL_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start")                           \
	COLUMN(SYSCALL_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                            \
	COLUMN(SYSCALL_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                             \
	COLUMN(SYSCALL_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns), "duration")             \
	COLUMN(SYSCALL_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                      \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(SYSCALL_ASKED, 7, "asked", UINT, BYTES, FIELD(__u64, asked_bytes),                  \
	       "requested bytes")                                                                  \
	COLUMN(SYSCALL_RESULT, 8, "result", INT, NONE, FIELD(__s64, result),                       \
	       "return value; -errno on error")                                                    \
	COLUMN(SYSCALL_FILE, 5, "file", UINT, NONE, FIELD(__u32, file), "file id, 0 for none")     \
	COLUMN(SYSCALL_OP, 4, "op", UINT, NONE, FIELD(__u16, op),                                  \
	       "operation: number in the header's operations")                                     \
	HIDDEN(__u16, pad)                                                                         \
	COLUMN(SYSCALL_FETCHED, 10, "fetched_bytes", UINT, BYTES, PAGES(__u32, fetched_pages),     \
	       "bytes of its file (for map calls, of the mapped file) brought into the page "      \
	       "cache to be read, excluding faults inside the call")                               \
	COLUMN(SYSCALL_FAULT_FETCHED, 11, "fault_fetched_bytes", UINT, BYTES,                      \
	       RARE_PAGES(__u32, fault_fetched_pages),                                             \
	       "bytes brought in by faults inside the call; for map calls without a file, bytes "  \
	       "of any mapped file")                                                               \
	COLUMN(SYSCALL_MAJOR, 12, "major", UINT, COUNT, RARE(__u32, major_faults),                 \
	       "major faults that the kernel counted inside the call and that have no fault row "  \
	       "(populate, mlock, madvise)")                                                       \
	COLUMN(SYSCALL_CREATED, 13, "created_bytes", UINT, BYTES, PAGES(__u32, created_pages),     \
	       "bytes newly cached by writes to its file, or to the file that a transfer writes")  \
	COLUMN(SYSCALL_DIRTIED, 14, "dirtied_bytes", UINT, BYTES,                                  \
	       RARE_PAGES(__u32, dirtied_pages),                                                   \
	       "bytes dirtied in the file of a map call, in whole folios")                         \
	COLUMN(SYSCALL_READ_FOR_WRITE, 15, "read_for_write_bytes", UINT, BYTES,                    \
	       RARE(__u32, read_for_write_bytes),                                                  \
	       "bytes read from storage to complete pages that the call wrote partially")          \
	COLUMN(SYSCALL_OPEN_FILE, 16, "open_file", UINT, NONE, FIELD(__u32, open_file),            \
	       "open file, the same for duplicated and inherited descriptors; numbers have no "    \
	       "order; 0: unknown")                                                                \
	COLUMN(SYSCALL_FLAGS, 9, "flags", UINT, NONE, FIELD(__u32, flags),                         \
	       "TRACE_OP_* of flags.h")

/* Appended to those of TRACE_FIELDS_SYSCALL. */
#define TRACE_FIELDS_PATHS(COLUMN, HIDDEN)                                                         \
	COLUMN(SYSCALL_PATH_FILE2, 17, "file2", UINT, NONE, FIELD(__u32, file2),                   \
	       "file written by sendfile and similar calls")                                       \
	COLUMN(SYSCALL_PATH_DIR, 18, "dir", UINT, NONE, FIELD(__u32, dir),                         \
	       "file id of the directory that the path is relative to")                            \
	COLUMN(SYSCALL_PATH_DIR2, 20, "dir2", UINT, NONE, FIELD(__u32, dir2),                      \
	       "directory of the second path of rename, link")                                     \
	HIDDEN(__u16, path_bytes) /* without NUL */                                                \
	HIDDEN(__u16, path2_bytes)                                                                 \
	HIDDEN(char, text[]) /* the paths */                                                       \
	COLUMN(SYSCALL_PATH_PATH, 19, "path", STRING, NONE, BY_HAND, "path as given")              \
	COLUMN(SYSCALL_PATH_PATH2, 21, "path2", STRING, NONE, BY_HAND,                             \
	       "second path of rename, link")

#define TRACE_FIELDS_SYSCALL_PATH(COLUMN, HIDDEN)                                                  \
	TRACE_FIELDS_SYSCALL(COLUMN, HIDDEN)                                                       \
	TRACE_FIELDS_PATHS(COLUMN, HIDDEN)

/* An io_uring or libaio operation, from submission to completion. The header names the thread that
 * submitted it, or the owner of the ring if the kernel polls the ring. */
#define TRACE_FIELDS_ASYNC(COLUMN, HIDDEN) TRACE_FIELDS_SYSCALL_PATH(COLUMN, HIDDEN)

/* Records are in CPU buffers: see event_lane.h. */
#define TRACE_FIELDS_FAULT(COLUMN, HIDDEN)                                                         \
	COLUMN(FAULT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start")                             \
	COLUMN(FAULT_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                              \
	COLUMN(FAULT_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                               \
	COLUMN(FAULT_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns), "duration")               \
	COLUMN(FAULT_FILE, 4, "file", UINT, NONE, FIELD(__u32, file), "file id")                   \
	COLUMN(FAULT_OFFSET, 5, "offset", UINT, BYTES, FIELD(__u64, offset),                       \
	       "position of the page in the file")                                                 \
	COLUMN(FAULT_FLAGS, 6, "flags", UINT, NONE, FIELD(__u32, flags),                           \
	       "TRACE_FAULT_* of flags.h")                                                         \
	COLUMN(FAULT_FETCHED, 7, "fetched_bytes", UINT, BYTES, PAGES(__u32, fetched_pages),        \
	       "bytes brought into the page cache")                                                \
	COLUMN(FAULT_DIRTIED, 8, "dirtied_bytes", UINT, BYTES, PAGES(__u32, dirtied_pages),        \
	       "bytes dirtied by the store, in whole folios")

#define TRACE_FIELDS_PAGECACHE(COLUMN, HIDDEN)                                                     \
	COLUMN(PAGECACHE_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                          \
	COLUMN(PAGECACHE_PID, 1, "pid", UINT, NONE, HEAD(pid),                                     \
	       "process that brought the pages in")                                                \
	COLUMN(PAGECACHE_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread that brought them in")      \
	COLUMN(PAGECACHE_OFFSET, 4, "offset", UINT, BYTES, FIELD(__u64, offset),                   \
	       "position in the file")                                                             \
	COLUMN(PAGECACHE_FILE, 3, "file", UINT, NONE, FIELD(__u32, file), "file id")               \
	COLUMN(PAGECACHE_BYTES, 5, "fetched_bytes", UINT, BYTES, PAGES(__u32, fetched_pages),      \
	       "bytes brought into the page cache to be read")                                     \
	COLUMN(PAGECACHE_CREATED, 6, "created_bytes", UINT, BYTES, PAGES(__u32, created_pages),    \
	       "bytes newly cached by writes")                                                     \
	COLUMN(PAGECACHE_CALL, 7, "call", UINT, NONE, CALL(__u32, op),                             \
	       "operation that caused it indirectly: number in the header's operations plus 1; "   \
	       "0: unattributed")

#define TRACE_FIELDS_FORK(COLUMN, HIDDEN)                                                          \
	COLUMN(FORK_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(FORK_PID, 1, "pid", UINT, NONE, HEAD(pid), "parent process")                        \
	COLUMN(FORK_TID, 2, "tid", UINT, NONE, HEAD(tid), "calling thread")                        \
	COLUMN(FORK_CHILD_PID, 3, "child_pid", UINT, NONE, FIELD(__u32, child_pid),                \
	       "new process; equal to pid for a thread")                                           \
	COLUMN(FORK_CHILD_TID, 4, "child_tid", UINT, NONE, FIELD(__u32, child_tid), "new thread")

#define TRACE_FIELDS_EXEC(COLUMN, HIDDEN)                                                          \
	COLUMN(EXEC_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(EXEC_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(EXEC_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(EXEC_STARTED, 10, "started_ns", UINT, NS, FIELD(__u64, started_ns),                 \
	       "start of the process on the trace's clock; before the recording if it was "        \
	       "already running")                                                                  \
	HIDDEN(__u64, cgroup_id)                                                                   \
	COLUMN(EXEC_CGROUP, 7, "cgroup", STRING, NONE, BY_HAND, "cgroup")                          \
	HIDDEN(__u64, cgroup_set) /* same for tasks in the same cgroups; address, only compared */ \
	COLUMN(EXEC_PPID, 3, "ppid", UINT, NONE, FIELD(__u32, ppid), "parent process")             \
	COLUMN(EXEC_UID, 4, "uid", UINT, NONE, FIELD(__u32, uid), "user")                          \
	COLUMN(EXEC_COMM, 5, "comm", STRING, NONE, TEXT(EVENT_COMM_BYTES, comm), "program name")   \
	HIDDEN(__u32, command_bytes) /* arguments, each with its NUL */                            \
	COLUMN(EXEC_FLAGS, 9, "flags", UINT, NONE, FIELD(__u32, flags), "TRACE_EXEC_* of flags.h") \
	HIDDEN(struct event_ranks, ranks)                                                          \
	COLUMN(EXEC_RANK, 8, "rank", INT, NONE, BY_HAND, "rank from the environment; -1: none")    \
	HIDDEN(__u32, pad)                                                                         \
	HIDDEN(char, command[])                                                                    \
	COLUMN(EXEC_COMMAND, 6, "command", STRING, NONE, BY_HAND,                                  \
	       "command line, arguments separated by NUL")

#define TRACE_FIELDS_EXIT(COLUMN, HIDDEN)                                                          \
	COLUMN(EXIT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                               \
	COLUMN(EXIT_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(EXIT_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(EXIT_MAJOR, 6, "major", UINT, COUNT, FIELD(__u64, major_faults),                    \
	       "major faults of this thread, as counted by the kernel; 0 if it continues under "   \
	       "the process's id after exec")                                                      \
	COLUMN(EXIT_MINOR, 7, "minor", UINT, COUNT, FIELD(__u64, minor_faults),                    \
	       "minor faults, likewise")                                                           \
	COLUMN(EXIT_COMM, 5, "comm", STRING, NONE, TEXT(EVENT_COMM_BYTES, comm),                   \
	       "name of the thread")                                                               \
	COLUMN(EXIT_PROCESS, 3, "process", UINT, NONE, FIELD(__u32, process_ends),                 \
	       "1 if this was the last thread of the process")                                     \
	COLUMN(EXIT_CODE, 4, "code", UINT, NONE, FIELD(__u32, code),                               \
	       "wait status of the process, valid if it ended")                                    \
	COLUMN(EXIT_OOM, 8, "oom", UINT, NONE, FIELD(__u32, oom),                                  \
	       "1 if the OOM killer chose the process through this thread")                        \
	HIDDEN(__u32, stack)                                                                       \
	COLUMN(EXIT_STACK, 9, "stack", UINT, NONE, BY_HAND,                                        \
	       "id of the thread's stack when a signal, or its call of exit_group with a status "  \
	       "other than 0, ended the process; 0: unknown, or another thread ended it")

#define TRACE_FIELDS_FILE(COLUMN, HIDDEN)                                                          \
	COLUMN(FILE_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                       \
	       "time at which the file was examined")                                              \
	COLUMN(FILE_INO, 3, "ino", UINT, NONE, FIELD(__u64, ino), "inode")                         \
	COLUMN(FILE_SIZE, 6, "size", UINT, BYTES, FIELD(__u64, size_bytes), "size")                \
	COLUMN(FILE_ID, 1, "id", UINT, NONE, FIELD(__u32, id), "file id used by other rows")       \
	COLUMN(FILE_DEV, 2, "dev", UINT, NONE, FIELD(__u32, dev),                                  \
	       "device, major << 20 | minor, as the kernel stores it; for btrfs the "              \
	       "subvolume's, as in stat")                                                          \
	COLUMN(FILE_GENERATION, 4, "generation", UINT, NONE, FIELD(__u32, generation),             \
	       "inode generation, which distinguishes files that reuse an inode")                  \
	COLUMN(FILE_MODE, 5, "mode", UINT, NONE, FIELD(__u32, mode),                               \
	       "type and permission bits of st_mode")                                              \
	HIDDEN(__u32, rdev)                                                                        \
	COLUMN(FILE_FLAGS, 7, "flags", UINT, NONE, FIELD(__u32, flags), "TRACE_FILE_* of flags.h") \
	HIDDEN(__u32, class) /* one bit of FILE_CLASS_* */                                         \
	COLUMN(FILE_READAHEAD, 9, "readahead_bytes", UINT, BYTES, PAGES(__u32, readahead_pages),   \
	       "readahead limit of an open file; 0: unknown")                                      \
	COLUMN(FILE_FILESYSTEM, 10, "filesystem", STRING, NONE,                                    \
	       TEXT(EVENT_COMM_BYTES, filesystem),                                                 \
	       "file system type; none: unknown")                                                  \
	COLUMN(FILE_CAPACITY, 11, "capacity_bytes", UINT, BYTES, PAGES(__u32, capacity_pages),     \
	       "size limit of its file system, for tmpfs; 0: unknown or unlimited")                \
	HIDDEN(__u32, names_bytes)                                                                 \
	HIDDEN(char, names[]) /* path components from leaf to root, each with its NUL */           \
	COLUMN(FILE_PATH, 8, "path", STRING, NONE, BY_HAND, "path, if known")

#define TRACE_FIELDS_SPAN_BEGIN(COLUMN, HIDDEN)                                                    \
	COLUMN(SPAN_BEGIN_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                         \
	COLUMN(SPAN_BEGIN_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                         \
	COLUMN(SPAN_BEGIN_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                          \
	COLUMN(SPAN_BEGIN_ID, 3, "id", UINT, NONE, FIELD(__u64, id),                               \
	       "id given by the program, unique in the process")                                   \
	HIDDEN(__u16, name_bytes) /* sizes without NULs */                                         \
	HIDDEN(__u16, category_bytes)                                                              \
	HIDDEN(__u16, args_bytes)                                                                  \
	COLUMN(SPAN_BEGIN_FLAGS, 7, "flags", UINT, NONE, FIELD(__u16, flags),                      \
	       "TRACE_SPAN_* of flags.h")                                                          \
	HIDDEN(char, text[]) /* name, category, arguments */                                       \
	COLUMN(SPAN_BEGIN_NAME, 4, "name", STRING, NONE, BY_HAND, "name")                          \
	COLUMN(SPAN_BEGIN_CATEGORY, 5, "category", STRING, NONE, BY_HAND, "category")              \
	COLUMN(SPAN_BEGIN_ARGS, 6, "args", STRING, NONE, BY_HAND,                                  \
	       "arguments: a msgpack map from the program, or nothing")

#define TRACE_FIELDS_SPAN_END(COLUMN, HIDDEN)                                                      \
	COLUMN(SPAN_END_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                           \
	COLUMN(SPAN_END_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                           \
	COLUMN(SPAN_END_TID, 2, "tid", UINT, NONE, HEAD(tid),                                      \
	       "thread, possibly not the one that began it")                                       \
	COLUMN(SPAN_END_ID, 3, "id", UINT, NONE, FIELD(__u64, id),                                 \
	       "id of the span; may match no span")

/* Its record is that of SPAN_BEGIN, with id 0. */
#define TRACE_FIELDS_INSTANT(COLUMN, HIDDEN)                                                       \
	COLUMN(INSTANT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                            \
	COLUMN(INSTANT_PID, 1, "pid", UINT, NONE, HEAD(pid), "process")                            \
	COLUMN(INSTANT_TID, 2, "tid", UINT, NONE, HEAD(tid), "thread")                             \
	COLUMN(INSTANT_NAME, 3, "name", STRING, NONE, BY_HAND, "name")                             \
	COLUMN(INSTANT_CATEGORY, 4, "category", STRING, NONE, BY_HAND, "category")                 \
	COLUMN(INSTANT_ARGS, 5, "args", STRING, NONE, BY_HAND, "arguments, as in span_begin")      \
	COLUMN(INSTANT_FLAGS, 6, "flags", UINT, NONE, FIELD(__u16, flags),                         \
	       "TRACE_SPAN_* of flags.h")

/* A writing task must pause because too many pages are dirty. */
#define TRACE_FIELDS_THROTTLE(COLUMN, HIDDEN)                                                      \
	COLUMN(THROTTLE_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                           \
	COLUMN(THROTTLE_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                           \
	COLUMN(THROTTLE_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                            \
	COLUMN(THROTTLE_PAUSE, 1, "pause", UINT, NS, FIELD(__u64, pause_ns),                       \
	       "requested sleep; the actual sleep may be longer")                                  \
	COLUMN(THROTTLE_FILE, 4, "file", UINT, NONE, FIELD(__u32, file),                           \
	       "id of the file it wrote, 0 for none")                                              \
	COLUMN(THROTTLE_CALL, 5, "call", UINT, NONE, CALL(__u32, op),                              \
	       "enclosing operation: number in the header's operations plus 1; 0: none recorded")

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
	HIDDEN(__u32, pad)

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
	HIDDEN(__u32, pad)

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
	       "transmission; -1 if unknown, as without the tracepoint fuse_request_sent of "      \
	       "Linux 7.2")                                        \
	COLUMN(REMOTE_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                       \
	       "reads and writes: position in the file; otherwise -1")                             \
	COLUMN(REMOTE_NODE, 8, "node", UINT, NONE, FIELD(__u64, node),                             \
	       "FUSE: number by which kernel and daemon know the file or directory; 1: the root. " \
	       "NFS: inode number of the file, or of the directory of a name; 0: unknown")         \
	COLUMN(REMOTE_RTT, 15, "rtt", INT, NS, FIELD(__s64, rtt_ns),                               \
	       "NFS: time from its last transmission until the reply; 0: no reply, -1: unknown")   \
	COLUMN(REMOTE_DEV, 7, "dev", UINT, NONE, FIELD(__u32, dev),                                \
	       "st_dev of the mount's files, major << 20 | minor")                                 \
	COLUMN(REMOTE_BYTES, 10, "bytes", UINT, BYTES, FIELD(__u32, bytes),                        \
	       "reads, writes and FUSE directory listings: bytes moved, at most those requested")       \
	COLUMN(REMOTE_ASKED, 9, "asked", UINT, BYTES, FIELD(__u32, asked_bytes),                   \
	       "requested bytes of these; otherwise 0")                                            \
	COLUMN(REMOTE_SERVER, 11, "server_pid", UINT, NONE, FIELD(__u32, server_pid),              \
	       "FUSE: process that replied, the daemon; 0: none did")                                    \
	COLUMN(REMOTE_FILE, 5, "file", UINT, NONE, FIELD(__u32, file),                             \
	       "file id, 0 for none or unknown")                                                   \
	COLUMN(REMOTE_FLAGS, 13, "flags", UINT, NONE, FIELD(__u32, flags),                         \
	       "TRACE_REMOTE_* of flags.h")                                                        \
	COLUMN(REMOTE_OP, 4, "op", UINT, NONE, FIELD(__u16, op),                                   \
	       "operation: number in the header's operations")                                     \
	COLUMN(REMOTE_ERROR, 12, "error", UINT, NONE, FIELD(__u16, error),                         \
	       "0, or the errno; from 10001 on an error of NFS (RFC 8881) without an errno")       \
	COLUMN(REMOTE_SENT, 16, "sent", UINT, BYTES, FIELD(__u32, sent_bytes),                     \
	       "NFS: bytes of the call in all transmissions")                                      \
	COLUMN(REMOTE_RECEIVED, 17, "received", UINT, BYTES, FIELD(__u32, received_bytes),         \
	       "NFS: bytes of the reply; 0: none came")                                            \
	COLUMN(REMOTE_RETRANSMITS, 18, "retransmits", UINT, COUNT, FIELD(__u32, retransmits),      \
	       "NFS: transmissions after the first one")

/* A device's counts so far; built by the user side now and then from the maps in device.h. */
#define TRACE_FIELDS_DEVICE(COLUMN, HIDDEN)                                                        \
	COLUMN(DEVICE_ROW_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "time")                         \
	HIDDEN(struct device_name, name)                                                           \
	COLUMN(DEVICE_NAME, 2, "name", STRING, NONE, PART_TEXT(name.text), "name in /sys/block")   \
	HIDDEN(struct device_total, total)                                                         \
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
	HIDDEN(__u32, pad)

/* The times of a thread in the states of thread_states.h, in their order. */
#define TRACE_FIELDS_THREAD_TIME(COLUMN, HIDDEN)                                                   \
	COLUMN(THREAD_TIME_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start of the interval")       \
	COLUMN(THREAD_TIME_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                        \
	COLUMN(THREAD_TIME_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                         \
	COLUMN(THREAD_TIME_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                     \
	       "length of the interval; the times in the states add up to it")                     \
	COLUMN(THREAD_TIME_CPU, 4, "cpu", UINT, NS, FIELD(__u64, cpu_ns), "on a CPU")              \
	COLUMN(THREAD_TIME_RUNNABLE, 5, "runnable", UINT, NS, FIELD(__u64, runnable_ns),           \
	       "ready to run, but waiting for a CPU")                                              \
	COLUMN(THREAD_TIME_STORAGE, 6, "storage", UINT, NS, FIELD(__u64, storage_ns),              \
	       "blocked for storage")                                                              \
	COLUMN(THREAD_TIME_MEMORY, 7, "memory", UINT, NS, FIELD(__u64, memory_ns),                 \
	       "blocked for memory")                                                               \
	COLUMN(THREAD_TIME_LOCK, 8, "lock", UINT, NS, FIELD(__u64, lock_ns), "blocked on a lock")  \
	COLUMN(THREAD_TIME_PIPE, 9, "pipe", UINT, NS, FIELD(__u64, pipe_ns),                       \
	       "blocked on a pipe or socket, or in poll")                                          \
	COLUMN(THREAD_TIME_CHILD, 10, "child", UINT, NS, FIELD(__u64, child_ns),                   \
	       "blocked until a child ends")                                                       \
	COLUMN(THREAD_TIME_SLEEP, 11, "sleep", UINT, NS, FIELD(__u64, sleep_ns), "asleep")         \
	COLUMN(THREAD_TIME_DEVICE, 12, "device", UINT, NS, FIELD(__u64, device_ns),                \
	       "blocked in a device's driver")                                                     \
	COLUMN(THREAD_TIME_STOPPED, 13, "stopped", UINT, NS, FIELD(__u64, stopped_ns), "stopped")  \
	COLUMN(THREAD_TIME_OTHER, 14, "other", UINT, NS, FIELD(__u64, other_ns),                   \
	       "blocked elsewhere, or interrupted on a CPU")                                       \
	COLUMN(THREAD_TIME_IO_WAIT, 15, "io_wait", UINT, NS, FIELD(__u64, io_wait_ns),             \
	       "part of the interval off CPU inside recorded I/O operations, in any state")        \
	COLUMN(THREAD_TIME_USER, 16, "user", UINT, NS, FIELD(__u64, user_ns),                      \
	       "user time as the kernel counts it for getrusage, mostly in ticks")                 \
	COLUMN(THREAD_TIME_SYSTEM, 17, "system", UINT, NS, FIELD(__u64, system_ns),                \
	       "system time, likewise")                                                            \
	COLUMN(THREAD_TIME_IO, 18, "io", UINT, NS, FIELD(__u64, io_ns),                            \
	       "time of the I/O operations that ended in the interval: off CPU, and on it")

/* What a blocked thread waited for. */
#define TRACE_FIELDS_WAIT(COLUMN, HIDDEN)                                                          \
	COLUMN(WAIT_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start")                              \
	COLUMN(WAIT_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(WAIT_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(WAIT_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns),                            \
	       "time from leaving the CPU until it was woken; then it waits for a CPU")            \
	COLUMN(WAIT_OBJECT, 6, "object", UINT, NONE, FIELD(__u64, object),                         \
	       "what it waited for: address of the futex, id of the SysV semaphores, inode "       \
	       "number of the pipe, socket, queue or locked file, device number; 0 if unknown")    \
	COLUMN(WAIT_WAKER_PID, 7, "waker_pid", UINT, NONE, FIELD(__u32, waker_pid),                \
	       "process that ended the wait; 0 if unknown, or none did")                           \
	COLUMN(WAIT_WAKER_TID, 8, "waker_tid", UINT, NONE, FIELD(__u32, waker_tid), "its thread")  \
	COLUMN(WAIT_OWNER_PID, 10, "owner_pid", UINT, NONE, FIELD(__u32, owner_pid),               \
	       "process that had the lock when the wait began; 0 if unknown, as of all but "       \
	       "priority-inheriting futexes")                                                      \
	COLUMN(WAIT_OWNER_TID, 11, "owner_tid", UINT, NONE, FIELD(__u32, owner_tid),               \
	       "its thread")                                                                       \
	HIDDEN(__u16, state)                                                                       \
	COLUMN(WAIT_STATE, 4, "state", STRING, NONE, BY_HAND, "state, as thread_time names them")  \
	HIDDEN(__u16, call)                                                                        \
	COLUMN(WAIT_CALL, 5, "call", STRING, NONE, BY_HAND,                                        \
	       "name of the system call that it waited in; empty if none, or not one that waits")  \
	COLUMN(WAIT_FLAGS, 9, "flags", UINT, NONE, FIELD(__u32, flags), "TRACE_WAIT_* of flags.h")

#define TRACE_FIELDS_VFS(COLUMN, HIDDEN)                                                           \
	COLUMN(VFS_TIME, 0, "dts", TIME, NS, HEAD(time_ns), "start")                               \
	COLUMN(VFS_PID, 2, "pid", UINT, NONE, HEAD(pid), "process; 0: the kernel")                 \
	COLUMN(VFS_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                                 \
	COLUMN(VFS_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns), "duration")                 \
	COLUMN(VFS_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                          \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(VFS_ASKED, 7, "asked", UINT, BYTES, FIELD(__u64, asked_bytes), "requested bytes")   \
	COLUMN(VFS_RESULT, 8, "result", INT, NONE, FIELD(__s64, result),                           \
	       "return value; -errno on error")                                                    \
	COLUMN(VFS_FILE, 5, "file", UINT, NONE, FIELD(__u32, file), "file id, 0 for none")         \
	COLUMN(VFS_OP, 4, "op", UINT, NONE, FIELD(__u16, op),                                      \
	       "operation: number in the header's operations")                                     \
	COLUMN(VFS_FLAGS, 9, "flags", UINT, NONE, FIELD(__u16, flags), "TRACE_VFS_* of flags.h")

#define TRACE_FIELDS_PROFILE(COLUMN, HIDDEN)                                                       \
	COLUMN(PROFILE_TIME, 0, "dts", TIME, NS, BY_HAND, "start of the last operation")           \
	COLUMN(PROFILE_OVER, 1, "over", UINT, NS, BY_HAND,                                         \
	       "approximate time before it in which the operations began")                         \
	COLUMN(PROFILE_PID, 2, "pid", UINT, NONE, PART(key.pid), "process")                        \
	COLUMN(PROFILE_FILE2, 3, "file2", UINT, NONE, PART(key.file2),                             \
	       "file written by sendfile and similar calls")                                       \
	COLUMN(PROFILE_OP, 4, "op", UINT, NONE, PART(key.op),                                      \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_FILE, 5, "file", UINT, NONE, PART(key.file), "file id, 0 for none")         \
	COLUMN(PROFILE_FLAGS, 6, "flags", UINT, NONE, PART(key.flags),                             \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_COUNT, 7, "count", UINT, COUNT, PART(sums.count), "number of operations")   \
	COLUMN(PROFILE_ERRORS, 8, "errors", UINT, COUNT, PART(sums.errors), "failed operations")   \
	COLUMN(PROFILE_BYTES, 9, "bytes", UINT, BYTES, PART(sums.bytes), "bytes moved")            \
	COLUMN(PROFILE_THREAD_TIME, 10, "thread_time", UINT, NS, PART(sums.time_ns),               \
	       "sum of their durations")                                                           \
	COLUMN(PROFILE_FETCHED, 11, "fetched_bytes", UINT, BYTES, PART_PAGES(sums.fetched_pages),  \
	       "bytes brought into the page cache, as in syscall and fault")                       \
	COLUMN(PROFILE_FAULT_FETCHED, 12, "fault_fetched_bytes", UINT, BYTES,                      \
	       PART_PAGES(sums.fault_fetched_pages),                                               \
	       "bytes brought in by faults inside calls")                                          \
	COLUMN(PROFILE_CREATED, 13, "created_bytes", UINT, BYTES, PART_PAGES(sums.created_pages),  \
	       "bytes newly cached by writes")                                                     \
	COLUMN(PROFILE_DIRTIED, 14, "dirtied_bytes", UINT, BYTES, PART_PAGES(sums.dirtied_pages),  \
	       "bytes dirtied by stores, and by map calls ahead of them")                          \
	COLUMN(PROFILE_MAJOR, 15, "major", UINT, COUNT, PART(sums.major_faults),                   \
	       "major faults; for map calls, those that they caused")                              \
	COLUMN(PROFILE_READ_FOR_WRITE, 16, "read_for_write_bytes", UINT, BYTES,                    \
	       PART_SECTORS(sums.read_for_write_sectors),                                          \
	       "bytes read from storage to complete partially written pages")

#define TRACE_FIELDS_PROFILE_CLASS(COLUMN, HIDDEN)                                                 \
	COLUMN(PROFILE_CLASS_TIME, 0, "dts", TIME, NS, BY_HAND, "as in the profile row")           \
	COLUMN(PROFILE_CLASS_WHAT, 1, "what", UINT, NONE, BY_HAND,                                 \
	       "0: durations, 1: requested sizes")                                                 \
	COLUMN(PROFILE_CLASS_PID, 2, "pid", UINT, NONE, PART(key.pid), "process")                  \
	COLUMN(PROFILE_CLASS_FILE2, 3, "file2", UINT, NONE, PART(key.file2),                       \
	       "as in the profile row")                                                            \
	COLUMN(PROFILE_CLASS_OP, 4, "op", UINT, NONE, PART(key.op),                                \
	       "operation: number in the header's operations")                                     \
	COLUMN(PROFILE_CLASS_FILE, 5, "file", UINT, NONE, PART(key.file), "file id, 0 for none")   \
	COLUMN(PROFILE_CLASS_FLAGS, 6, "flags", UINT, NONE, PART(key.flags),                       \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_CLASS_BITS, 7, "bits", UINT, NONE, BY_HAND,                                 \
	       "class: durations below, or sizes up to, two to this power, and above half of "     \
	       "that; 64: all above the other classes")                                            \
	COLUMN(PROFILE_CLASS_COUNT, 8, "count", UINT, COUNT, BY_HAND, "number of operations")

#define TRACE_FIELDS_SUMMARY_TABLE(COLUMN, HIDDEN)                                                 \
	COLUMN(SUMMARY_TABLE_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")      \
	COLUMN(SUMMARY_TABLE_NUMBER, 1, "table", UINT, NONE, BY_HAND,                              \
	       "table number; a table in a cell has a lower one than the table of that cell")      \
	COLUMN(SUMMARY_TABLE_NAME, 2, "name", STRING, NONE, BY_HAND,                               \
	       "name in the report; none for a table in a cell")                                   \
	COLUMN(SUMMARY_TABLE_SHAPE, 3, "shape", UINT, NONE, BY_HAND, "0: one row, 1: a list")      \
	COLUMN(SUMMARY_TABLE_ABSENT, 4, "absent", UINT, NONE, BY_HAND,                             \
	       "1: its data was not recorded, as opposed to having no rows")                       \
	COLUMN(SUMMARY_TABLE_NOTE, 5, "note", STRING, NONE, BY_HAND, "note on the table")          \
	COLUMN(SUMMARY_TABLE_ROWS, 6, "rows", UINT, COUNT, BY_HAND, "number of rows")              \
	COLUMN(SUMMARY_TABLE_FOLDED, 7, "folded", UINT, COUNT, BY_HAND,                            \
	       "rows summed in the last row; 0: it is an ordinary row")                            \
	COLUMN(SUMMARY_TABLE_CUT, 8, "cut", UINT, COUNT, BY_HAND,                                  \
	       "rows dropped for lack of room, and in no sum")

#define TRACE_FIELDS_SUMMARY_COLUMN(COLUMN, HIDDEN)                                                \
	COLUMN(SUMMARY_COLUMN_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")     \
	COLUMN(SUMMARY_COLUMN_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")       \
	COLUMN(SUMMARY_COLUMN_NAME, 2, "name", STRING, NONE, BY_HAND, "name in the report")        \
	COLUMN(SUMMARY_COLUMN_TITLE, 3, "title", STRING, NONE, BY_HAND, "heading; may be none")    \
	COLUMN(SUMMARY_COLUMN_UNIT, 4, "unit", UINT, NONE, BY_HAND,                                \
	       "0: none, 1: count, 2: bytes, 3: ns, 4: share of 1, 5: none, a path")               \
	COLUMN(SUMMARY_COLUMN_MEANING, 5, "meaning", STRING, NONE, BY_HAND,                        \
	       "one line of explanation; none if the names suffice")                               \
	COLUMN(SUMMARY_COLUMN_KIND, 6, "kind", UINT, NONE, BY_HAND,                                \
	       "1: key, 2: fact, 3: sum, 4: thread, 5: union, 6: covered, 7: unoverlapped, "       \
	       "8: remainder, 9: ratio, 10: derived, 11: percentile, 12: max, 13: min, "           \
	       "14: moment, 15: duration, 16: first, 17: list, 18: any, 19: all, 20: status, "     \
	       "21: shared, 22: largest")

#define TRACE_FIELDS_SUMMARY_CELL(COLUMN, HIDDEN)                                                  \
	COLUMN(SUMMARY_CELL_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")       \
	COLUMN(SUMMARY_CELL_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")         \
	COLUMN(SUMMARY_CELL_ROW, 2, "row", UINT, NONE, BY_HAND, "row, from 0")                     \
	COLUMN(SUMMARY_CELL_COLUMN, 3, "column", UINT, NONE, BY_HAND, "column, from 0")            \
	COLUMN(SUMMARY_CELL_TYPE, 4, "type", UINT, NONE, BY_HAND,                                  \
	       "0: nothing, 1: unsigned, 2: signed, 3: real, 4: boolean, 5: text, 6: list of "     \
	       "texts, 7: table, 8: next text of the preceding list")                              \
	COLUMN(SUMMARY_CELL_FLAGS, 5, "flags", UINT, NONE, BY_HAND,                                \
	       "1: the number is a lower bound, 2: it stands for an unknown number")               \
	COLUMN(SUMMARY_CELL_VALUE, 6, "value", UINT, NONE, BY_HAND,                                \
	       "number; bits of a real; count of texts; table number")                             \
	COLUMN(SUMMARY_CELL_TEXT, 7, "text", STRING, NONE, BY_HAND, "text")

#define TRACE_FIELDS_SUMMARY_CLASS(COLUMN, HIDDEN)                                                 \
	COLUMN(SUMMARY_CLASS_TIME, 0, "dts", TIME, NS, BY_HAND, "end of the summarized time")      \
	COLUMN(SUMMARY_CLASS_TABLE, 1, "table", UINT, NONE, BY_HAND, "number of the table")        \
	COLUMN(SUMMARY_CLASS_ROW, 2, "row", UINT, NONE, BY_HAND, "row, from 0")                    \
	COLUMN(SUMMARY_CLASS_COLUMN, 3, "column", UINT, NONE, BY_HAND, "column, from 0")           \
	COLUMN(SUMMARY_CLASS_PERCENT, 4, "percent", UINT, NONE, BY_HAND, "percentile")             \
	COLUMN(SUMMARY_CLASS_MAX, 5, "most", UINT, NONE, BY_HAND, "largest of all values")         \
	COLUMN(SUMMARY_CLASS_NUMBER, 6, "class", UINT, NONE, BY_HAND,                              \
	       "class: values below 128 have their own; above, 64 of equal width per power of "    \
	       "two")                                                                              \
	COLUMN(SUMMARY_CLASS_COUNT, 7, "count", UINT, COUNT, BY_HAND, "values in the class")

/* A code object of CPython, when its first frame is recorded. The user side makes a row for each
 * line of it that a stack contains. */
#define TRACE_FIELDS_FRAME(COLUMN, HIDDEN)                                                         \
	COLUMN(FRAME_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                      \
	       "time at which it was first recorded")                                              \
	COLUMN(FRAME_ID, 1, "id", UINT, NONE, BY_HAND, "frame id used by stacks")                  \
	COLUMN(FRAME_SOURCE, 2, "source", STRING, NONE, BY_HAND,                                   \
	       "source file, as the interpreter names it; of compiled code, its file")             \
	COLUMN(FRAME_LINE, 3, "line", UINT, NONE, BY_HAND, "line; 0: unknown")                     \
	COLUMN(FRAME_FUNCTION, 4, "function", STRING, NONE, BY_HAND, "qualified name")             \
	HIDDEN(__u64, code) /* the object's address, */                                            \
	HIDDEN(__u32, check) /* and a hash of its contents */                                      \
	HIDDEN(__u32, generation)                                                                  \
	HIDDEN(__u32, first_line)                                                                  \
	HIDDEN(__u32, table_bytes)                                                                 \
	HIDDEN(__u16, version) /* of the interpreter */                                            \
	HIDDEN(__u16, path_bytes)                                                                  \
	HIDDEN(__u16, function_bytes)                                                              \
	HIDDEN(__u8, path_width) /* bytes of a character; 0: ASCII */                              \
	HIDDEN(__u8, function_width)                                                               \
	HIDDEN(char, path[EVENT_FRAME_PATH_BYTES])                                                 \
	HIDDEN(char, function[EVENT_FRAME_FUNCTION_BYTES])                                         \
	HIDDEN(__u8, table[]) /* of its lines */

#define TRACE_FIELDS_STACK(COLUMN, HIDDEN)                                                         \
	COLUMN(STACK_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                      \
	       "time at which it was first recorded")                                              \
	COLUMN(STACK_ID, 1, "id", UINT, NONE, BY_HAND, "stack id used by samples and by stacks")   \
	COLUMN(STACK_CALLER, 2, "caller", UINT, NONE, BY_HAND,                                     \
	       "stack of the caller; 0: the outermost frame")                                      \
	COLUMN(STACK_FRAME, 3, "frame", UINT, NONE, BY_HAND, "frame id of the innermost frame")    \
	HIDDEN(__u32, id)                                                                          \
	HIDDEN(__u32, generation)                                                                  \
	HIDDEN(__u32, count)                                                                       \
	HIDDEN(__u32, pad)                                                                         \
	/* bits by number of frame: C has called the interpreter, which began with this frame */   \
	HIDDEN(__u64, entries[2])                                                                  \
	HIDDEN(struct python_frame, frames[]) /* the innermost first */

#define TRACE_FIELDS_SAMPLE(COLUMN, HIDDEN)                                                        \
	COLUMN(SAMPLE_TIME, 0, "dts", TIME, NS, HEAD(time_ns),                                     \
	       "start of the operation or wait; of what runs on a CPU, time of the sample")        \
	COLUMN(SAMPLE_PID, 2, "pid", UINT, NONE, HEAD(pid), "process")                             \
	COLUMN(SAMPLE_TID, 3, "tid", UINT, NONE, HEAD(tid), "thread")                              \
	COLUMN(SAMPLE_DUR, 1, "dur", UINT, NS, FIELD(__u64, duration_ns), "its duration, or 0")    \
	COLUMN(SAMPLE_WEIGHT, 7, "weight", UINT, NS, FIELD(__u64, weight_ns),                      \
	       "time that the sample stands for: its duration if that is 1 ms or more; else 1 ms " \
	       "of the thread's shorter operations or waits")                                      \
	COLUMN(SAMPLE_OFFSET, 6, "offset", INT, BYTES, FIELD(__s64, offset),                       \
	       "position in the file; -1 if not applicable")                                       \
	COLUMN(SAMPLE_FILE, 5, "file", UINT, NONE, FIELD(__u32, file), "file id, 0 for none")      \
	COLUMN(SAMPLE_OP, 4, "op", UINT, NONE, FIELD(__u32, op),                                   \
	       "operation: number in the header's operations")                                     \
	COLUMN(SAMPLE_FETCHED, 8, "fetched_bytes", UINT, BYTES, PAGES(__u32, fetched_pages),       \
	       "bytes brought into the page cache by this operation, and by faults inside it")     \
	COLUMN(SAMPLE_STACK, 9, "stack", UINT, NONE, BY_HAND, "stack id; 0: none")                 \
	COLUMN(SAMPLE_FLAGS, 10, "flags", UINT, NONE, FIELD(__u32, flags),                         \
	       "TRACE_SAMPLE_* of flags.h")                                                        \
	HIDDEN(__u32, state)                                                                       \
	COLUMN(SAMPLE_STATE, 11, "state", STRING, NONE, BY_HAND,                                   \
	       "io: the time is that of the operation; else the thread's state, as thread_time "   \
	       "names them. A thread on a CPU may be in an operation; its time counts as both")    \
	HIDDEN(__u32, stack) /* as in the record of the stack */                                   \
	/* Only of unfinished ones, for reading the stack: */                                      \
	HIDDEN(__u32, tid_inside) /* in its own PID namespace */                                   \
	HIDDEN(__u32, runs) /* how often it was on a CPU */                                        \
	HIDDEN(__u64, thread_pointer)
/* clang-format on */

#endif
