// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads a file through io_uring, with and without a thread of the kernel that polls the ring, and
 * through the kernel's asynchronous I/O: by system calls alone, so that it counts itself what it
 * submits; out of the page cache, or past it. Says in OUT how much. Exits with 77 where the kernel
 * has no io_uring.
 *
 *   uring FILE OUT [direct]
 */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "live.h"

#define ENTRIES 8
#define ROUNDS 5
#define BLOCK 4096

static char buffers[ENTRIES][BLOCK] __attribute__((aligned(BLOCK)));

struct ring {
	int fd;
	struct io_uring_params params;
	char *queue, *done;
	struct io_uring_sqe *entries;
};

static void *map_ring(int fd, size_t bytes, off_t offset)
{
	void *map =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	require(map != MAP_FAILED);
	return map;
}

static void ring_open(struct ring *ring, unsigned int flags)
{
	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 2000;
	ring->fd = syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	require(ring->fd >= 0);
	ring->queue = map_ring(ring->fd, ring->params.sq_off.array + ENTRIES * sizeof(unsigned int),
			       IORING_OFF_SQ_RING);
	ring->done = map_ring(ring->fd,
			      ring->params.cq_off.cqes +
				      ring->params.cq_entries * sizeof(struct io_uring_cqe),
			      IORING_OFF_CQ_RING);
	ring->entries = map_ring(ring->fd, ENTRIES * sizeof(*ring->entries), IORING_OFF_SQES);
}

static unsigned int *field(char *map, unsigned int offset)
{
	return (unsigned int *)(map + offset);
}

/* Puts reads of the file's blocks into the ring. */
static void ring_fill(struct ring *ring, int file)
{
	unsigned int *tail = field(ring->queue, ring->params.sq_off.tail), at = *tail;
	unsigned int *array = field(ring->queue, ring->params.sq_off.array);

	for (unsigned int i = 0; i < ENTRIES; i++, at++) {
		ring->entries[i] = (struct io_uring_sqe) {
			.opcode = IORING_OP_READ,
			.fd = file,
			.addr = (uint64_t)buffers[i],
			.len = BLOCK,
			.off = i * BLOCK,
		};
		array[at & (ENTRIES - 1)] = i;
	}
	__atomic_store_n(tail, at, __ATOMIC_RELEASE);
}

static void ring_reap(struct ring *ring)
{
	unsigned int *head = field(ring->done, ring->params.cq_off.head);
	unsigned int *tail = field(ring->done, ring->params.cq_off.tail);

	while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) - *head < ENTRIES) {
		/* On a busy machine it may have gone to sleep before it looked. */
		if (__atomic_load_n(field(ring->queue, ring->params.sq_off.flags),
				    __ATOMIC_ACQUIRE) &
		    IORING_SQ_NEED_WAKEUP)
			require(!syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_SQ_WAKEUP,
					 NULL, 0));
		usleep(1000);
	}
	__atomic_store_n(head, *head + ENTRIES, __ATOMIC_RELEASE);
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
		ring_reap(&ring);
	}
	require(syscall(SYS_io_uring_enter, -1, 1, 0, 0, NULL, 0) < 0);
	close(ring.fd);
	return submitted;
}

/* No call submits: the kernel's thread looks for itself. */
static void use_polled_ring(int file)
{
	struct ring ring;

	ring_open(&ring, IORING_SETUP_SQPOLL);
	ring_fill(&ring, file);
	ring_reap(&ring);
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
