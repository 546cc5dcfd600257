// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads a file through io_uring, with and without a kernel thread that polls the ring, and through
 * libaio: with raw system calls, so that it can count its own submissions; through the page cache
 * or with O_DIRECT. Reports the amounts in OUT. Exits with 77 if the kernel lacks io_uring.
 *
 *   uring FILE OUT [direct]
 */
#include <fcntl.h>
#include <linux/aio_abi.h>

#include "io_uring/ring.h"

#define ROUNDS 5
#define BLOCK 4096

static char buffers[ENTRIES][BLOCK] __attribute__((aligned(BLOCK)));

/* Queues reads of the file's blocks in the ring. */
static void ring_fill(struct ring *ring, int file)
{
	for (unsigned int i = 0; i < ENTRIES; i++)
		ring_ask(ring, (struct io_uring_sqe) {
				       .opcode = IORING_OP_READ,
				       .fd = file,
				       .addr = (uint64_t)buffers[i],
				       .len = BLOCK,
				       .off = i * BLOCK,
			       });
}

static long use_ring(int file)
{
	struct ring ring;
	long submitted = 0;

	ring_open(&ring, 0);
	for (int i = 0; i < ROUNDS; i++) {
		long n;

		ring_fill(&ring, file);
		n = syscall(SYS_io_uring_enter, ring.fd, ENTRIES, ENTRIES, IORING_ENTER_GETEVENTS,
			    NULL, 0);
		require(n == ENTRIES);
		submitted += n;
		ring_reap(&ring, ENTRIES, BLOCK);
	}
	require(syscall(SYS_io_uring_enter, -1, 1, 0, 0, NULL, 0) < 0);
	close(ring.fd);
	return submitted;
}

/* No call submits: the kernel thread polls for entries. */
static void use_polled_ring(int file)
{
	struct ring ring;

	ring_open(&ring, IORING_SETUP_SQPOLL);
	ring_fill(&ring, file);
	ring_reap(&ring, ENTRIES, BLOCK);
	close(ring.fd);
}

static long use_aio(int file)
{
	struct iocb blocks[ENTRIES] = { 0 }, *list[ENTRIES];
	struct io_event events[ENTRIES];
	aio_context_t context = 0;
	long submitted = 0;

	require(!syscall(SYS_io_setup, ENTRIES, &context));
	for (int i = 0; i < ENTRIES; i++) {
		blocks[i].aio_lio_opcode = IOCB_CMD_PREAD;
		blocks[i].aio_fildes = file;
		blocks[i].aio_buf = (uint64_t)buffers[i];
		blocks[i].aio_nbytes = BLOCK;
		blocks[i].aio_offset = i * BLOCK;
		list[i] = &blocks[i];
	}
	for (int i = 0; i < ROUNDS; i++) {
		long n = syscall(SYS_io_submit, context, ENTRIES, list);

		require(n == ENTRIES);
		submitted += n;
		require(syscall(SYS_io_getevents, context, n, n, events, NULL) == n);
	}
	require(!syscall(SYS_io_destroy, context));
	return submitted;
}

int main(int argc, char **argv)
{
	long uring, aio;
	FILE *out;
	int file;

	require(argc == 3 || (argc == 4 && !strcmp(argv[3], "direct")));
	file = open(argv[1], O_RDONLY | (argc == 4 ? O_DIRECT : 0));
	require(file >= 0);
	uring = use_ring(file);
	use_polled_ring(file);
	aio = use_aio(file);
	out = fopen(argv[2], "w");
	require(out);
	fprintf(out,
		"{\"pid\": %d, \"io_uring\": %ld, \"libaio\": %ld, \"polled_rings\": 1, "
		"\"polled\": %d, \"rounds\": %d, \"block_bytes\": %d}\n",
		(int)getpid(), uring, aio, ENTRIES, ROUNDS, BLOCK);
	require(!fclose(out));
	return 0;
}
