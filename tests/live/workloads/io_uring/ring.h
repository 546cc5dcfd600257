/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* io_uring without liburing. */
#pragma once

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../live.h"

#define ENTRIES 8

struct ring {
	int fd;
	struct io_uring_params params;
	char *queue, *done;
	struct io_uring_sqe *entries;
};

static inline void *ring_map(const struct ring *ring, size_t bytes, off_t offset)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd,
			 offset);

	require(map != MAP_FAILED);
	return map;
}

/* Exits with 77 if the kernel lacks io_uring. */
static inline void ring_open(struct ring *ring, unsigned int flags)
{
	memset(ring, 0, sizeof(*ring));
	ring->params.flags = flags;
	ring->params.sq_thread_idle = 2000;
	ring->fd = syscall(SYS_io_uring_setup, ENTRIES, &ring->params);
	if (ring->fd < 0 && (errno == ENOSYS || errno == EPERM))
		exit(77);
	require(ring->fd >= 0);
	ring->queue = ring_map(ring, ring->params.sq_off.array + ENTRIES * sizeof(unsigned int),
			       IORING_OFF_SQ_RING);
	ring->done = ring_map(ring,
			      ring->params.cq_off.cqes +
				      ring->params.cq_entries * sizeof(struct io_uring_cqe),
			      IORING_OFF_CQ_RING);
	ring->entries = ring_map(ring, ENTRIES * sizeof(*ring->entries), IORING_OFF_SQES);
}

static inline unsigned int *ring_field(char *map, unsigned int offset)
{
	return (unsigned int *)(map + offset);
}

static inline void ring_ask(struct ring *ring, struct io_uring_sqe request)
{
	unsigned int *tail = ring_field(ring->queue, ring->params.sq_off.tail);
	unsigned int at = *tail & (ENTRIES - 1);

	ring->entries[at] = request;
	ring_field(ring->queue, ring->params.sq_off.array)[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
}

/* Waits for `count` completions; each must have the result `expected`. */
static inline void ring_reap(struct ring *ring, unsigned int count, int expected)
{
	unsigned int *head = ring_field(ring->done, ring->params.cq_off.head);
	unsigned int *tail = ring_field(ring->done, ring->params.cq_off.tail);
	struct io_uring_cqe *completions = (void *)(ring->done + ring->params.cq_off.cqes);

	while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) - *head < count) {
		/* On a busy machine the kernel thread may sleep before it has polled. */
		if (__atomic_load_n(ring_field(ring->queue, ring->params.sq_off.flags),
				    __ATOMIC_ACQUIRE) &
		    IORING_SQ_NEED_WAKEUP)
			require(!syscall(SYS_io_uring_enter, ring->fd, 0, 0, IORING_ENTER_SQ_WAKEUP,
					 NULL, 0));
		usleep(1000);
	}
	for (unsigned int i = 0; i < count; i++)
		require(completions[(*head + i) & (ring->params.cq_entries - 1)].res == expected);
	__atomic_store_n(head, *head + count, __ATOMIC_RELEASE);
}
