/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Drains the ring buffers. libbpf's consumer publishes its position after each record; this one
 * does so once per batch, so that the CPU that writes keeps its cache line.
 */
#include "capture/drain/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/thread.h"
#include "capture/host/shared.h"

#define BATCH_BYTES (64u << 10)

struct ring {
	int fd; /* closed with the ring; -1: the caller's */
	uint64_t mark;
	uint64_t *consumer;	  /* a page that this side writes */
	const uint64_t *producer; /* a page, followed by the data, mapped twice in a row */
	const char *data;
};

struct rings {
	int epoll_fd, event_fd; /* event_fd is for rings_wake */
	unsigned int count;
	size_t bytes, page;
	int outer_fd; /* the array of maps that holds the rings; -1: none */
	pthread_t offering;
	bool is_offering;
	int offer_error; /* 0 or a negative errno */
	struct ring rings[];
};

static int ring_map(struct ring *ring, int fd, size_t bytes, size_t page)
{
	ring->consumer = shared_map(fd, page, true, 0);
	if (!ring->consumer)
		return -errno;
	ring->producer = shared_map(fd, page + 2 * bytes, false, page);
	if (!ring->producer)
		return -errno;
	ring->data = (const char *)ring->producer + page;
	return 0;
}

static int ring_open(struct ring *ring, size_t bytes, size_t page)
{
	ring->fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "fl_ring", 0, 0, bytes, NULL);
	return ring->fd < 0 ? -errno : ring_map(ring, ring->fd, bytes, page);
}

static struct rings *rings_new(unsigned int count, size_t bytes)
{
	struct rings *rings = calloc(1, sizeof(*rings) + count * sizeof(rings->rings[0]));

	if (!rings)
		return NULL;
	rings->count = count;
	rings->bytes = bytes;
	rings->page = sysconf(_SC_PAGESIZE);
	rings->epoll_fd = rings->event_fd = rings->outer_fd = -1;
	for (unsigned int i = 0; i < count; i++)
		rings->rings[i].fd = -1;
	return rings;
}

int rings_open_one(struct rings **out, int fd, size_t bytes)
{
	struct rings *rings = rings_new(1, bytes);
	int err = rings ? ring_map(&rings->rings[0], fd, bytes, rings->page) : -ENOMEM;

	if (err)
		rings_close(rings);
	else
		*out = rings;
	return err;
}

/* Edge-triggered: a ring that holds records is always readable, and only wake-ups are edges. */
static int watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int rings_listen(struct rings *rings)
{
	int err;

	rings->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	rings->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (rings->epoll_fd < 0 || rings->event_fd < 0)
		return -errno;
	err = watch(rings->epoll_fd, rings->event_fd);
	for (unsigned int i = 0; i < rings->count && !err; i++)
		err = watch(rings->epoll_fd, rings->rings[i].fd);
	return err;
}

/* Puts the rings where programs find them: in one batch, or one by one if the kernel does not
 * support that. */
static int offer_all(const struct rings *rings)
{
	uint32_t *keys = calloc(rings->count, 2 * sizeof(*keys)), *fds, done = rings->count;
	int err = 0;

	if (!keys)
		return -ENOMEM;
	fds = keys + rings->count;
	for (uint32_t i = 0; i < rings->count; i++) {
		keys[i] = i;
		fds[i] = rings->rings[i].fd;
	}
	if (bpf_map_update_batch(rings->outer_fd, keys, fds, &done, NULL))
		for (uint32_t i = 0; i < rings->count && !err; i++)
			if (bpf_map_update_elem(rings->outer_fd, &keys[i], &fds[i], BPF_ANY))
				err = -errno;
	free(keys);
	return err;
}

static void *offering(void *context)
{
	struct rings *rings = context;

	rings->offer_error = offer_all(rings);
	return NULL;
}

/* The kernel ends an update of such a map by waiting for all running programs, which takes longer
 * than everything else here, so a thread does it. */
static int rings_offer(struct rings *rings)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = rings->rings[0].fd);
	int err;

	rings->outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "rings", sizeof(uint32_t),
					 sizeof(uint32_t), rings->count, &options);
	if (rings->outer_fd < 0)
		return -errno;
	err = thread_start(&rings->offering, offering, rings);
	rings->is_offering = !err;
	return err;
}

int rings_open(struct rings **out, unsigned int count, size_t bytes)
{
	struct rings *rings = rings_new(count, bytes);
	int err = -ENOMEM;

	if (!rings)
		return -ENOMEM;
	for (unsigned int i = 0; i < count; i++) {
		err = ring_open(&rings->rings[i], bytes, rings->page);
		if (err)
			goto fail;
	}
	err = rings_listen(rings);
	if (!err)
		err = rings_offer(rings);
	if (err)
		goto fail;
	*out = rings;
	return 0;
fail:
	rings_close(rings);
	return err;
}

int rings_outer_fd(const struct rings *rings)
{
	return rings->outer_fd;
}

int rings_wait_offered(struct rings *rings)
{
	if (rings->is_offering)
		pthread_join(rings->offering, NULL);
	rings->is_offering = false;
	return rings->offer_error;
}

void rings_close(struct rings *rings)
{
	if (!rings)
		return;
	rings_wait_offered(rings);
	for (unsigned int i = 0; i < rings->count; i++) {
		struct ring *ring = &rings->rings[i];

		if (ring->consumer)
			munmap(ring->consumer, rings->page);
		if (ring->producer)
			munmap((void *)ring->producer, rings->page + 2 * rings->bytes);
		if (ring->fd >= 0)
			close(ring->fd);
	}
	if (rings->outer_fd >= 0)
		close(rings->outer_fd);
	if (rings->event_fd >= 0)
		close(rings->event_fd);
	if (rings->epoll_fd >= 0)
		close(rings->epoll_fd);
	free(rings);
}

static size_t ring_drain(struct ring *ring, unsigned int number, size_t mask, ring_record_fn take,
			 void *context)
{
	uint64_t at = *ring->consumer, reported = at;
	size_t records = 0;

	while (at < ring->mark) {
		const uint32_t *header = (const uint32_t *)(ring->data + (at & mask));
		uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
		uint32_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break; /* being written: later records wait, too */
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			take(context, number, (const char *)header + BPF_RINGBUF_HDR_SZ, size);
			records++;
		}
		at += (size + BPF_RINGBUF_HDR_SZ + 7) & ~7ull;
		if (at - reported >= BATCH_BYTES) {
			__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
			reported = at;
		}
	}
	__atomic_store_n(ring->consumer, at, __ATOMIC_RELEASE);
	return records;
}

void rings_wait(struct rings *rings, unsigned int max_ms)
{
	struct epoll_event event;

	epoll_wait(rings->epoll_fd, &event, 1, max_ms);
}

void rings_wake(struct rings *rings)
{
	eventfd_write(rings->event_fd, 1);
}

void rings_mark(struct rings *rings)
{
	for (unsigned int i = 0; i < rings->count; i++)
		rings->rings[i].mark = __atomic_load_n(rings->rings[i].producer, __ATOMIC_ACQUIRE);
}

size_t rings_drain(struct rings *rings, ring_record_fn take, void *context)
{
	size_t records = 0;

	for (unsigned int i = 0; i < rings->count; i++)
		records += ring_drain(&rings->rings[i], i, rings->bytes - 1, take, context);
	return records;
}
