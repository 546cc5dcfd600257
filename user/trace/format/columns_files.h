/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Files, and operations on them: columns and fields (see columns.h). */
#pragma once

/* clang-format off */
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
	COLUMN(FILE_INSTANCE, 14, "instance", UINT, NONE, FIELD(__u32, instance),                  \
	       "tells apart mounts and disks that used the same device number one after another; " \
	       "0: unknown")                                                                       \
	HIDDEN(__u32, names_bytes)                                                                 \
	HIDDEN(__u32, pad)                                                                         \
	HIDDEN(char, names[]) /* path components from leaf to root, each with its NUL */           \
	COLUMN(FILE_PATH, 8, "path", STRING, NONE, BY_HAND, "path, if known")                      \
	COLUMN(FILE_STRIPES, 12, "stripe_count", UINT, COUNT, BY_HAND,                             \
	       "on Lustre, the number of stripes of the part that has the most, in a further row " \
	       "at the end; 0: unknown")                                                           \
	COLUMN(FILE_STRIPE_BYTES, 13, "stripe_bytes", UINT, BYTES, BY_HAND,                        \
	       "the size of each of these stripes; 0: unknown")

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
/* clang-format on */
