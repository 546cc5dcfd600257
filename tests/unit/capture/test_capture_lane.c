// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * The CPU buffer reader against a simulated writer: runs, wraps, slots being filled, and slots
 * whose number is later than expected. Memory stands in for the kernel's maps.
 */
#include "unit_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "capture/drain/lane.h"

#define LANES 2
#define SLOTS 64
#define RACE_SLOTS 200000

struct fixture {
	int control_fd, slot_fd;
	struct lane_control *controls;
	struct lane_slot *slots;
	struct lanes *lanes;
	uint64_t next[LANES]; /* expected next */
	uint64_t seen, wrong, calls;
};

static void *share(int *fd, size_t bytes)
{
	void *memory;

	*fd = memfd_create("lane", 0);
	assert_true(*fd >= 0);
	assert_return_code(ftruncate(*fd, 1 << 20), 0);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static int set_up(void **state)
{
	static struct fixture fixture;

	memset(&fixture, 0, sizeof(fixture));
	fixture.controls = share(&fixture.control_fd, LANES * sizeof(*fixture.controls));
	fixture.slots = share(&fixture.slot_fd, LANES * SLOTS * sizeof(*fixture.slots));
	assert_return_code(
		lanes_open(&fixture.lanes, fixture.control_fd, fixture.slot_fd, LANES, SLOTS), 0);
	*state = &fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	lanes_close(fixture->lanes);
	munmap(fixture->controls, LANES * sizeof(*fixture->controls));
	munmap(fixture->slots, LANES * SLOTS * sizeof(*fixture->slots));
	close(fixture->control_fd);
	close(fixture->slot_fd);
	return 0;
}

/* --- the writer --- */

static struct lane_slot *slot_of(struct fixture *fixture, unsigned int lane, uint64_t number)
{
	return &fixture->slots[lane * SLOTS + number % SLOTS];
}

static void give(struct fixture *fixture, unsigned int lane, uint64_t number)
{
	struct lane_slot *slot = slot_of(fixture, lane, number);

	slot->call.time_ns = number; /* the value that the reader must find */
	__atomic_store_n(&slot->ready, number + 1, __ATOMIC_RELEASE);
}

static uint64_t claim(struct fixture *fixture, unsigned int lane)
{
	return __atomic_fetch_add(&fixture->controls[lane].given, 1, __ATOMIC_RELAXED);
}

static void write_some(struct fixture *fixture, unsigned int lane, unsigned int count)
{
	while (count--)
		give(fixture, lane, claim(fixture, lane));
}

/* --- the reader --- */

static void take(void *context, unsigned int lane, const struct lane_slot *slots, size_t count)
{
	struct fixture *fixture = context;

	fixture->calls++;
	for (size_t i = 0; i < count; i++, fixture->seen++) {
		fixture->wrong += slots[i].call.time_ns < fixture->next[lane];
		fixture->next[lane] = slots[i].call.time_ns + 1;
	}
}

static size_t drain(struct fixture *fixture)
{
	lanes_mark(fixture->lanes);
	return lanes_drain(fixture->lanes, take, fixture);
}

TEST_WITH(test_everything_in_order, set_up, tear_down)
{
	struct fixture *fixture = *state;

	for (unsigned int round = 1; round < 50; round++) {
		write_some(fixture, 0, round);
		write_some(fixture, 1, 50 - round);
		assert_int_equal(drain(fixture), 50);
		assert_int_equal(fixture->next[0], fixture->controls[0].given);
		assert_int_equal(fixture->next[1], fixture->controls[1].given);
		assert_int_equal(fixture->controls[0].taken, fixture->controls[0].given);
	}
	assert_int_equal(fixture->seen, 49 * 50);
	assert_int_equal(fixture->wrong, 0);
	assert_true(fixture->calls < fixture->seen / 8);
	assert_int_equal(lanes_given(fixture->lanes), fixture->seen);
	assert_int_equal(lanes_overrun(fixture->lanes), 0);
}

/* An interrupted program: later records wait, and none is lost. */
TEST_WITH(test_waits_for_one_being_filled, set_up, tear_down)
{
	struct fixture *fixture = *state;
	uint64_t late;

	write_some(fixture, 0, 5);
	late = claim(fixture, 0);
	write_some(fixture, 0, 7);
	assert_int_equal(drain(fixture), 5);
	assert_int_equal(drain(fixture), 0);
	give(fixture, 0, late);
	assert_int_equal(drain(fixture), 8);
	assert_int_equal(fixture->wrong, 0);
	assert_int_equal(lanes_overrun(fixture->lanes), 0);
}

/* The same while the slot still holds the number of the previous lap. */
TEST_WITH(test_waits_with_an_old_number_there, set_up, tear_down)
{
	struct fixture *fixture = *state;
	uint64_t late;

	write_some(fixture, 0, SLOTS);
	assert_int_equal(drain(fixture), SLOTS);
	late = claim(fixture, 0);
	assert_int_equal(drain(fixture), 0);
	give(fixture, 0, late);
	assert_int_equal(drain(fixture), 1);
	assert_int_equal(fixture->next[0], SLOTS + 1);
}

/* Exactly the overwritten slots are lost, and the CPU buffer goes on. */
TEST_WITH(test_a_later_number_is_a_loss, set_up, tear_down)
{
	struct fixture *fixture = *state;

	write_some(fixture, 0, SLOTS + 3); /* overwrites the first three */
	assert_int_equal(drain(fixture), SLOTS + 3);
	assert_int_equal(lanes_overrun(fixture->lanes), 3);
	assert_int_equal(fixture->seen, SLOTS);
	write_some(fixture, 0, 10);
	assert_int_equal(drain(fixture), 10);
	assert_int_equal(fixture->seen, SLOTS + 10);
	assert_int_equal(lanes_given(fixture->lanes),
			 fixture->seen + lanes_overrun(fixture->lanes));
	assert_int_equal(fixture->wrong, 0);
}

/* A whole lap and more. */
TEST_WITH(test_laps, set_up, tear_down)
{
	struct fixture *fixture = *state;

	write_some(fixture, 1, 5 * SLOTS + 1);
	assert_int_equal(drain(fixture), 5 * SLOTS + 1);
	assert_int_equal(fixture->seen, SLOTS);
	assert_int_equal(lanes_overrun(fixture->lanes), 4 * SLOTS + 1);
	assert_int_equal(drain(fixture), 0);
}

/* Several writers that follow the protocol: no slot is reused before the reader is done with it. */
static void *race(void *context)
{
	struct fixture *fixture = context;
	struct lane_control *control = &fixture->controls[0];

	for (int i = 0; i < RACE_SLOTS;) {
		uint64_t number = __atomic_load_n(&control->given, __ATOMIC_RELAXED);

		if (number - __atomic_load_n(&control->taken, __ATOMIC_ACQUIRE) >= SLOTS) {
			sched_yield();
			continue;
		}
		if (!__atomic_compare_exchange_n(&control->given, &number, number + 1, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		give(fixture, 0, number);
		i++;
	}
	return NULL;
}

TEST_WITH(test_many_writers, set_up, tear_down)
{
	struct fixture *fixture = *state;
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, race, fixture), 0);
	while (fixture->seen < 3 * RACE_SLOTS)
		if (!drain(fixture))
			sched_yield();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(drain(fixture), 0);
	assert_int_equal(fixture->next[0], 3 * RACE_SLOTS);
	assert_int_equal(fixture->wrong, 0);
	assert_int_equal(lanes_overrun(fixture->lanes), 0);
}
