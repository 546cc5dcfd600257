/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bits of the `flags` columns of a trace. Part of the trace format: append-only. Contains only
 * macros, so that the kernel side can set the bits directly.
 */
#ifndef FAULTLINE_TRACE_FLAGS_H
#define FAULTLINE_TRACE_FLAGS_H

/* `flags` of syscall and syscall_path rows: how the file was open, what the call requested. */
#define TRACE_OP_DIRECT (1u << 0)   /* the file was open with O_DIRECT */
#define TRACE_OP_APPEND (1u << 1)   /* the file was open with O_APPEND */
#define TRACE_OP_SYNC (1u << 2)	    /* the file was open with O_SYNC or O_DSYNC */
#define TRACE_OP_UNLINKED (1u << 3) /* the file was unlinked when the call was made */
#define TRACE_OP_WRITABLE (1u << 4) /* open, mmap: for writing */
#define TRACE_OP_CREATE (1u << 5)   /* open: O_CREAT was given */
#define TRACE_OP_TRUNCATE (1u << 6) /* open: O_TRUNC was given */
#define TRACE_OP_SHARED (1u << 7)   /* mmap: MAP_SHARED */
#define TRACE_OP_POPULATE (1u << 8) /* mmap: MAP_POPULATE; madvise: MADV_POPULATE_* */
#define TRACE_OP_NO_FILE (1u << 9)  /* the given descriptor was not open */
#define TRACE_OP_PATH_CUT                                                                          \
	(1u << 10) /* a path was too long or could not be read, so it is truncated */

#define TRACE_OP_EXECUTABLE (1u << 11) /* mmap: PROT_EXEC */

#define TRACE_OP_UNFINISHED                                                                        \
	(1u << 12) /* a signal ended the thread, or the recording ended, before the call did */

#define TRACE_OP_BEFORE                                                                            \
	(1u << 13) /* it began before the recording: it has no duration, and its time is its end;  \
		    * its file is what the descriptor referred to then */

#define TRACE_OP_NOWAIT                                                                            \
	(1u << 14) /* flock with LOCK_NB or LOCK_UN, F_SETLKW and F_OFD_SETLKW with F_UNLCK: it    \
		    * returns at once */

/* `flags` of async rows: the same, and these. */
#define TRACE_OP_FIXED_BUFFER (1u << 16) /* to or from a registered buffer */
#define TRACE_OP_FIXED_FILE (1u << 17)	 /* on a registered file */
#define TRACE_OP_LINKED (1u << 18)	 /* one of a chain that runs in order */
#define TRACE_OP_MULTISHOT (1u << 19)	 /* one completion of a request that has many */
#define TRACE_OP_POLLED (1u << 20)	 /* taken by the kernel thread that polls the ring */
#define TRACE_OP_SILENT                                                                            \
	(1u << 21) /* its completion was suppressed, which implies success; its time is unknown */

/* What a call of fadvise or madvise advised: none of these if unknown. */
#define TRACE_OP_ADVISED (1u << 22) /* shifted by POSIX_FADV_* or MADV_*, which agree: */
#define TRACE_OP_NORMAL (TRACE_OP_ADVISED << 0)
#define TRACE_OP_RANDOM (TRACE_OP_ADVISED << 1)
#define TRACE_OP_SEQUENTIAL (TRACE_OP_ADVISED << 2)
#define TRACE_OP_WILLNEED (TRACE_OP_ADVISED << 3)
#define TRACE_OP_DONTNEED (TRACE_OP_ADVISED << 4) /* fadvise: the file's cached pages */
#define TRACE_OP_NOREUSE (TRACE_OP_ADVISED << 5)  /* only fadvise */
#define TRACE_OP_COLD (1u << 28)		  /* only madvise ... */
#define TRACE_OP_PAGEOUT (1u << 29)
#define TRACE_OP_OTHER_ADVICE (1u << 30) /* none of these */
#define TRACE_OP_ADVICE (0x1ffu << 22)	 /* any of them */

/* `flags` of vfs rows: how the file was open, and the context of the operation. */
#define TRACE_VFS_DIRECT (1u << 0)   /* the file was open with O_DIRECT */
#define TRACE_VFS_APPEND (1u << 1)   /* the file was open with O_APPEND */
#define TRACE_VFS_SYNC (1u << 2)     /* the file was open with O_SYNC or O_DSYNC */
#define TRACE_VFS_UNLINKED (1u << 3) /* the file was unlinked when it ended */
#define TRACE_VFS_IN_CALL (1u << 4)  /* inside a recorded system call */
#define TRACE_VFS_NESTED (1u << 5)   /* ... inside another VFS operation: on a lower file */
#define TRACE_VFS_WORKER (1u << 6)   /* by an io worker of the process */
#define TRACE_VFS_THREAD (1u << 7)   /* by a kernel thread */
#define TRACE_VFS_QUEUED (1u << 8)   /* begun here, continues elsewhere: no result yet */

/* `flags` of span_begin and instant rows. */
#define TRACE_SPAN_CUT                                                                             \
	(1u << 0) /* name or category may be cut; arguments that were too long are missing */
#define TRACE_SPAN_UNREAD (1u << 1) /* one of them could not be read from the program's memory */
#define TRACE_SPAN_RECORDED                                                                        \
	(1u << 2) /* reported after it ended: its times are the program's own claim */

/* `flags` of fault rows. */
#define TRACE_FAULT_MAJOR (1u << 0) /* the kernel counted it as a major fault */
#define TRACE_FAULT_WRITE (1u << 1) /* the access was a write */
#define TRACE_FAULT_FILEMAP                                                                        \
	(1u << 2)		     /* filemap_fault was reached: the page was not simply mapped */
#define TRACE_FAULT_SHARED (1u << 3) /* the mapping is MAP_SHARED: a write reaches the file */
#define TRACE_FAULT_KERNEL (1u << 4) /* the kernel touched the page on the task's behalf */
#define TRACE_FAULT_IN_CALL (1u << 5)  /* inside a recorded system call */
#define TRACE_FAULT_UNLINKED (1u << 6) /* the file was unlinked */
#define TRACE_FAULT_UNFINISHED                                                                     \
	(1u << 7) /* cut off by SIGBUS or the thread's end: bytes and time up to that point */
#define TRACE_FAULT_UNTIMED (1u << 8)	  /* its start or end was not seen: no duration */
#define TRACE_FAULT_RANDOM (1u << 9)	  /* the mapping was advised MADV_RANDOM ... */
#define TRACE_FAULT_SEQUENTIAL (1u << 10) /* ... or MADV_SEQUENTIAL */
#define TRACE_FAULT_BEFORE                                                                         \
	(1u << 11) /* began before the recording; untimed, or timed from the recording's start */
#define TRACE_FAULT_WAITING (1u << 12) /* unfinished because the recording ended first */

#define TRACE_SECTOR_BYTES 512 /* on every device, regardless of its own sectors */

/* `flags` of request and bio rows. */
#define TRACE_BLOCK_META (1u << 0) /* it carries metadata of the file system */
#define TRACE_BLOCK_SYNC (1u << 1) /* a thread waits for it, according to the kernel */
#define TRACE_BLOCK_READAHEAD (1u << 2)
#define TRACE_BLOCK_FUA (1u << 3)      /* completes only when on the medium */
#define TRACE_BLOCK_PREFLUSH (1u << 4) /* completes only after earlier writes are there */
#define TRACE_BLOCK_DIRECT (1u << 5)   /* O_DIRECT: from or to the program's own memory */
#define TRACE_BLOCK_SWAP (1u << 6)
#define TRACE_BLOCK_UNISSUED                                                                       \
	(1u << 7) /* no driver received it: another flush covered it, or the device is gone */
#define TRACE_BLOCK_PART (1u << 8) /* request: more of it ended later, in another row */
#define TRACE_BLOCK_COMPRESSED                                                                     \
	(1u << 9) /* btrfs: its bytes stand for more bytes of the file, from its offset on */
#define TRACE_BLOCK_HELD_BACK                                                                      \
	(1u << 10) /* throttled by a cgroup: a kernel thread queued it for its process */

/* `flags` of profile rows: class and method of the operations, as far as `op` does not say. */
#define TRACE_PROFILE_DIRECT (1u << 0)	 /* the file was open with O_DIRECT */
#define TRACE_PROFILE_UNLINKED (1u << 1) /* the file was unlinked */
#define TRACE_PROFILE_STORES (1u << 2)	 /* faults that write to a shared mapping */
#define TRACE_PROFILE_DIRTIES (1u << 3)	 /* map calls that dirtied pages, */
#define TRACE_PROFILE_BRINGS (1u << 4)	 /* or brought pages in */
#define TRACE_PROFILE_UNTIMED (1u << 5)	 /* their ends are unknown */
#define TRACE_PROFILE_NOWAIT (1u << 6)	 /* locks requested without waiting */
#define TRACE_PROFILE_DROPS (1u << 7)	 /* fadvise calls that drop cached pages, */
#define TRACE_PROFILE_KEEPS (1u << 8)	 /* or give other advice */

/* The file of profile rows for all files without a slot of their own. */
#define TRACE_FILE_OTHER 0xffffffffu
#define TRACE_OTHER_FILES "(other files)" /* its path */
/* `what` of profile_class rows. */
#define TRACE_CLASS_DURATION 0
#define TRACE_CLASS_SIZE 1
#define TRACE_CLASS_OPEN 64 /* `bits` of values above all bounds */

/* `flags` of exec rows. */
#define TRACE_EXEC_NOT_FOLLOWED                                                                    \
	(1u << 0) /* a setuid program or the like: its activity is not recorded */
#define TRACE_EXEC_PRESENT                                                                         \
	(1u << 1) /* not an exec: the process already ran when the recording attached */
#define TRACE_EXEC_JOINED                                                                          \
	(1u << 2) /* ... or it joined the attached target later, for example its cgroup */

/* `flags` of file rows. */
#define TRACE_FILE_DELETED (1u << 0) /* it was unlinked when its path was read */
#define TRACE_FILE_PATH_CUT                                                                        \
	(1u << 1) /* deeper or longer than could be read: the leading part is missing */
#define TRACE_FILE_NAMELESS                                                                        \
	(1u << 2) /* it never had a path: memfd, pipe, socket, anonymous inode */

/* `type` of summary_cell rows: enum cell_type of analysis/table/table.h, and */
#define TRACE_CELL_ITEM 8 /* the next text of the list in that cell */

/* `flags` of summary_cell rows. */
#define TRACE_CELL_AT_MIN (1u << 0)
#define TRACE_CELL_SUMMED (1u << 1)

#endif
