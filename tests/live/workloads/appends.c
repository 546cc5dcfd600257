// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Writes to the end of files, which ignore the offsets given: because the file is open for
 * appending, or the write asks for it; and some that do not append. None overlap. The write number
 * n, from 0, has (n + 1) * 1000 bytes, all 'A' + n. Exits with 77 if the kernel lacks io_uring.
 *
 *   appends libaio|io_uring PATH OTHER
 */
#include <fcntl.h>
#include <linux/aio_abi.h>

#include "io_uring/ring.h"

#define APPEND 0x10   /* RWF_APPEND */
#define NOAPPEND 0x20 /* RWF_NOAPPEND, since 6.9 */
#define MOST 10000

enum { PLAIN, APPENDING, OTHER };

/* Each row is one submission. */
static const struct write {
	int file, flags;
	long offset;
} rows[][3] = {
	{ { APPENDING, 0, 0 }, { APPENDING, 0, 1 << 20 }, { APPENDING, 0, 5 } },
	{ { PLAIN, APPEND, 7 }, { OTHER, 0, 9 }, { OTHER, 0, 11 } },
	{ { APPENDING, NOAPPEND, 1 << 20 }, { PLAIN, 0, 2 << 20 }, { OTHER, 0, 0 } },
};

static char data[9][MOST];
static int files[3];

static int submit_aio(aio_context_t context, const struct write *row, int first)
{
	struct iocb blocks[3] = { 0 }, *list[3];
	struct io_event events[3];

	for (int i = 0; i < 3; i++) {
		blocks[i].aio_lio_opcode = IOCB_CMD_PWRITE;
		blocks[i].aio_fildes = files[row[i].file];
		blocks[i].aio_rw_flags = row[i].flags;
		blocks[i].aio_buf = (uint64_t)data[first + i];
		blocks[i].aio_nbytes = (first + i + 1) * 1000;
		blocks[i].aio_offset = row[i].offset;
		list[i] = &blocks[i];
	}
	if (syscall(SYS_io_submit, context, 3, list) != 3)
		return -1;
	require(syscall(SYS_io_getevents, context, 3, 3, events, NULL) == 3);
	return 0;
}

static int submit_ring(struct ring *ring, const struct write *row, int first)
{
	for (int i = 0; i < 3; i++) {
		ring_ask(ring, (struct io_uring_sqe) { .opcode = IORING_OP_WRITE,
						       .fd = files[row[i].file],
						       .addr = (uint64_t)data[first + i],
						       .len = (first + i + 1) * 1000,
						       .off = row[i].offset,
						       .rw_flags = row[i].flags });
		require(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL,
				0) == 1);
		ring_reap(ring, 1, (first + i + 1) * 1000);
	}
	return 0;
}

int main(int argc, char **argv)
{
	aio_context_t context = 0;
	struct ring ring;
	bool libaio;
	int status = 0;

	require(argc == 4);
	libaio = !strcmp(argv[1], "libaio");
	files[APPENDING] = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0644);
	files[PLAIN] = open(argv[2], O_WRONLY);
	files[OTHER] = open(argv[3], O_WRONLY | O_CREAT | O_APPEND, 0644);
	require(files[PLAIN] >= 0 && files[APPENDING] >= 0 && files[OTHER] >= 0);
	for (int i = 0; i < 9; i++)
		memset(data[i], 'A' + i, MOST);
	if (libaio)
		require(!syscall(SYS_io_setup, 3, &context));
	else
		ring_open(&ring, 0);
	for (int i = 0; i < 3 && !status; i++)
		status = libaio ? submit_aio(context, rows[i], i * 3)
				: submit_ring(&ring, rows[i], i * 3);
	require(!status);
	return 0;
}
