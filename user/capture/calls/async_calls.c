/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables of io_uring and libaio operations.
 *
 * Opcodes are literal numbers because the build's headers may not have them all; the kernel only
 * ever adds opcodes. Unknown ones are counted as "other".
 */
#include "capture/calls/async_calls.h"

#include <assert.h>

struct opcode {
	const char *name;
	enum trace_family family;
	enum async_shape shape;
	unsigned int traits;
};

#define COUNTED(name)                                                                              \
	{                                                                                          \
		name, TRACE_OTHER, ASYNC_COUNTED, 0                                                \
	}

#define MOVES_IN ASYNC_BYTES
#define MOVES_OUT (ASYNC_BYTES | ASYNC_WRITES)

/* Indexed by IORING_OP_* from include/uapi/linux/io_uring.h. */
static const struct opcode uring[] = {
	[0] = COUNTED("io_uring_nop"),
	[1] = { "io_uring_readv", TRACE_READ, ASYNC_RW, MOVES_IN | ASYNC_VECTOR },
	[2] = { "io_uring_writev", TRACE_WRITE, ASYNC_RW, MOVES_OUT | ASYNC_VECTOR },
	[3] = { "io_uring_fsync", TRACE_SYNC, ASYNC_SYNC, 0 },
	[4] = { "io_uring_read_fixed", TRACE_READ, ASYNC_RW, MOVES_IN | ASYNC_BUFFER },
	[5] = { "io_uring_write_fixed", TRACE_WRITE, ASYNC_RW, MOVES_OUT | ASYNC_BUFFER },
	[6] = COUNTED("io_uring_poll_add"),
	[7] = COUNTED("io_uring_poll_remove"),
	[8] = { "io_uring_sync_file_range", TRACE_SYNC, ASYNC_SYNC, 0 },
	[9] = COUNTED("io_uring_sendmsg"),
	[10] = COUNTED("io_uring_recvmsg"),
	[11] = COUNTED("io_uring_timeout"),
	[12] = COUNTED("io_uring_timeout_remove"),
	[13] = COUNTED("io_uring_accept"),
	[14] = COUNTED("io_uring_async_cancel"),
	[15] = COUNTED("io_uring_link_timeout"),
	[16] = COUNTED("io_uring_connect"),
	[17] = { "io_uring_fallocate", TRACE_METADATA, ASYNC_SYNC, 0 },
	[18] = { "io_uring_openat", TRACE_METADATA, ASYNC_OPEN, 0 },
	[19] = { "io_uring_close", TRACE_METADATA, ASYNC_CLOSE, 0 },
	[20] = COUNTED("io_uring_files_update"),
	[21] = { "io_uring_statx", TRACE_METADATA, ASYNC_STATX, 0 },
	[22] = { "io_uring_read", TRACE_READ, ASYNC_RW, MOVES_IN },
	[23] = { "io_uring_write", TRACE_WRITE, ASYNC_RW, MOVES_OUT },
	[24] = { "io_uring_fadvise", TRACE_ADVICE, ASYNC_ADVICE, 0 },
	[25] = { "io_uring_madvise", TRACE_MAP, ASYNC_MAP, 0 },
	[26] = COUNTED("io_uring_send"),
	[27] = COUNTED("io_uring_recv"),
	[28] = { "io_uring_openat2", TRACE_METADATA, ASYNC_OPEN, 0 },
	[29] = COUNTED("io_uring_epoll_ctl"),
	[30] = { "io_uring_splice", TRACE_TRANSFER, ASYNC_SPLICE, MOVES_IN },
	[31] = COUNTED("io_uring_provide_buffers"),
	[32] = COUNTED("io_uring_remove_buffers"),
	[33] = COUNTED("io_uring_tee"),
	[34] = COUNTED("io_uring_shutdown"),
	[35] = { "io_uring_renameat", TRACE_METADATA, ASYNC_RENAME, 0 },
	[36] = { "io_uring_unlinkat", TRACE_METADATA, ASYNC_UNLINK, 0 },
	[37] = { "io_uring_mkdirat", TRACE_METADATA, ASYNC_MKDIR, 0 },
	[38] = { "io_uring_symlinkat", TRACE_METADATA, ASYNC_SYMLINK, 0 },
	[39] = { "io_uring_linkat", TRACE_METADATA, ASYNC_RENAME, 0 },
	[40] = COUNTED("io_uring_msg_ring"),
	[41] = { "io_uring_fsetxattr", TRACE_METADATA, ASYNC_FILE, 0 },
	[42] = { "io_uring_setxattr", TRACE_METADATA, ASYNC_XATTR, 0 },
	[43] = { "io_uring_fgetxattr", TRACE_METADATA, ASYNC_FILE, 0 },
	[44] = { "io_uring_getxattr", TRACE_METADATA, ASYNC_XATTR, 0 },
	[45] = COUNTED("io_uring_socket"),
	[46] = COUNTED("io_uring_uring_cmd"),
	[47] = COUNTED("io_uring_send_zc"),
	[48] = COUNTED("io_uring_sendmsg_zc"),
	[49] = { "io_uring_read_multishot", TRACE_READ, ASYNC_RW, MOVES_IN | ASYNC_MULTISHOT },
	[50] = COUNTED("io_uring_waitid"),
	[51] = COUNTED("io_uring_futex_wait"),
	[52] = COUNTED("io_uring_futex_wake"),
	[53] = COUNTED("io_uring_futex_waitv"),
	[54] = COUNTED("io_uring_fixed_fd_install"),
	[55] = { "io_uring_ftruncate", TRACE_METADATA, ASYNC_FILE, 0 },
	[56] = COUNTED("io_uring_bind"),
	[57] = COUNTED("io_uring_listen"),
	[58] = COUNTED("io_uring_recv_zc"),
	[59] = COUNTED("io_uring_epoll_wait"),
	[60] = { "io_uring_readv_fixed", TRACE_READ, ASYNC_RW,
		 MOVES_IN | ASYNC_VECTOR | ASYNC_BUFFER },
	[61] = { "io_uring_writev_fixed", TRACE_WRITE, ASYNC_RW,
		 MOVES_OUT | ASYNC_VECTOR | ASYNC_BUFFER },
	[62] = COUNTED("io_uring_pipe"),
	[63] = COUNTED("io_uring_other"),
};

/* Indexed by IOCB_CMD_* from include/uapi/linux/aio_abi.h. */
static const struct opcode aio[] = {
	[0] = { "libaio_pread", TRACE_READ, ASYNC_RW, MOVES_IN },
	[1] = { "libaio_pwrite", TRACE_WRITE, ASYNC_RW, MOVES_OUT },
	[2] = { "libaio_fsync", TRACE_SYNC, ASYNC_FILE, 0 },
	[3] = { "libaio_fdsync", TRACE_SYNC, ASYNC_FILE, 0 },
	[4] = COUNTED("libaio_other"),
	[5] = COUNTED("libaio_poll"),
	[6] = COUNTED("libaio_noop"),
	[7] = { "libaio_preadv", TRACE_READ, ASYNC_RW, MOVES_IN | ASYNC_VECTOR },
	[8] = { "libaio_pwritev", TRACE_WRITE, ASYNC_RW, MOVES_OUT | ASYNC_VECTOR },
};

#define URING_COUNT (sizeof(uring) / sizeof(uring[0]))
#define AIO_COUNT (sizeof(aio) / sizeof(aio[0]))
#define URING_OTHER (URING_COUNT - 1)
#define AIO_OTHER 4

static_assert(URING_COUNT <= URING_TABLE_SIZE && AIO_COUNT <= AIO_TABLE_SIZE, "raise the sizes");
static_assert(URING_COUNT + AIO_COUNT <= ASYNC_OPERATIONS_MAX, "raise ASYNC_OPERATIONS_MAX");

static struct trace_operation operations[URING_COUNT + AIO_COUNT];

const struct trace_operation *async_operations(size_t *count)
{
	for (size_t i = 0; i < URING_COUNT; i++)
		operations[i] =
			(struct trace_operation) { "async", uring[i].name, uring[i].family };
	for (size_t i = 0; i < AIO_COUNT; i++)
		operations[URING_COUNT + i] =
			(struct trace_operation) { "async", aio[i].name, aio[i].family };
	*count = URING_COUNT + AIO_COUNT;
	return operations;
}

static void fill(struct async_row *rows, size_t size, const struct opcode *table, size_t count,
		 size_t other, unsigned int first)
{
	for (size_t i = 0; i < size; i++) {
		size_t known = i < count ? i : other;

		rows[i] = (struct async_row) { .op = first + known,
					       .shape = table[known].shape,
					       .traits = table[known].traits };
	}
}

void async_fill_rows(struct async_row *uring_rows, struct async_row *aio_rows, unsigned int first)
{
	fill(uring_rows, URING_TABLE_SIZE, uring, URING_COUNT, URING_OTHER, first);
	fill(aio_rows, AIO_TABLE_SIZE, aio, AIO_COUNT, AIO_OTHER, first + URING_COUNT);
}
