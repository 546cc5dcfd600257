/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Drains the CPU buffers. As with the rings, the read position moves once per batch.
 *
 * The kernel side takes no slot before the reader has left it, and the reader leaves no slot before
 * it is filled. The reader checks anyway: a slot with a later number than expected was overrun, and
 * counts as lost.
 */
#include "capture/drain/lane.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bpf/records/event.h"
#include "capture/host/shared.h"

#define BATCH_SLOTS 512
#define RUN_SLOTS 32   /* passed on at a time */
#define SLOTS_AHEAD 24 /* prefetch distance: slots are in another CPU's cache */

struct lanes {
	unsigned int count;
	size_t slots_each, controls_bytes, slots_bytes;
	struct lane_control *controls; /* we write `taken` */
	const struct lane_slot *slots;
	uint64_t overrun;
	uint64_t marks[];
};

int lanes_open(struct lanes **out, int controls_fd, int slots_fd, unsigned int count,
	       size_t slots_each)
{
	struct lanes *lanes = calloc(1, sizeof(*lanes) + count * sizeof(lanes->marks[0]));
	int err;

	if (!lanes)
		return -ENOMEM;
	lanes->count = count;
	lanes->slots_each = slots_each;
	lanes->controls_bytes = shared_pages(count * sizeof(*lanes->controls));
	lanes->slots_bytes = shared_pages(count * slots_each * sizeof(*lanes->slots));
	lanes->controls = shared_map(controls_fd, lanes->controls_bytes, true, 0);
	if (!lanes->controls)
		goto fail;
	lanes->slots = shared_map(slots_fd, lanes->slots_bytes, false, 0);
	if (!lanes->slots)
		goto fail;
	*out = lanes;
	return 0;
fail:
	err = -errno;
	lanes_close(lanes);
	return err;
}

void lanes_close(struct lanes *lanes)
{
	if (!lanes)
		return;
	if (lanes->controls)
		munmap(lanes->controls, lanes->controls_bytes);
	if (lanes->slots)
		munmap((void *)lanes->slots, lanes->slots_bytes);
	free(lanes);
}

void lanes_mark(struct lanes *lanes)
{
	for (unsigned int i = 0; i < lanes->count; i++)
		lanes->marks[i] = __atomic_load_n(&lanes->controls[i].given, __ATOMIC_ACQUIRE);
}

/* Returns how many slots from number `at` on are filled, up to `max`. The run must not wrap. */
static size_t filled_run(const struct lane_slot *slots, uint64_t mask, uint64_t at, size_t max)
{
	size_t n = 0;

	for (; n < max; n++) {
		__builtin_prefetch(&slots[(at + n + SLOTS_AHEAD) & mask]);
		if (__atomic_load_n(&slots[(at + n) & mask].ready, __ATOMIC_ACQUIRE) != at + n + 1)
			break;
	}
	return n;
}

static size_t drain_lane(struct lanes *lanes, unsigned int lane, lane_slots_fn take, void *context)
{
	const struct lane_slot *slots = lanes->slots + lane * lanes->slots_each;
	struct lane_control *control = &lanes->controls[lane];
	uint64_t mask = lanes->slots_each - 1, at = control->taken, first = at;

	while (at < lanes->marks[lane]) {
		/* The number of slots is a multiple of RUN_SLOTS. */
		size_t max = RUN_SLOTS - at % RUN_SLOTS, left = lanes->marks[lane] - at;
		size_t n = filled_run(slots, mask, at, max < left ? max : left);

		if (n) {
			take(context, lane, &slots[at & mask], n);
			at += n;
		} else if (__atomic_load_n(&slots[at & mask].ready, __ATOMIC_ACQUIRE) > at + 1) {
			__atomic_fetch_add(&lanes->overrun, 1, __ATOMIC_RELAXED);
			at++;
		} else {
			break; /* being filled: later slots wait, too */
		}
		if (at % BATCH_SLOTS == 0)
			__atomic_store_n(&control->taken, at, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&control->taken, at, __ATOMIC_RELEASE);
	return at - first;
}

size_t lanes_drain(struct lanes *lanes, lane_slots_fn take, void *context)
{
	size_t slots = 0;

	for (unsigned int i = 0; i < lanes->count; i++)
		slots += drain_lane(lanes, i, take, context);
	return slots;
}

uint64_t lanes_given(const struct lanes *lanes)
{
	uint64_t given = 0;

	for (unsigned int i = 0; i < lanes->count; i++)
		given += __atomic_load_n(&lanes->controls[i].given, __ATOMIC_ACQUIRE);
	return given;
}

uint64_t lanes_overrun(const struct lanes *lanes)
{
	return __atomic_load_n(&lanes->overrun, __ATOMIC_RELAXED);
}
