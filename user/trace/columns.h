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
 * is the id of a string, 0 for none. The source is its position in a record of bpf/event.h:
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
	     "pages that came into the cache of a file that is no operation's own")                \
	KIND(FORK, fork, "task", -1, true, OWN,                                                    \
	     "a new process or thread")                                                            \
	KIND(EXEC, exec, "task", -1, true, OWN,                                                    \
	     "a process is named anew")                                                            \
	KIND(EXIT, exit, "task", -1, true, OWN,                                                    \
	     "a thread ends, maybe with its process")                                              \
	KIND(FILE, file, "file", -1, true, OWN,                                                    \
	     "what a file id stands for; a later row for the same id replaces it")                 \
	KIND(SPAN_BEGIN, span_begin, "span", -1, false, OWN,                                       \
	     "the application begins a span; one that never ends, ends with its process")          \
	KIND(SPAN_END, span_end, "span", -1, false, OWN,                                           \
	     "the application ends a span")                                                        \
	KIND(INSTANT, instant, "span", -1, false, OWN,                                             \
	     "the application marks a moment")                                                     \
	KIND(THROTTLE, throttle, "pagecache", THROTTLE_PAUSE, false, OWN,                          \
	     "a task that writes is told to sleep, because too much waits to be written back")     \
	KIND(REQUEST, request, "block", REQUEST_DUR, false, OWN,                                   \
	     "a request to a block device with bios of the run in it")                             \
	KIND(BIO, bio, "block", BIO_DUR, false, OWN,                                               \
	     "a part of a request: a stretch of a file or of metadata, queued by one task")        \
	KIND(DEVICE, device, "block", -1, false, OWN,                                              \
	     "what a block device has done so far, for whomever; the last row holds the sums")     \
	KIND(ASYNC, async, "async", SYSCALL_DUR, false, SHARED,                                    \
	     "an operation of io_uring or libaio, from its submission to its completion; its "     \
	     "columns are those of syscall_path")                                                     \
	KIND(VFS, vfs, "vfs", VFS_DUR, false, OWN,                                                 \
	     "the kernel reads, writes or syncs a file, by a call or by itself")                          \
	KIND(PROFILE, profile, "profile", -1, false, OWN,                                          \
	     "operations of one process on one file, summed up: what mode profile records")        \
	KIND(PROFILE_CLASS, profile_class, "profile", -1, false, OWN,                              \
	     "how many of such operations were of a class of durations or sizes")                  \
	KIND(SUMMARY_TABLE, summary_table, "summary", -1, true, OWN,                               \
	     "a table of a summary (faultline summarize), or one that stands in a cell")           \
	KIND(SUMMARY_COLUMN, summary_column, "summary", -1, true, OWN,                             \
	     "a column of such a table; they are numbered from 0 in their order")                  \
	KIND(SUMMARY_CELL, summary_cell, "summary", -1, false, OWN,                                \
	     "what stands in a row and a column; what is not told is not known")                   \
	KIND(SUMMARY_CLASS, summary_class, "summary", -1, false, OWN,                              \
	     "how many of the values that a percentile is of are of a class of histogram.h")

#define TRACE_COLUMNS_SYSCALL(COLUMN)                                                              \
	COLUMN(SYSCALL_TIME, "dts", TIME, NS, HEAD(time_ns), "start")                              \
	COLUMN(SYSCALL_DUR, "dur", UINT, NS, FIELD(duration_ns), "duration")                       \
	COLUMN(SYSCALL_PID, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(SYSCALL_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(SYSCALL_OP, "op", UINT, NONE, FIELD(op),                                            \
	       "number in the header's operations")                                                \
	COLUMN(SYSCALL_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none")               \
	COLUMN(SYSCALL_OFFSET, "offset", INT, BYTES, FIELD(offset),                                \
	       "where in the file, -1 where it has no meaning")                                    \
	COLUMN(SYSCALL_ASKED, "asked", UINT, BYTES, FIELD(asked_bytes), "bytes asked for")         \
	COLUMN(SYSCALL_RESULT, "result", INT, NONE, FIELD(result),                                 \
	       "as returned, -errno for errors")                                                   \
	COLUMN(SYSCALL_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_OP_* of flags.h")          \
	COLUMN(SYSCALL_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                \
	       "of its own file brought into the cache for reading, and, for map calls, of the "   \
	       "mapped file; bytes of faults inside it not included")                              \
	COLUMN(SYSCALL_FAULT_FETCHED, "fault_fetched_bytes", UINT, BYTES,                          \
	       RARE_PAGES(fault_fetched_pages),                                                    \
	       "brought in by faults inside the call; by a map call without a file of its own, of "\
	       "whichever files are mapped")                                                       \
	COLUMN(SYSCALL_MAJOR, "major", UINT, COUNT, RARE(major_faults),                            \
	       "major faults the kernel counted inside the call for which no fault row exists "    \
	       "(populate, mlock, madvise)")                                                       \
	COLUMN(SYSCALL_CREATED, "created_bytes", UINT, BYTES, PAGES(created_pages),                \
	       "newly cached by writing: of its own file, of the file that a transfer writes")     \
	COLUMN(SYSCALL_DIRTIED, "dirtied_bytes", UINT, BYTES, RARE_PAGES(dirtied_pages),           \
	       "of the file that a map call is about, made to be written back: whole folios")      \
	COLUMN(SYSCALL_READ_FOR_WRITE, "read_for_write_bytes", UINT, BYTES,                        \
	       RARE(read_for_write_bytes),                                               \
	       "read from storage to complete pages that the call wrote in part")                  \
	COLUMN(SYSCALL_OPEN_FILE, "open_file", UINT, NONE, FIELD(open_file),                       \
	       "tells what was opened once, and duplicated or inherited since, from what was "     \
	       "opened apart: a number without an order; 0: not known")

/* Appended to those of TRACE_COLUMNS_SYSCALL. */
#define TRACE_COLUMNS_PATHS(COLUMN)                                                                \
	COLUMN(SYSCALL_PATH_FILE2, "file2", UINT, NONE, FIELD(file2),                              \
	       "the file written by sendfile and its like")                                        \
	COLUMN(SYSCALL_PATH_DIR, "dir", UINT, NONE, FIELD(dir),                                    \
	       "file id of the directory that the path is relative to")                            \
	COLUMN(SYSCALL_PATH_PATH, "path", STRING, NONE, BY_HAND, "as given")                       \
	COLUMN(SYSCALL_PATH_DIR2, "dir2", UINT, NONE, FIELD(dir2),                                 \
	       "the directory of the second path of rename, link")                                 \
	COLUMN(SYSCALL_PATH_PATH2, "path2", STRING, NONE, BY_HAND,                                 \
	       "the second path of rename, link")

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
	COLUMN(FAULT_OFFSET, "offset", UINT, BYTES, FIELD(offset), "of the page in the file")      \
	COLUMN(FAULT_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_FAULT_* of flags.h")         \
	COLUMN(FAULT_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                  \
	       "brought into the cache")                                                           \
	COLUMN(FAULT_DIRTIED, "dirtied_bytes", UINT, BYTES, PAGES(dirtied_pages),                  \
	       "made to be written back by the store: whole folios")

#define TRACE_COLUMNS_PAGECACHE(COLUMN)                                                            \
	COLUMN(PAGECACHE_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                             \
	COLUMN(PAGECACHE_PID, "pid", UINT, NONE, HEAD(pid),                                        \
	       "process of the task that brought them in")                                         \
	COLUMN(PAGECACHE_TID, "tid", UINT, NONE, HEAD(tid), "the task")                            \
	COLUMN(PAGECACHE_FILE, "file", UINT, NONE, FIELD(file), "file id")                         \
	COLUMN(PAGECACHE_OFFSET, "offset", UINT, BYTES, FIELD(offset), "where in the file")        \
	COLUMN(PAGECACHE_BYTES, "fetched_bytes", UINT, BYTES, PAGES(fetched_pages),                \
	       "brought into the cache for reading")                                               \
	COLUMN(PAGECACHE_CREATED, "created_bytes", UINT, BYTES, PAGES(created_pages),              \
	       "newly cached by writing")                                                          \
	COLUMN(PAGECACHE_CALL, "call", UINT, NONE, BY_HAND,                                        \
	       "number of the operation on whose account they came though the file is not its "    \
	       "own, in the header's operations, plus 1; 0: nobody's")

#define TRACE_COLUMNS_FORK(COLUMN)                                                                 \
	COLUMN(FORK_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                                  \
	COLUMN(FORK_PID, "pid", UINT, NONE, HEAD(pid), "process of the parent")                    \
	COLUMN(FORK_TID, "tid", UINT, NONE, HEAD(tid), "the thread that called")                   \
	COLUMN(FORK_CHILD_PID, "child_pid", UINT, NONE, FIELD(child_pid),                          \
	       "equal to pid for a thread")                                                        \
	COLUMN(FORK_CHILD_TID, "child_tid", UINT, NONE, FIELD(child_tid), "the new thread")

#define TRACE_COLUMNS_EXEC(COLUMN)                                                                 \
	COLUMN(EXEC_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                                  \
	COLUMN(EXEC_PID, "pid", UINT, NONE, HEAD(pid), "process")                                  \
	COLUMN(EXEC_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                   \
	COLUMN(EXEC_PPID, "ppid", UINT, NONE, FIELD(ppid), "process of the parent")                \
	COLUMN(EXEC_UID, "uid", UINT, NONE, FIELD(uid), "user")                                    \
	COLUMN(EXEC_COMM, "comm", STRING, NONE, BY_HAND, "name of the program")                    \
	COLUMN(EXEC_COMMAND, "command", STRING, NONE, BY_HAND,                                     \
	       "command line, arguments separated by NUL")                                         \
	COLUMN(EXEC_CGROUP, "cgroup", STRING, NONE, BY_HAND, "control group")                      \
	COLUMN(EXEC_RANK, "rank", INT, NONE, BY_HAND, "-1 where the environment names none")       \
	COLUMN(EXEC_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_EXEC_* of flags.h")    \
	COLUMN(EXEC_STARTED, "started_ns", UINT, NS, FIELD(started_ns),                            \
	       "when the process was started, on the trace's clock; before the recording where "   \
	       "it ran already")

#define TRACE_COLUMNS_EXIT(COLUMN)                                                                 \
	COLUMN(EXIT_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                                  \
	COLUMN(EXIT_PID, "pid", UINT, NONE, HEAD(pid), "process")                                  \
	COLUMN(EXIT_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                   \
	COLUMN(EXIT_PROCESS, "process", UINT, NONE, FIELD(process_ends),                           \
	       "1 when the last thread of the process ended")                                      \
	COLUMN(EXIT_CODE, "code", UINT, NONE, BY_HAND,                                             \
	       "wait status of the process, meaningful when that ended")                           \
	COLUMN(EXIT_COMM, "comm", STRING, NONE, BY_HAND, "name of the thread")                     \
	COLUMN(EXIT_MAJOR, "major", UINT, COUNT, FIELD(major_faults),                              \
	       "major faults of this thread, by the kernel's own count; 0 where it goes on under " \
	       "the process's id, having executed a program")                                      \
	COLUMN(EXIT_MINOR, "minor", UINT, COUNT, FIELD(minor_faults), "minor faults, likewise")    \
	COLUMN(EXIT_OOM, "oom", UINT, NONE, FIELD(oom),                                            \
	       "1 when the OOM killer chose the process by this thread")

#define TRACE_COLUMNS_FILE(COLUMN)                                                                 \
	COLUMN(FILE_TIME, "dts", TIME, NS, HEAD(time_ns), "when it was looked at")                 \
	COLUMN(FILE_ID, "id", UINT, NONE, FIELD(id), "what other rows call it")                    \
	COLUMN(FILE_DEV, "dev", UINT, NONE, FIELD(dev),                                            \
	       "device, major << 20 | minor, as the kernel keeps it; of a btrfs subvolume its "    \
	       "own, as stat tells it")                                                            \
	COLUMN(FILE_INO, "ino", UINT, NONE, FIELD(ino), "inode")                                   \
	COLUMN(FILE_GENERATION, "generation", UINT, NONE, FIELD(generation),                       \
	       "tells files apart that had the same inode")                                        \
	COLUMN(FILE_MODE, "mode", UINT, NONE, FIELD(mode),                                         \
	       "type and permission bits of st_mode")                                              \
	COLUMN(FILE_SIZE, "size", UINT, BYTES, FIELD(size_bytes), "size")                          \
	COLUMN(FILE_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_FILE_* of flags.h")           \
	COLUMN(FILE_PATH, "path", STRING, NONE, BY_HAND, "path, where it is known")                \
	COLUMN(FILE_READAHEAD, "readahead_bytes", UINT, BYTES, PAGES(readahead_pages),             \
	       "what an open file may read ahead; 0: not known")                                   \
	COLUMN(FILE_FILESYSTEM, "filesystem", STRING, NONE, BY_HAND,                               \
	       "its type's name; none: not known")                                                 \
	COLUMN(FILE_CAPACITY, "capacity_bytes", UINT, BYTES, PAGES(capacity_pages),                \
	       "what its file system holds at most, if that is tmpfs; 0: not known, or no limit")

#define TRACE_COLUMNS_SPAN_BEGIN(COLUMN)                                                           \
	COLUMN(SPAN_BEGIN_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                            \
	COLUMN(SPAN_BEGIN_PID, "pid", UINT, NONE, HEAD(pid), "process")                            \
	COLUMN(SPAN_BEGIN_TID, "tid", UINT, NONE, HEAD(tid), "thread")                             \
	COLUMN(SPAN_BEGIN_ID, "id", UINT, NONE, FIELD(id),                                         \
	       "given by the program, its own within the process")                                 \
	COLUMN(SPAN_BEGIN_NAME, "name", STRING, NONE, BY_HAND, "name")                             \
	COLUMN(SPAN_BEGIN_CATEGORY, "category", STRING, NONE, BY_HAND, "category")                 \
	COLUMN(SPAN_BEGIN_ARGS, "args", STRING, NONE, BY_HAND,                                     \
	       "arguments: a msgpack map as the program made it, or nothing")                      \
	COLUMN(SPAN_BEGIN_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_SPAN_* of flags.h")

#define TRACE_COLUMNS_SPAN_END(COLUMN)                                                             \
	COLUMN(SPAN_END_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                              \
	COLUMN(SPAN_END_PID, "pid", UINT, NONE, HEAD(pid), "process")                              \
	COLUMN(SPAN_END_TID, "tid", UINT, NONE, HEAD(tid),                                         \
	       "thread, which may be another than the one that began it")                          \
	COLUMN(SPAN_END_ID, "id", UINT, NONE, FIELD(id), "as it began; may be of no span")

#define TRACE_COLUMNS_INSTANT(COLUMN)                                                              \
	COLUMN(INSTANT_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                               \
	COLUMN(INSTANT_PID, "pid", UINT, NONE, HEAD(pid), "process")                               \
	COLUMN(INSTANT_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                \
	COLUMN(INSTANT_NAME, "name", STRING, NONE, BY_HAND, "name")                                \
	COLUMN(INSTANT_CATEGORY, "category", STRING, NONE, BY_HAND, "category")                    \
	COLUMN(INSTANT_ARGS, "args", STRING, NONE, BY_HAND, "arguments, as of spans")              \
	COLUMN(INSTANT_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_SPAN_* of flags.h")

#define TRACE_COLUMNS_THROTTLE(COLUMN)                                                             \
	COLUMN(THROTTLE_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                              \
	COLUMN(THROTTLE_PAUSE, "pause", UINT, NS, FIELD(pause_ns),                                 \
	       "how long it was told to sleep; the sleep itself may be longer")                    \
	COLUMN(THROTTLE_PID, "pid", UINT, NONE, HEAD(pid), "process")                              \
	COLUMN(THROTTLE_TID, "tid", UINT, NONE, HEAD(tid), "thread")                               \
	COLUMN(THROTTLE_FILE, "file", UINT, NONE, FIELD(file), "file id that it wrote, 0 for none") \
	COLUMN(THROTTLE_CALL, "call", UINT, NONE, BY_HAND,                                         \
	       "number of the operation that it was in, in the header's operations, plus 1; 0: of " \
	       "none that is recorded")

#define TRACE_COLUMNS_REQUEST(COLUMN)                                                              \
	COLUMN(REQUEST_TIME, "dts", TIME, NS, HEAD(time_ns), "when it was made")                   \
	COLUMN(REQUEST_DUR, "dur", UINT, NS, FIELD(duration_ns), "from then to its end")           \
	COLUMN(REQUEST_PID, "pid", UINT, NONE, HEAD(pid),                                          \
	       "process that queued the first of its bios that are recorded; 0: the kernel")       \
	COLUMN(REQUEST_TID, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                      \
	COLUMN(REQUEST_OP, "op", UINT, NONE, FIELD(op),                                            \
	       "number in the header's operations")                                                \
	COLUMN(REQUEST_FILE, "file", UINT, NONE, FIELD(file), "file id of that bio, 0 for none")   \
	COLUMN(REQUEST_ID, "request", UINT, NONE, FIELD(id), "what its bios call it")              \
	COLUMN(REQUEST_DEV, "dev", UINT, NONE, FIELD(dev),                                         \
	       "the whole device, major << 20 | minor")                                            \
	COLUMN(REQUEST_PART, "part", UINT, NONE, FIELD(part), "its partition, or the same")        \
	COLUMN(REQUEST_SECTOR, "sector", UINT, NONE, FIELD(sector),                                \
	       "of 512 bytes, where on the whole device it begins")                                \
	COLUMN(REQUEST_BYTES, "bytes", UINT, BYTES, FIELD(bytes), "all that it moved")             \
	COLUMN(REQUEST_OWN_BYTES, "own_bytes", UINT, BYTES, FIELD(own_bytes),                      \
	       "of it in bios that are recorded")                                                  \
	COLUMN(REQUEST_BIOS, "bios", UINT, COUNT, FIELD(bios), "that were merged into it")         \
	COLUMN(REQUEST_OWN_BIOS, "own_bios", UINT, COUNT, FIELD(own_bios),                         \
	       "of them that are recorded")                                                        \
	COLUMN(REQUEST_QUEUE, "queue", UINT, NS, FIELD(queue_ns),                                  \
	       "of its duration, before the driver got it")                                        \
	COLUMN(REQUEST_STATUS, "status", UINT, NONE, FIELD(status),                                \
	       "0, or the kernel's BLK_STS_* of an error")                                         \
	COLUMN(REQUEST_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_BLOCK_* of flags.h")

#define TRACE_COLUMNS_BIO(COLUMN)                                                                  \
	COLUMN(BIO_TIME, "dts", TIME, NS, HEAD(time_ns), "when it was queued")                     \
	COLUMN(BIO_DUR, "dur", UINT, NS, FIELD(duration_ns), "from then to its end")               \
	COLUMN(BIO_PID, "pid", UINT, NONE, HEAD(pid),                                              \
	       "process that queued it; 0: the kernel, for a file that the run has met")           \
	COLUMN(BIO_TID, "tid", UINT, NONE, HEAD(tid), "thread, likewise")                          \
	COLUMN(BIO_OP, "op", UINT, NONE, FIELD(op), "number in the header's operations")           \
	COLUMN(BIO_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none or not known")      \
	COLUMN(BIO_OFFSET, "offset", INT, BYTES, FIELD(offset),                                    \
	       "where in the file, -1 where it is not known")                                      \
	COLUMN(BIO_BYTES, "bytes", UINT, BYTES, FIELD(bytes), "that it moved")                     \
	COLUMN(BIO_REQUEST, "request", UINT, NONE, FIELD(request), "the request it was part of")   \
	COLUMN(BIO_DEV, "dev", UINT, NONE, FIELD(dev), "the whole device, as of requests")         \
	COLUMN(BIO_SECTOR, "sector", UINT, NONE, FIELD(sector), "where on it, as of requests")     \
	COLUMN(BIO_QUEUE, "queue", UINT, NS, FIELD(queue_ns),                                      \
	       "of its duration, before the driver got its request")                               \
	COLUMN(BIO_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_BLOCK_* of flags.h")

/* Counters of a class of requests. */
#define TRACE_COLUMNS_COUNTS(COLUMN, ID, name, class)                                              \
	COLUMN(DEVICE_##ID##_REQUESTS, name "_requests", UINT, COUNT,                              \
	       FIELD(total.of[class].requests), "that ended")                                      \
	COLUMN(DEVICE_##ID##_BYTES, name "_bytes", UINT, BYTES, FIELD(total.of[class].bytes),      \
	       "that they moved")                                                                  \
	COLUMN(DEVICE_##ID##_MERGES, name "_merges", INT, COUNT, FIELD(total.of[class].merges),    \
	       "bios and requests that became part of another request; -1: not counted")           \
	COLUMN(DEVICE_##ID##_REQUEUES, name "_requeues", INT, COUNT,                               \
	       FIELD(total.of[class].requeues),                                                    \
	       "times that the driver gave one back; -1: not counted")                             \
	COLUMN(DEVICE_##ID##_ERRORS, name "_errors", UINT, COUNT, FIELD(total.of[class].errors),   \
	       "that failed")                                                                      \
	COLUMN(DEVICE_##ID##_TIME, name "_time", UINT, NS, FIELD(total.of[class].time_ns),         \
	       "from when they were made to their ends, summed up")

#define TRACE_COLUMNS_DEVICE(COLUMN)                                                               \
	COLUMN(DEVICE_ROW_TIME, "dts", TIME, NS, HEAD(time_ns), "when")                            \
	COLUMN(DEVICE_DEV, "dev", UINT, NONE, FIELD(dev), "the whole device, major << 20 | minor") \
	COLUMN(DEVICE_NAME, "name", STRING, NONE, BY_HAND, "as /sys/block has it")                 \
	TRACE_COLUMNS_COUNTS(COLUMN, READ, "read", 0)                                              \
	TRACE_COLUMNS_COUNTS(COLUMN, WRITE, "write", 1)                                            \
	TRACE_COLUMNS_COUNTS(COLUMN, DISCARD, "discard", 2)                                        \
	TRACE_COLUMNS_COUNTS(COLUMN, FLUSH, "flush", 3)                                            \
	COLUMN(DEVICE_KERNEL_METADATA, "kernel_metadata_bytes", UINT, BYTES,                       \
	       FIELD(total.kernel_metadata_bytes),                                                 \
	       "of metadata of file systems that kernel threads wrote: journals and the like")     \
	COLUMN(DEVICE_UNSEEN_READS, "unseen_reads", UINT, COUNT, FIELD(unseen_reads),              \
	       "reads that /proc/diskstats has beyond those: their ends were not seen; told at "   \
	       "the end of the recording")                                                         \
	COLUMN(DEVICE_UNSEEN_READ_BYTES, "unseen_read_bytes", UINT, BYTES,                         \
	       FIELD(unseen_read_bytes), "bytes of these")                                         \
	COLUMN(DEVICE_UNSEEN_WRITES, "unseen_writes", UINT, COUNT, FIELD(unseen_writes),           \
	       "the same of writes")                                                               \
	COLUMN(DEVICE_UNSEEN_WRITE_BYTES, "unseen_write_bytes", UINT, BYTES,                       \
	       FIELD(unseen_write_bytes), "bytes of these")

#define TRACE_COLUMNS_VFS(COLUMN)                                                                  \
	COLUMN(VFS_TIME, "dts", TIME, NS, HEAD(time_ns), "start")                                  \
	COLUMN(VFS_DUR, "dur", UINT, NS, FIELD(duration_ns), "duration")                           \
	COLUMN(VFS_PID, "pid", UINT, NONE, HEAD(pid), "process; 0: the kernel")                    \
	COLUMN(VFS_TID, "tid", UINT, NONE, HEAD(tid), "thread")                                    \
	COLUMN(VFS_OP, "op", UINT, NONE, FIELD(op), "number in the header's operations")           \
	COLUMN(VFS_FILE, "file", UINT, NONE, FIELD(file), "file id, 0 for none")                   \
	COLUMN(VFS_OFFSET, "offset", INT, BYTES, FIELD(offset),                                    \
	       "where in the file, -1 where it has no meaning")                                    \
	COLUMN(VFS_ASKED, "asked", UINT, BYTES, FIELD(asked_bytes), "bytes asked for")             \
	COLUMN(VFS_RESULT, "result", INT, NONE, FIELD(result), "as returned, -errno for errors")   \
	COLUMN(VFS_FLAGS, "flags", UINT, NONE, FIELD(flags), "TRACE_VFS_* of flags.h")

#define TRACE_COLUMNS_PROFILE(COLUMN)                                                              \
	COLUMN(PROFILE_TIME, "dts", TIME, NS, BY_HAND, "start of the last of them")                \
	COLUMN(PROFILE_OVER, "over", UINT, NS, BY_HAND,                                            \
	       "length of the time before that in which they began, about")                        \
	COLUMN(PROFILE_PID, "pid", UINT, NONE, FIELD(key.pid), "process")                          \
	COLUMN(PROFILE_FILE2, "file2", UINT, NONE, FIELD(key.file2),                               \
	       "the file written by sendfile and its like")                                        \
	COLUMN(PROFILE_OP, "op", UINT, NONE, FIELD(key.op), "number in the header's operations")   \
	COLUMN(PROFILE_FILE, "file", UINT, NONE, FIELD(key.file), "file id, 0 for none")           \
	COLUMN(PROFILE_FLAGS, "flags", UINT, NONE, FIELD(key.flags), "TRACE_PROFILE_* of flags.h") \
	COLUMN(PROFILE_COUNT, "count", UINT, COUNT, FIELD(sums.count), "operations")               \
	COLUMN(PROFILE_ERRORS, "errors", UINT, COUNT, FIELD(sums.errors), "that failed")           \
	COLUMN(PROFILE_BYTES, "bytes", UINT, BYTES, FIELD(sums.bytes), "that they moved")          \
	COLUMN(PROFILE_THREAD_TIME, "thread_time", UINT, NS, FIELD(sums.time_ns),                  \
	       "their durations, summed up")                                                       \
	COLUMN(PROFILE_FETCHED, "fetched_bytes", UINT, BYTES, PAGES(sums.fetched_pages),           \
	       "brought into the page cache, as of syscall and fault rows")                        \
	COLUMN(PROFILE_FAULT_FETCHED, "fault_fetched_bytes", UINT, BYTES,                          \
	       PAGES(sums.fault_fetched_pages), "brought in by faults inside of calls")            \
	COLUMN(PROFILE_CREATED, "created_bytes", UINT, BYTES, PAGES(sums.created_pages),           \
	       "newly cached by writing")                                                          \
	COLUMN(PROFILE_DIRTIED, "dirtied_bytes", UINT, BYTES, PAGES(sums.dirtied_pages),           \
	       "made to be written back by stores, and by map calls ahead of them")                \
	COLUMN(PROFILE_MAJOR, "major", UINT, COUNT, FIELD(sums.major_faults),                      \
	       "of faults, the major ones; of map calls, those that they made")                    \
	COLUMN(PROFILE_READ_FOR_WRITE, "read_for_write_bytes", UINT, BYTES,                        \
	       SECTORS(sums.read_for_write_sectors),                                               \
	       "read from storage to complete pages that were written in part")

#define TRACE_COLUMNS_PROFILE_CLASS(COLUMN)                                                        \
	COLUMN(PROFILE_CLASS_TIME, "dts", TIME, NS, BY_HAND, "as of the profile row")              \
	COLUMN(PROFILE_CLASS_WHAT, "what", UINT, NONE, BY_HAND, "0: of durations, 1: of sizes asked for") \
	COLUMN(PROFILE_CLASS_PID, "pid", UINT, NONE, FIELD(key.pid), "process")                    \
	COLUMN(PROFILE_CLASS_FILE2, "file2", UINT, NONE, FIELD(key.file2), "as of the profile row") \
	COLUMN(PROFILE_CLASS_OP, "op", UINT, NONE, FIELD(key.op),                                  \
	       "number in the header's operations")                                                \
	COLUMN(PROFILE_CLASS_FILE, "file", UINT, NONE, FIELD(key.file), "file id, 0 for none")     \
	COLUMN(PROFILE_CLASS_FLAGS, "flags", UINT, NONE, FIELD(key.flags),                         \
	       "TRACE_PROFILE_* of flags.h")                                                       \
	COLUMN(PROFILE_CLASS_BITS, "bits", UINT, NONE, BY_HAND,                                    \
	       "the class: durations below, sizes up to 2 to the power of it, and above half of "  \
	       "that; 64: all above the other classes")                                            \
	COLUMN(PROFILE_CLASS_COUNT, "count", UINT, COUNT, BY_HAND, "operations")

#define TRACE_COLUMNS_SUMMARY_TABLE(COLUMN)                                                        \
	COLUMN(SUMMARY_TABLE_TIME, "dts", TIME, NS, BY_HAND, "end of what is summed up")           \
	COLUMN(SUMMARY_TABLE_NUMBER, "table", UINT, NONE, BY_HAND,                                 \
	       "its number; one in a cell has a lower one than the table of that cell")            \
	COLUMN(SUMMARY_TABLE_NAME, "name", STRING, NONE, BY_HAND,                                  \
	       "as the report calls it; none of one in a cell")                                    \
	COLUMN(SUMMARY_TABLE_SHAPE, "shape", UINT, NONE, BY_HAND, "0: one row, 1: a list")         \
	COLUMN(SUMMARY_TABLE_ABSENT, "absent", UINT, NONE, BY_HAND,                                \
	       "1: what it needs was not recorded, which is not the same as no rows")              \
	COLUMN(SUMMARY_TABLE_NOTE, "note", STRING, NONE, BY_HAND, "what is to be said of it")      \
	COLUMN(SUMMARY_TABLE_ROWS, "rows", UINT, COUNT, BY_HAND, "rows that it has")               \
	COLUMN(SUMMARY_TABLE_FOLDED, "folded", UINT, COUNT, BY_HAND,                               \
	       "rows that the last one is the sum of; 0: it stands for itself")                    \
	COLUMN(SUMMARY_TABLE_CUT, "cut", UINT, COUNT, BY_HAND,                                     \
	       "rows that had no room and that nothing stands for")

#define TRACE_COLUMNS_SUMMARY_COLUMN(COLUMN)                                                       \
	COLUMN(SUMMARY_COLUMN_TIME, "dts", TIME, NS, BY_HAND, "end of what is summed up")          \
	COLUMN(SUMMARY_COLUMN_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")          \
	COLUMN(SUMMARY_COLUMN_NAME, "name", STRING, NONE, BY_HAND, "as the report calls it")       \
	COLUMN(SUMMARY_COLUMN_TITLE, "title", STRING, NONE, BY_HAND, "its heading; may be none")   \
	COLUMN(SUMMARY_COLUMN_UNIT, "unit", UINT, NONE, BY_HAND,                                   \
	       "0: none, 1: count, 2: bytes, 3: ns, 4: share of 1, 5: none, of a path")            \
	COLUMN(SUMMARY_COLUMN_MEANING, "meaning", STRING, NONE, BY_HAND,                           \
	       "a line of words; none where it follows from the names")

#define TRACE_COLUMNS_SUMMARY_CELL(COLUMN)                                                         \
	COLUMN(SUMMARY_CELL_TIME, "dts", TIME, NS, BY_HAND, "end of what is summed up")            \
	COLUMN(SUMMARY_CELL_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")            \
	COLUMN(SUMMARY_CELL_ROW, "row", UINT, NONE, BY_HAND, "from 0")                             \
	COLUMN(SUMMARY_CELL_COLUMN, "column", UINT, NONE, BY_HAND, "from 0")                       \
	COLUMN(SUMMARY_CELL_TYPE, "type", UINT, NONE, BY_HAND,                                     \
	       "0: nothing, 1: unsigned, 2: signed, 3: real, 4: truth, 5: text, 6: list of texts, " \
	       "7: table, 8: the next text of the list before")                                    \
	COLUMN(SUMMARY_CELL_FLAGS, "flags", UINT, NONE, BY_HAND,                                   \
	       "1: the number is a lower bound, 2: it stands for one that is not known")           \
	COLUMN(SUMMARY_CELL_VALUE, "value", UINT, NONE, BY_HAND,                                   \
	       "of numbers; the bits of a real; how many texts; number of a table")                \
	COLUMN(SUMMARY_CELL_TEXT, "text", STRING, NONE, BY_HAND, "of texts")

#define TRACE_COLUMNS_SUMMARY_CLASS(COLUMN)                                                        \
	COLUMN(SUMMARY_CLASS_TIME, "dts", TIME, NS, BY_HAND, "end of what is summed up")           \
	COLUMN(SUMMARY_CLASS_TABLE, "table", UINT, NONE, BY_HAND, "number of the table")           \
	COLUMN(SUMMARY_CLASS_ROW, "row", UINT, NONE, BY_HAND, "from 0")                            \
	COLUMN(SUMMARY_CLASS_COLUMN, "column", UINT, NONE, BY_HAND, "from 0")                      \
	COLUMN(SUMMARY_CLASS_PERCENT, "percent", UINT, NONE, BY_HAND, "which percentile it is")    \
	COLUMN(SUMMARY_CLASS_MOST, "most", UINT, NONE, BY_HAND, "the largest value of all")        \
	COLUMN(SUMMARY_CLASS_NUMBER, "class", UINT, NONE, BY_HAND,                                 \
	       "values below 128 are their own class; above, 64 to a power of two, all as wide")   \
	COLUMN(SUMMARY_CLASS_COUNT, "count", UINT, COUNT, BY_HAND, "values in it")
/* clang-format on */

#endif
