// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Slots: everything added is read exactly once; reading frees slots when they run short. */
#include "unit_test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "capture/drain/profile.h"

#define SLOTS 1024u

struct slots {
	struct profile *profile;
	struct profile_slot *all;
	size_t bytes;
};

static struct slots open_slots(void)
{
	struct slots slots = { .bytes = profile_map_entries(SLOTS) * sizeof(*slots.all) };
	int fd = memfd_create("slots", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, slots.bytes), 0);
	assert_int_equal(profile_open(&slots.profile, fd, SLOTS), 0);
	slots.all = mmap(NULL, slots.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(slots.all, MAP_FAILED);
	close(fd);
	return slots;
}

static void close_slots(struct slots *slots)
{
	munmap(slots->all, slots->bytes);
	profile_close(slots->profile);
}

/* One operation each, of separate processes, in every `step`-th slot, as a hash spreads them. */
static unsigned int take_slots(struct slots *slots, unsigned int first, unsigned int step)
{
	unsigned int taken = 0;

	for (unsigned int i = first; i < SLOTS; i += step) {
		slots->all[i].state = PROFILE_USED;
		slots->all[i].key.pid = i + 1;
		slots->all[i].sums.count++;
		slots->all[i].last_ns = i + 1;
		slots->all[i].who.started_ns = i + 7;
		taken++;
	}
	return taken;
}

struct reported {
	uint64_t operations, bytes;
};

static void add_up(void *context, const struct profile_slot *added)
{
	struct reported *reported = context;

	reported->operations += added->sums.count;
	reported->bytes += added->sums.bytes;
	assert_int_equal(added->who.started_ns, added->key.pid - 1 + 7);
}

/* A reading may fall between the additions of an operation; its count is added first. */
TEST(test_torn)
{
	struct slots slots = open_slots();
	struct reported reported = { 0 };

	take_slots(&slots, 5, SLOTS);
	assert_int_equal(profile_read(slots.profile, 1000, false, add_up, &reported), 1);
	slots.all[5].sums.bytes += 11;
	assert_int_equal(profile_read(slots.profile, 2000, false, add_up, &reported), 1);
	assert_int_equal(profile_read(slots.profile, 3000, false, add_up, &reported), 0);
	slots.all[5].sums.count++;
	assert_int_equal(profile_read(slots.profile, 4000, false, add_up, &reported), 1);
	assert_int_equal(profile_read(slots.profile, 5000, false, add_up, &reported), 0);
	/* However late. */
	slots.all[5].sums.bytes += 31;
	assert_int_equal(profile_read(slots.profile, 6000, true, add_up, &reported), 1);
	assert_int_equal(reported.operations, 2);
	assert_int_equal(reported.bytes, 42);
	close_slots(&slots);
}

TEST(test_full)
{
	struct slots slots = open_slots();
	struct reported reported = { 0 };
	unsigned int taken;

	assert_false(profile_is_full(NULL));
	assert_false(profile_is_full(slots.profile));
	taken = take_slots(&slots, 0, 3); /* a third */
	assert_false(profile_is_full(slots.profile));
	taken += take_slots(&slots, 1, 3);
	assert_false(profile_is_full(slots.profile));
	taken += take_slots(&slots, 2, 3);
	for (unsigned int i = 0; i < SLOTS; i++)
		assert_true(profile_is_full(slots.profile));

	/* Half of them are to be freed, and are free by the next reading; nothing is read twice. */
	assert_int_equal(profile_read(slots.profile, 2000, false, add_up, &reported), taken);
	assert_true(profile_is_full(slots.profile));
	assert_int_equal(profile_read(slots.profile, 3000, false, add_up, &reported), 0);
	assert_false(profile_is_full(slots.profile));
	assert_int_equal(reported.operations, taken);
	assert_int_equal(profile_use(slots.profile).given_back, SLOTS / 2);
	close_slots(&slots);
}

static bool is_over(void *context, uint32_t pid)
{
	return pid % 2;
}

/* Slots of ended processes are freed first. */
TEST(test_of_ended_processes)
{
	struct slots slots = open_slots();
	struct reported reported = { 0 };

	take_slots(&slots, 0, 1);
	profile_set_exited(slots.profile, is_over, NULL);
	profile_read(slots.profile, 2000, false, add_up, &reported);
	profile_read(slots.profile, 3000, false, add_up, &reported);
	for (unsigned int i = 0; i < SLOTS; i++)
		assert_int_equal(slots.all[i].state, i % 2 ? PROFILE_USED : PROFILE_FREE);
	assert_int_equal(reported.operations, SLOTS);
	assert_int_equal(profile_use(slots.profile).given_back, 0);
	close_slots(&slots);
}

/* A service's memory for a node's slots is bounded, however many CPUs there are. */
TEST(test_memory)
{
	for (unsigned int cpus = 1; cpus <= 4096; cpus++) {
		unsigned int slots = profile_node_slots(cpus);

		assert_true(profile_memory(slots) <= PROFILE_NODE_BYTES_MAX);
		assert_true(slots >= profile_node_slots(1));
		assert_int_equal(slots, profile_round_slots(slots));
	}
	assert_true(profile_memory(2 * profile_node_slots(4096)) > PROFILE_NODE_BYTES_MAX);
}
