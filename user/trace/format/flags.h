/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bits of the `flags` columns of a trace, part of its format: FLAG(ID, bit, name) in the list of
 * the kinds that columns.h names. TRACE_ID is the mask, which the kernel side sets directly; output
 * shows the name. Append-only.
 */
#pragma once

/* clang-format off */
/* System calls, io_uring and libaio operations: how the file was open, what was requested. Bits
 * 16 to 21 are only in async rows; 22 to 30 say what a call of fadvise or madvise advised, none of
 * them if that is unknown. */
#define TRACE_OP_FLAGS(FLAG)                                                                       \
	FLAG(OP_DIRECT, 0, "direct") /* the file was open with O_DIRECT */                         \
	FLAG(OP_APPEND, 1, "append") /* the file was open with O_APPEND */                         \
	FLAG(OP_SYNC, 2, "sync") /* the file was open with O_SYNC or O_DSYNC */                    \
	FLAG(OP_UNLINKED, 3, "unlinked") /* the file was unlinked when the call was made */        \
	FLAG(OP_WRITABLE, 4, "writable") /* open, mmap: for writing */                             \
	FLAG(OP_CREATE, 5, "create") /* open: O_CREAT was given */                                 \
	FLAG(OP_TRUNCATE, 6, "truncate") /* open: O_TRUNC was given */                             \
	FLAG(OP_SHARED, 7, "shared") /* mmap: MAP_SHARED */                                        \
	FLAG(OP_POPULATE, 8, "populate") /* mmap: MAP_POPULATE; madvise: MADV_POPULATE_* */        \
	FLAG(OP_NO_FILE, 9, "no file") /* the given descriptor was not open */                     \
	/* a path was too long or could not be read, so it is truncated */                         \
	FLAG(OP_PATH_CUT, 10, "path cut")                                                          \
	FLAG(OP_EXECUTABLE, 11, "executable") /* mmap: PROT_EXEC */                                \
	/* a signal ended the thread, or the recording ended, before the call did */               \
	FLAG(OP_UNFINISHED, 12, "unfinished")                                                      \
	/* it began before the recording: it has no duration, and its time is its end; its file    \
	 * is what the descriptor referred to then */                                              \
	FLAG(OP_BEFORE, 13, "before")                                                              \
	/* flock with LOCK_NB or LOCK_UN, F_SETLKW and F_OFD_SETLKW with F_UNLCK: it returns at    \
	 * once */                                                                                 \
	FLAG(OP_NOWAIT, 14, "nowait")                                                              \
	FLAG(OP_FIXED_BUFFER, 16, "fixed buffer") /* to or from a registered buffer */             \
	FLAG(OP_FIXED_FILE, 17, "fixed file") /* on a registered file */                           \
	FLAG(OP_LINKED, 18, "linked") /* one of a chain that runs in order */                      \
	FLAG(OP_MULTISHOT, 19, "multishot") /* one completion of a request that has many */        \
	FLAG(OP_POLLED, 20, "polled") /* taken by the kernel thread that polls the ring */         \
	/* its completion was suppressed, which implies success; its time is unknown */            \
	FLAG(OP_SILENT, 21, "silent")                                                              \
	FLAG(OP_NORMAL, 22, "normal")                                                              \
	FLAG(OP_RANDOM, 23, "random")                                                              \
	FLAG(OP_SEQUENTIAL, 24, "sequential")                                                      \
	FLAG(OP_WILLNEED, 25, "willneed")                                                          \
	FLAG(OP_DONTNEED, 26, "dontneed") /* fadvise: the file's cached pages */                   \
	FLAG(OP_NOREUSE, 27, "noreuse") /* only fadvise */                                         \
	FLAG(OP_COLD, 28, "cold") /* only madvise ... */                                           \
	FLAG(OP_PAGEOUT, 29, "pageout")                                                            \
	FLAG(OP_OTHER_ADVICE, 30, "other advice") /* none of these */

/* Waits of threads. */
#define TRACE_WAIT_FLAGS(FLAG)                                                                     \
	FLAG(WAIT_UNFINISHED, 0, "unfinished") /* the recording ended before the wait did */       \
	/* it began before the thread was followed, from when its time counts */                   \
	FLAG(WAIT_BEFORE, 1, "before")

/* Requests to servers of file systems. */
#define TRACE_REMOTE_FLAGS(FLAG)                                                                   \
	/* readahead, writeback and other requests that no call waits for when it makes them */    \
	FLAG(REMOTE_BACKGROUND, 0, "background")                                                   \
	FLAG(REMOTE_UNANSWERED, 1, "unanswered") /* ended without a reply: the server is gone */   \
	FLAG(REMOTE_INTERRUPTED, 2, "interrupted") /* a signal came while a thread waited for it */

/* How the file was open, and the context of the operation. */
#define TRACE_VFS_FLAGS(FLAG)                                                                      \
	FLAG(VFS_DIRECT, 0, "direct") /* the file was open with O_DIRECT */                        \
	FLAG(VFS_APPEND, 1, "append") /* the file was open with O_APPEND */                        \
	FLAG(VFS_SYNC, 2, "sync") /* the file was open with O_SYNC or O_DSYNC */                   \
	FLAG(VFS_UNLINKED, 3, "unlinked") /* the file was unlinked when it ended */                \
	FLAG(VFS_IN_CALL, 4, "in call") /* inside a recorded system call */                        \
	FLAG(VFS_NESTED, 5, "nested") /* ... inside another VFS operation: on a lower file */      \
	FLAG(VFS_WORKER, 6, "worker") /* by an io worker of the process */                         \
	FLAG(VFS_THREAD, 7, "thread") /* by a kernel thread */                                     \
	FLAG(VFS_QUEUED, 8, "queued") /* begun here, continues elsewhere: no result yet */

/* span_begin and instant rows */
#define TRACE_SPAN_FLAGS(FLAG)                                                                     \
	/* name or category may be cut; arguments that were too long are missing */                \
	FLAG(SPAN_CUT, 0, "cut")                                                                   \
	/* one of them could not be read from the program's memory */                              \
	FLAG(SPAN_UNREAD, 1, "unread")                                                             \
	/* reported after it ended: its times are the program's own claim */                       \
	FLAG(SPAN_RECORDED, 2, "recorded")

#define TRACE_FAULT_FLAGS(FLAG)                                                                    \
	FLAG(FAULT_MAJOR, 0, "major") /* the kernel counted it as a major fault */                 \
	FLAG(FAULT_WRITE, 1, "write") /* the access was a write */                                 \
	/* filemap_fault was reached: the page was not simply mapped */                            \
	FLAG(FAULT_FILEMAP, 2, "filemap")                                                          \
	FLAG(FAULT_SHARED, 3, "shared") /* the mapping is MAP_SHARED: a write reaches the file */  \
	FLAG(FAULT_KERNEL, 4, "kernel") /* the kernel touched the page on the task's behalf */     \
	FLAG(FAULT_IN_CALL, 5, "in call") /* inside a recorded system call */                      \
	FLAG(FAULT_UNLINKED, 6, "unlinked") /* the file was unlinked */                            \
	/* cut off by SIGBUS or the thread's end: bytes and time up to that point */               \
	FLAG(FAULT_UNFINISHED, 7, "unfinished")                                                    \
	FLAG(FAULT_UNTIMED, 8, "untimed") /* its start or end was not seen: no duration */         \
	FLAG(FAULT_RANDOM, 9, "random") /* the mapping was advised MADV_RANDOM ... */              \
	FLAG(FAULT_SEQUENTIAL, 10, "sequential") /* ... or MADV_SEQUENTIAL */                      \
	/* began before the recording; untimed, or timed from the recording's start */             \
	FLAG(FAULT_BEFORE, 11, "before")                                                           \
	FLAG(FAULT_WAITING, 12, "waiting") /* unfinished because the recording ended first */

/* request and bio rows */
#define TRACE_BLOCK_FLAGS(FLAG)                                                                    \
	FLAG(BLOCK_META, 0, "metadata") /* it carries metadata of the file system */               \
	FLAG(BLOCK_SYNC, 1, "sync") /* a thread waits for it, according to the kernel */           \
	FLAG(BLOCK_READAHEAD, 2, "readahead")                                                      \
	FLAG(BLOCK_FUA, 3, "fua") /* completes only when on the medium */                          \
	FLAG(BLOCK_PREFLUSH, 4, "preflush") /* completes only after earlier writes are there */    \
	FLAG(BLOCK_DIRECT, 5, "direct") /* O_DIRECT: from or to the program's own memory */        \
	FLAG(BLOCK_SWAP, 6, "swap")                                                                \
	/* no driver received it: another flush covered it, or the device is gone */               \
	FLAG(BLOCK_UNISSUED, 7, "unissued")                                                        \
	FLAG(BLOCK_PART, 8, "part") /* request: more of it ended later, in another row */          \
	/* btrfs: its bytes stand for more bytes of the file, from its offset on */                \
	FLAG(BLOCK_COMPRESSED, 9, "compressed")                                                    \
	/* throttled by a cgroup: a kernel thread queued it for its process */                     \
	FLAG(BLOCK_HELD_BACK, 10, "held back")

/* Class and method of the operations, as far as `op` does not say. */
#define TRACE_PROFILE_FLAGS(FLAG)                                                                  \
	FLAG(PROFILE_DIRECT, 0, "direct") /* the file was open with O_DIRECT */                    \
	FLAG(PROFILE_UNLINKED, 1, "unlinked") /* the file was unlinked */                          \
	FLAG(PROFILE_STORES, 2, "stores") /* faults that write to a shared mapping */              \
	FLAG(PROFILE_DIRTIES, 3, "dirties") /* map calls that dirtied pages, */                    \
	FLAG(PROFILE_BRINGS, 4, "brings") /* or brought pages in */                                \
	FLAG(PROFILE_UNTIMED, 5, "untimed") /* their ends are unknown */                           \
	FLAG(PROFILE_NOWAIT, 6, "nowait") /* locks requested without waiting */                    \
	FLAG(PROFILE_DROPS, 7, "drops") /* fadvise calls that drop cached pages, */                \
	FLAG(PROFILE_KEEPS, 8, "keeps") /* or give other advice */

#define TRACE_EXEC_FLAGS(FLAG)                                                                     \
	/* a setuid program or the like: its activity is not recorded */                           \
	FLAG(EXEC_NOT_FOLLOWED, 0, "not followed")                                                 \
	/* not an exec: the process already ran when the recording attached */                     \
	FLAG(EXEC_PRESENT, 1, "present")                                                           \
	/* ... or it joined the attached target later, for example its cgroup */                   \
	FLAG(EXEC_JOINED, 2, "joined")

#define TRACE_FILE_FLAGS(FLAG)                                                                     \
	FLAG(FILE_DELETED, 0, "deleted") /* it was unlinked when its path was read */              \
	/* deeper or longer than could be read: the leading part is missing */                     \
	FLAG(FILE_PATH_CUT, 1, "path cut")                                                         \
	/* it never had a path: memfd, pipe, socket, anonymous inode */                            \
	FLAG(FILE_NAMELESS, 2, "nameless")

/* How much of the stack is known. Without any of these flags: all of it. */
#define TRACE_SAMPLE_FLAGS(FLAG)                                                                   \
	/* the outer frames are missing: too many, or not readable */                              \
	FLAG(SAMPLE_CUT, 0, "cut")                                                                 \
	/* the process runs no interpreter that is known, or not yet */                            \
	FLAG(SAMPLE_NO_PYTHON, 1, "no python")                                                     \
	FLAG(SAMPLE_NO_THREAD, 2, "no thread") /* the thread is unknown to the interpreter */      \
	FLAG(SAMPLE_NO_FRAME, 3, "no frame") /* the thread runs no Python code */                  \
	/* the interpreter's memory could not be read, or the native stack not be unwound */       \
	FLAG(SAMPLE_UNREAD, 4, "unread")                                                           \
	FLAG(SAMPLE_LOST, 5, "lost") /* the stack's records found no room */                       \
	/* the operation or wait had not ended when the recording did; its stack was read then */  \
	FLAG(SAMPLE_UNFINISHED, 6, "unfinished")                                                   \
	/* the thread is beyond those of the interpreter that are searched */                      \
	FLAG(SAMPLE_MANY_THREADS, 7, "many threads")

#define TRACE_NO_FLAGS(FLAG)
/* clang-format on */

#define TRACE_FLAG(id, bit, name) TRACE_##id = 1u << (bit),
enum { TRACE_OP_FLAGS(TRACE_FLAG) };
enum { TRACE_VFS_FLAGS(TRACE_FLAG) };
enum { TRACE_SPAN_FLAGS(TRACE_FLAG) };
enum { TRACE_FAULT_FLAGS(TRACE_FLAG) };
enum { TRACE_WAIT_FLAGS(TRACE_FLAG) };
enum { TRACE_BLOCK_FLAGS(TRACE_FLAG) };
enum { TRACE_REMOTE_FLAGS(TRACE_FLAG) };
enum { TRACE_PROFILE_FLAGS(TRACE_FLAG) };
enum { TRACE_EXEC_FLAGS(TRACE_FLAG) };
enum { TRACE_FILE_FLAGS(TRACE_FLAG) };
enum { TRACE_SAMPLE_FLAGS(TRACE_FLAG) };

#define TRACE_OP_ADVISED TRACE_OP_NORMAL /* shifted by POSIX_FADV_* or MADV_*, which agree */
#define TRACE_OP_ADVICE (0x1ffu << 22)	 /* any advice */

#define TRACE_SECTOR_BYTES 512 /* on every device, regardless of its own sectors */

/* The file of profile rows for all files without a slot of their own. */
#define TRACE_FILE_OTHER 0xffffffffu
#define TRACE_OTHER_FILES "(other files)" /* its path */
/* `what` of profile_class rows. */
#define TRACE_CLASS_DURATION 0
#define TRACE_CLASS_SIZE 1
#define TRACE_CLASS_OPEN 64 /* `bits` of values above all bounds */

/* `type` of summary_cell rows: enum cell_type of analysis/table/table.h, and */
#define TRACE_CELL_ITEM 8 /* the next text of the list in that cell */

/* `flags` of summary_cell rows. */
#define TRACE_CELL_AT_MIN (1u << 0)
#define TRACE_CELL_SUMMED (1u << 1)
