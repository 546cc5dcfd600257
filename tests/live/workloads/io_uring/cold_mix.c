// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Submits operations on three files in rounds: a read of cold FIRST, a read of cold SECOND, a write
 * to OUT, which it creates. Reads are far apart, so that no round reads what another one's
 * readahead fetched. Exits with 77 if the kernel lacks io_uring.
 *
 *   cold_mix plain|chain|synced|worker|polled|libaio random|readahead FIRST SECOND OUT ROUNDS
 *
 * "synced" is a chain with a sync after the first read, and a close after the second.
 */
#include <fcntl.h>
#include <linux/aio_abi.h>

#include "io_uring/ring.h"

#define BLOCK 65536
#define STEP (1 << 20)

static int files[3];
static char *buffers;
static int rounds;

static uint64_t buffer(int i)
{
	return (uint64_t)(buffers + i * BLOCK);
}

static uint64_t offset(int i, int round)
{
	return i < 2 ? (uint64_t)round * STEP : (uint64_t)round * BLOCK;
}

static void use_libaio(void)
{
	aio_context_t context = 0;

	require(!syscall(SYS_io_setup, 3, &context));
	for (int round = 0; round < rounds; round++) {
		struct iocb blocks[3] = { 0 }, *list[3];
		struct io_event events[3];

		for (int i = 0; i < 3; i++) {
			blocks[i].aio_lio_opcode = i < 2 ? IOCB_CMD_PREAD : IOCB_CMD_PWRITE;
			blocks[i].aio_fildes = files[i];
			blocks[i].aio_buf = buffer(i);
			blocks[i].aio_nbytes = BLOCK;
			blocks[i].aio_offset = offset(i, round);
			list[i] = &blocks[i];
		}
		require(syscall(SYS_io_submit, context, 3, list) == 3);
		require(syscall(SYS_io_getevents, context, 3, 3, events, NULL) == 3);
		for (int i = 0; i < 3; i++)
			require(events[i].res == BLOCK);
	}
	require(!syscall(SYS_io_destroy, context));
}

static void use_ring(unsigned int ring_flags, unsigned int flags, unsigned int link)
{
	struct ring ring;

	ring_open(&ring, ring_flags);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 3; i++)
			ring_ask(&ring, (struct io_uring_sqe) {
						.opcode = i < 2 ? IORING_OP_READ : IORING_OP_WRITE,
						.fd = files[i],
						.addr = buffer(i),
						.len = BLOCK,
						.off = offset(i, round),
						.flags = flags | (i < 2 ? link : 0),
					});
		if (!(ring_flags & IORING_SETUP_SQPOLL))
			require(syscall(SYS_io_uring_enter, ring.fd, 3, 3, IORING_ENTER_GETEVENTS,
					NULL, 0) == 3);
		ring_reap(&ring, 3, BLOCK);
	}
	close(ring.fd);
}

static void use_synced(void)
{
	struct ring ring;

	ring_open(&ring, 0);
	for (int round = 0; round < rounds; round++) {
		for (int i = 0; i < 3; i++) {
			ring_ask(&ring, (struct io_uring_sqe) {
						.opcode = i < 2 ? IORING_OP_READ : IORING_OP_WRITE,
						.fd = files[i],
						.addr = buffer(i),
						.len = BLOCK,
						.off = offset(i, round),
						.flags = i < 2 ? IOSQE_IO_LINK : 0,
					});
			if (i < 2)
				ring_ask(&ring,
					 (struct io_uring_sqe) {
						 .opcode = i ? IORING_OP_CLOSE : IORING_OP_FSYNC,
						 .fd = i ? dup(files[i]) : files[i],
						 .flags = IOSQE_IO_LINK,
					 });
		}
		require(syscall(SYS_io_uring_enter, ring.fd, 5, 5, IORING_ENTER_GETEVENTS, NULL,
				0) == 5);
		for (int i = 0; i < 5; i++)
			ring_reap(&ring, 1, i % 2 ? 0 : BLOCK);
	}
	close(ring.fd);
}

int main(int argc, char **argv)
{
	require(argc == 7);
	files[0] = open(argv[3], O_RDONLY);
	files[1] = open(argv[4], O_RDONLY);
	files[2] = open(argv[5], O_RDWR | O_CREAT | O_TRUNC, 0644);
	rounds = atoi(argv[6]);
	buffers = malloc(3 * BLOCK);
	require(files[0] >= 0 && files[1] >= 0 && files[2] >= 0 && buffers);
	if (!strcmp(argv[2], "random"))
		for (int i = 0; i < 2; i++)
			require(!posix_fadvise(files[i], 0, 0, POSIX_FADV_RANDOM));
	if (!strcmp(argv[1], "libaio"))
		use_libaio();
	else if (!strcmp(argv[1], "chain"))
		use_ring(0, 0, IOSQE_IO_LINK);
	else if (!strcmp(argv[1], "synced"))
		use_synced();
	else if (!strcmp(argv[1], "worker"))
		use_ring(0, IOSQE_ASYNC, 0);
	else if (!strcmp(argv[1], "polled"))
		use_ring(IORING_SETUP_SQPOLL, 0, 0);
	else
		use_ring(0, 0, 0);
	return 0;
}
