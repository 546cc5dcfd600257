// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Reads 4 KiB blocks at random offsets of a file or device for SECONDS: through io_uring at depth
 * 32, with O_DIRECT (direct) or through the page cache (cached), or with one O_DIRECT call at a
 * time (single). Prints ns per read, and the number of reads.
 *
 *   queue FILE direct|cached|single SECONDS
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/bench/clock.h"
#include "tests/random.h"

#define DEPTH 32
#define BLOCK 4096

static struct io_uring_params params;
static char *queue, *done;
static struct io_uring_sqe *entries;
static char *buffers;
static int ring, file;
static uint64_t blocks, state = 88172645463325252;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void *map(int fd, size_t bytes, off_t offset)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_POPULATE, fd, offset);

	if (at == MAP_FAILED)
		fail("mmap");
	return at;
}

static unsigned int *field(char *at, unsigned int offset)
{
	return (unsigned int *)(at + offset);
}

static void open_ring(void)
{
	ring = syscall(SYS_io_uring_setup, DEPTH, &params);
	if (ring < 0)
		fail("io_uring_setup");
	queue = map(ring, params.sq_off.array + DEPTH * sizeof(unsigned int), IORING_OFF_SQ_RING);
	done = map(ring, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		   IORING_OFF_CQ_RING);
	entries = map(ring, DEPTH * sizeof(*entries), IORING_OFF_SQES);
	buffers = map(-1, DEPTH * BLOCK, 0);
}

/* Queues a read into buffer `number`. */
static void ask(unsigned int number)
{
	unsigned int *tail = field(queue, params.sq_off.tail), at = *tail & (DEPTH - 1);

	entries[at] = (struct io_uring_sqe) {
		.opcode = IORING_OP_READ,
		.fd = file,
		.addr = (uint64_t)buffers + number * BLOCK,
		.len = BLOCK,
		.off = next_random(&state) % blocks * BLOCK,
		.user_data = number,
	};
	field(queue, params.sq_off.array)[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Reaps completions, and queues as many reads again. */
static unsigned int reap(void)
{
	unsigned int *head = field(done, params.cq_off.head), taken = 0;
	const struct io_uring_cqe *completions = (void *)(done + params.cq_off.cqes);
	unsigned int tail = __atomic_load_n(field(done, params.cq_off.tail), __ATOMIC_ACQUIRE);

	for (; *head != tail; taken++, __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE)) {
		const struct io_uring_cqe *one = &completions[*head & (params.cq_entries - 1)];

		if (one->res != BLOCK) {
			errno = one->res < 0 ? -one->res : EIO;
			fail("read");
		}
		ask(one->user_data);
	}
	return taken;
}

static void read_block(uint64_t block)
{
	if (pread(file, buffers, BLOCK, block * BLOCK) != BLOCK)
		fail("read");
}

/* Waits for at least one completion, and queues as many reads again. */
static unsigned int turn(void)
{
	static unsigned int fresh = DEPTH;

	if (syscall(SYS_io_uring_enter, ring, fresh, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0)
		fail("io_uring_enter");
	fresh = reap();
	return fresh;
}

int main(int argc, char **argv)
{
	uint64_t reads = 0, start, ns;
	bool cached, single;

	if (argc != 4)
		return 2;
	cached = !strcmp(argv[2], "cached");
	single = !strcmp(argv[2], "single");
	file = open(argv[1], O_RDONLY | (cached ? 0 : O_DIRECT));
	if (file < 0)
		fail(argv[1]);
	blocks = lseek(file, 0, SEEK_END) / BLOCK;
	open_ring();
	for (uint64_t i = 0; cached && i < blocks; i++)
		read_block(i);
	for (unsigned int i = 0; i < DEPTH; i++)
		ask(i);
	start = clock_ns();
	do {
		if (single)
			read_block(next_random(&state) % blocks);
		reads += single ? 1 : turn();
		ns = clock_ns() - start;
	} while (ns < atof(argv[3]) * 1e9);
	printf("%.1f %llu\n", (double)ns / reads, (unsigned long long)reads);
	return 0;
}
