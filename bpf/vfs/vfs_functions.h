/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The kernel functions by which files are read, written and synced, listed once: programs
 * (vfs.bpf.c), probes (probe_table.c) and operations (calls.c) follow from these lists.
 */
#pragma once

/* The recorded operations, ordered by number: OPERATION(ID, name, family). */
#define VFS_OPERATIONS(OPERATION)                                                                  \
	OPERATION(READ, "vfs_read", TRACE_READ)                                                    \
	OPERATION(WRITE, "vfs_write", TRACE_WRITE)                                                 \
	OPERATION(READV, "vfs_readv", TRACE_READ)                                                  \
	OPERATION(WRITEV, "vfs_writev", TRACE_WRITE)                                               \
	OPERATION(KERNEL_READ, "kernel_read", TRACE_KERNEL_READ)                                   \
	OPERATION(KERNEL_WRITE, "kernel_write", TRACE_KERNEL_WRITE)                                \
	OPERATION(ITER_READ, "vfs_iter_read", TRACE_KERNEL_READ)                                   \
	OPERATION(ITER_WRITE, "vfs_iter_write", TRACE_KERNEL_WRITE)                                \
	OPERATION(IOCB_ITER_READ, "vfs_iocb_iter_read", TRACE_KERNEL_READ)                         \
	OPERATION(IOCB_ITER_WRITE, "vfs_iocb_iter_write", TRACE_KERNEL_WRITE)                      \
	OPERATION(SPLICE_READ, "splice_read", TRACE_SPLICE_READ)                                   \
	OPERATION(SPLICE_WRITE, "splice_write", TRACE_SPLICE_WRITE)                                \
	OPERATION(FSYNC_RANGE, "vfs_fsync_range", TRACE_SYNC)

/*
 * The functions, in the groups in which they are chosen: FUNCTION(program, function, ID of the
 * operation, shape). Programs are fl_PROGRAM_in and _out at entry and exit, _kp and _kr by kprobes.
 */
/* for system calls */
#define VFS_CALLS(FUNCTION)                                                                        \
	FUNCTION(vread, vfs_read, READ, BUFFER)                                                    \
	FUNCTION(vwrite, vfs_write, WRITE, BUFFER)
#define VFS_VECTORS(FUNCTION)                                                                      \
	FUNCTION(vreadv, vfs_readv, READV, VECTOR)                                                 \
	FUNCTION(vwritev, vfs_writev, WRITEV, VECTOR)
/* for other parts of the kernel */
#define VFS_KERNEL(FUNCTION)                                                                       \
	FUNCTION(kwrite, __kernel_write_iter, KERNEL_WRITE, KERNEL_ITER)                           \
	VFS_KERNEL_OTHER(FUNCTION)
#define VFS_KERNEL_OLD(FUNCTION)                                                                   \
	VFS_KERNEL_WRITE_OLD(FUNCTION)                                                             \
	VFS_KERNEL_OTHER(FUNCTION)
#define VFS_KERNEL_WRITE_OLD(FUNCTION)                                                             \
	FUNCTION(okwrite, __kernel_write, KERNEL_WRITE, KERNEL_BUFFER)
#define VFS_KERNEL_OTHER(FUNCTION)                                                                 \
	FUNCTION(kread, __kernel_read, KERNEL_READ, KERNEL_BUFFER)                                 \
	FUNCTION(iread, vfs_iter_read, ITER_READ, ITER)                                            \
	FUNCTION(iwrite, vfs_iter_write, ITER_WRITE, ITER)
#define VFS_IOCBS(FUNCTION)                                                                        \
	FUNCTION(cread, vfs_iocb_iter_read, IOCB_ITER_READ, IOCB)                                  \
	FUNCTION(cwrite, vfs_iocb_iter_write, IOCB_ITER_WRITE, IOCB)
/* from file to pipe and back: the halves of splice and similar calls */
#define VFS_SPLICES_IN(FUNCTION)                                                                   \
	FUNCTION(sread, filemap_splice_read, SPLICE_READ, TO_PIPE)                                 \
	FUNCTION(sreadc, copy_splice_read, SPLICE_READ, TO_PIPE)
#define VFS_SPLICES_IN_OLD(FUNCTION)                                                               \
	FUNCTION(osread, generic_file_splice_read, SPLICE_READ, TO_PIPE)
#define VFS_SPLICES_OUT(FUNCTION) FUNCTION(swrite, iter_file_splice_write, SPLICE_WRITE, FROM_PIPE)
/* to storage: each calls the next, unless the compiler has inlined it */
#define VFS_SYNCS(FUNCTION)                                                                        \
	FUNCTION(dsync, do_fsync, FSYNC_RANGE, FD_SYNC)                                            \
	VFS_SYNCS_OF_FILES(FUNCTION)
#define VFS_SYNCS_OF_FILES(FUNCTION)                                                               \
	FUNCTION(fsync, vfs_fsync, FSYNC_RANGE, FILE_SYNC)                                         \
	FUNCTION(vsync, vfs_fsync_range, FSYNC_RANGE, RANGE)

/*
 * Shapes: USE(..., types of the parameters as kernel_has_signature compares them, file, position,
 * requested bytes, type of the result, parameters). All parameters must be listed, because the
 * result follows them.
 */
#define VFS_SHAPE_BUFFER(USE, ...)                                                                 \
	USE(__VA_ARGS__, "file*, char*, size_t, loff_t*", file, position, count, long,             \
	    struct file *file, char *buffer, unsigned long count, long long *position)
#define VFS_SHAPE_KERNEL_BUFFER(USE, ...)                                                          \
	USE(__VA_ARGS__, "file*, void*, size_t, loff_t*", file, position, count, long,             \
	    struct file *file, void *buffer, unsigned long count, long long *position)
#define VFS_SHAPE_VECTOR(USE, ...)                                                                 \
	USE(__VA_ARGS__, "file*, iovec*, long unsigned int, loff_t*, rwf_t", file, position,       \
	    vector_bytes((__u64)vector, count), long, struct file *file,                           \
	    const struct iovec *vector, unsigned long count, long long *position, int flags)
#define VFS_SHAPE_KERNEL_ITER(USE, ...)                                                            \
	USE(__VA_ARGS__, "file*, iov_iter*, loff_t*", file, position, ITER_BYTES(iter), long,      \
	    struct file *file, struct iov_iter *iter, long long *position)
#define VFS_SHAPE_ITER(USE, ...)                                                                   \
	USE(__VA_ARGS__, "file*, iov_iter*, loff_t*, rwf_t", file, position, ITER_BYTES(iter),     \
	    long, struct file *file, struct iov_iter *iter, long long *position, int flags)
#define VFS_SHAPE_IOCB(USE, ...)                                                                   \
	USE(__VA_ARGS__, "file*, kiocb*, iov_iter*", file, KFIELD(kiocb, iocb, ki_pos),            \
	    ITER_BYTES(iter), long, struct file *file, struct kiocb *iocb, struct iov_iter *iter)
#define VFS_SHAPE_TO_PIPE(USE, ...)                                                                \
	USE(__VA_ARGS__, "file*, loff_t*, pipe_inode_info*, size_t, unsigned int", file, position, \
	    count, long, struct file *file, long long *position, struct pipe_inode_info *pipe,     \
	    unsigned long count, unsigned int flags)
#define VFS_SHAPE_FROM_PIPE(USE, ...)                                                              \
	USE(__VA_ARGS__, "pipe_inode_info*, file*, loff_t*, size_t, unsigned int", file, position, \
	    count, long, struct pipe_inode_info *pipe, struct file *file, long long *position,     \
	    unsigned long count, unsigned int flags)
#define VFS_SHAPE_FD_SYNC(USE, ...)                                                                \
	USE(__VA_ARGS__, "unsigned int, int", file_of_fd(bpf_get_current_task_btf(), fd), NULL, 0, \
	    int, unsigned int fd, int data_only)
#define VFS_SHAPE_FILE_SYNC(USE, ...)                                                              \
	USE(__VA_ARGS__, "file*, int", file, NULL, 0, int, struct file *file, int data_only)
#define VFS_SHAPE_RANGE(USE, ...)                                                                  \
	USE(__VA_ARGS__, "file*, loff_t, loff_t, int", file, NULL, 0, int, struct file *file,      \
	    long long start, long long end, int data_only)
