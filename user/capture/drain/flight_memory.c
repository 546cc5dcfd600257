/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Copies slots while they are written. Slots overwritten during the copy are among the first
 * copied; they are dropped afterwards, based on how far the kernel side has come.
 */
#include "capture/drain/flight_memory.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/host/shared.h"

#define LANE_BITS 0xff
#define BUSY_LOOKS 100 /* retries for a slot being written */

struct flight_memory {
	unsigned int lanes;
	size_t slot_count, controls_bytes, slots_bytes;
	const struct lane_control *controls;
	const struct lane_slot *slots;
};

int flight_memory_open(struct flight_memory **out, int controls_fd, int slots_fd,
		       unsigned int lanes, size_t slots)
{
	struct flight_memory *memory = calloc(1, sizeof(*memory));
	int err;

	if (!memory)
		return -ENOMEM;
	memory->lanes = lanes;
	memory->slot_count = slots;
	memory->controls_bytes = shared_pages((lanes + 1) * sizeof(*memory->controls));
	memory->slots_bytes = shared_pages(slots * sizeof(*memory->slots));
	memory->controls = shared_map(controls_fd, memory->controls_bytes, false, 0);
	if (!memory->controls)
		goto fail;
	memory->slots = shared_map(slots_fd, memory->slots_bytes, false, 0);
	if (!memory->slots)
		goto fail;
	*out = memory;
	return 0;
fail:
	err = -errno;
	flight_memory_close(memory);
	return err;
}

void flight_memory_close(struct flight_memory *memory)
{
	if (!memory)
		return;
	if (memory->controls)
		munmap((void *)memory->controls, memory->controls_bytes);
	if (memory->slots)
		munmap((void *)memory->slots, memory->slots_bytes);
	free(memory);
}

/* --- slots --- */

unsigned int flight_slot_lane(const struct lane_slot *slot)
{
	return slot->ready >> FLIGHT_LANE_SHIFT & LANE_BITS;
}

uint64_t flight_slot_end_ns(const struct lane_slot *slot)
{
	return slot->call.op == OP_FAULT ? slot->fault.time_ns + slot->fault.duration_ns
					 : slot->call.time_ns + slot->call.duration_ns;
}

static uint64_t number_of(const struct lane_slot *slot)
{
	return (slot->ready & FLIGHT_NUMBER_MASK) - 1;
}

enum copied { COPIED_WHOLE, COPIED_NOT_THERE, COPIED_BUSY };

/* Copies the record with this number, if it is there. */
static enum copied copy_slot(const struct lane_slot *from, uint64_t number, struct lane_slot *to)
{
	uint64_t ready = __atomic_load_n(&from->ready, __ATOMIC_ACQUIRE);

	for (int i = 0; i < BUSY_LOOKS && ready & FLIGHT_BUSY; i++) {
		sched_yield();
		ready = __atomic_load_n(&from->ready, __ATOMIC_ACQUIRE);
	}
	if (ready & FLIGHT_BUSY)
		return COPIED_BUSY;
	if ((ready & FLIGHT_NUMBER_MASK) != number + 1)
		return COPIED_NOT_THERE; /* unused rest of a chunk, or overwritten */
	memcpy(to, from, sizeof(*to));
	to->ready = ready;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&from->ready, __ATOMIC_RELAXED) == ready ? COPIED_WHOLE
									: COPIED_NOT_THERE;
}

void flight_memory_each_file(const struct flight_memory *memory,
			     void (*take)(void *context, uint32_t file), void *context)
{
	for (size_t i = 0; i < memory->slot_count; i++)
		if (__atomic_load_n(&memory->slots[i].ready, __ATOMIC_RELAXED))
			take(context,
			     __atomic_load_n(&memory->slots[i].call.file, __ATOMIC_RELAXED));
}

/* --- the copy --- */

static uint64_t next_chunk(const struct flight_memory *memory)
{
	return __atomic_load_n(&memory->controls[memory->lanes].given, __ATOMIC_ACQUIRE);
}

static uint64_t count_given(const struct flight_memory *memory)
{
	uint64_t given = 0;

	for (unsigned int i = 0; i < memory->lanes; i++)
		given += __atomic_load_n(&memory->controls[i].taken, __ATOMIC_ACQUIRE);
	return given;
}

/*
 * Returns the time from which the copy is complete. A CPU buffer writes into its chunk until the
 * others are one part (1/FLIGHT_STALE_PART) of the memory ahead. So everything written since the
 * chunk `whole` was handed out is after it, or less than one part before it. The first record after
 * it ended later than that moment.
 */
static uint64_t complete_from(const struct flight_slots *copy, uint64_t whole)
{
	for (size_t i = 0; i < copy->count; i++)
		if (number_of(&copy->slots[i]) >= whole)
			return flight_slot_end_ns(&copy->slots[i]);
	return copy->to_ns;
}

/* Keeps only the slots of the complete period. */
static void trim(struct flight_slots *copy, uint64_t oldest)
{
	size_t kept = 0;

	for (size_t i = 0; i < copy->count; i++) {
		uint64_t end_ns = flight_slot_end_ns(&copy->slots[i]);

		if (number_of(&copy->slots[i]) >= oldest && end_ns >= copy->from_ns &&
		    end_ns <= copy->to_ns)
			copy->slots[kept++] = copy->slots[i];
	}
	copy->count = kept;
}

static void take_all(const struct flight_memory *memory, uint64_t first, uint64_t next,
		     struct flight_slots *copy, uint64_t *last_busy)
{
	uint64_t mask = memory->slot_count - 1;

	for (uint64_t number = first; number < next; number++) {
		enum copied copied =
			copy_slot(&memory->slots[number & mask], number, &copy->slots[copy->count]);

		copy->count += copied == COPIED_WHOLE;
		if (copied == COPIED_BUSY) {
			copy->lost++;
			*last_busy = number;
		}
	}
}

int flight_memory_copy(const struct flight_memory *memory, uint64_t now_ns,
		       struct flight_slots *copy)
{
	const uint64_t total = memory->slot_count, stale = total / FLIGHT_STALE_PART;
	uint64_t next = next_chunk(memory), first = next > total ? next - total : 0;
	uint64_t after, busy = 0;
	void *map;

	memset(copy, 0, sizeof(*copy));
	copy->to_ns = now_ns;
	copy->given = count_given(memory);
	if (next == first)
		return 0;
	copy->bytes = shared_pages((next - first) * sizeof(*copy->slots));
	map = mmap(NULL, copy->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED) {
		copy->bytes = 0;
		return -ENOMEM;
	}
	copy->slots = map;
	take_all(memory, first, next, copy, &busy);
	after = next_chunk(memory);
	if (after > total) {
		/* Leaves one more part between slots that may be overwritten and slots that a
		 * stalled CPU buffer may still write. */
		copy->from_ns = complete_from(copy, after - total + 2 * stale);
		trim(copy, after - total + stale);
		if (busy < after - total + stale)
			copy->lost = 0;
	} else {
		trim(copy, 0);
	}
	return 0;
}

void flight_slots_free(struct flight_slots *copy)
{
	if (copy->slots)
		munmap(copy->slots, copy->bytes);
	memset(copy, 0, sizeof(*copy));
}
