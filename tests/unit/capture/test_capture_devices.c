/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Slots of devices that were removed; the kernel's counts of devices without a slot. */
#include "unit_test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bpf/records/event.h"
#include "capture/drain/device_stats.h"
#include "capture/host/diskstats.h"

#define DEV (7 << 20 | 1)

static uint64_t requests[DEVICES_MAX]; /* what the kernel side has counted */
static uint32_t adds_to;	       /* the next read of this slot is followed by a request */
static bool adds;

/* Stands in for libbpf's, which would need a kernel. */
int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	const uint32_t number = *(const uint32_t *)key;
	struct device_total *total = value;

	(void)fd;
	memset(total, 0, sizeof(*total));
	total->of[DEVICE_READ].requests = requests[number];
	if (adds && number == adds_to) {
		adds = false;
		requests[number]++;
	}
	return 0;
}

static struct diskstat diskstat; /* of the only line in /proc/diskstats */

size_t diskstats_read(struct diskstat *stats, size_t room)
{
	assert_true(room > 0);
	*stats = diskstat;
	return 1;
}

const struct diskstat *diskstats_find(const struct diskstat *stats, size_t count, uint32_t dev)
{
	return count && stats->dev == dev ? stats : NULL;
}

static struct event_device last;
static size_t records;

static void take(void *context, unsigned int cpu, const void *record, size_t size)
{
	(void)context, (void)cpu;
	assert_int_equal(size, sizeof(last));
	memcpy(&last, record, size);
	records++;
}

static void expect(struct device_stats *stats, uint32_t instance, uint64_t counted)
{
	const size_t before = records;

	assert_int_equal(device_stats_emit(stats, take, NULL), 0);
	assert_int_equal(records - before, counted ? 1 : 0);
	if (!counted)
		return;
	assert_int_equal(last.instance, instance);
	assert_int_equal(last.total.of[DEVICE_READ].requests, counted);
}

static struct device_stats *open_stats(struct device_slot **slots)
{
	const size_t bytes = DEVICES_MAX * sizeof(struct device_slot);
	const int fd = memfd_create("slots", MFD_CLOEXEC);
	struct device_stats *stats;

	assert_int_equal(ftruncate(fd, bytes), 0);
	*slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(*slots != MAP_FAILED);
	assert_int_equal(device_stats_open(&stats, fd, -1, 1, true), 0);
	close(fd);
	memset(requests, 0, sizeof(requests));
	return stats;
}

static void close_stats(struct device_stats *stats, struct device_slot *slots)
{
	device_stats_close(stats);
	munmap(slots, DEVICES_MAX * sizeof(*slots));
}

/* A request that ends while the slot of its device is about to be freed is still reported, and not
 * as the next device's. */
TEST(test_freed_slot)
{
	struct device_slot *slots;
	struct device_stats *stats = open_stats(&slots);

	slots[0] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV, 1), .named = 1 };
	requests[0] = 5;
	expect(stats, 1, 5);
	slots[1] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV, 2), .named = 1 };
	adds = true;
	expect(stats, 0, 0);
	assert_true(slots[0].taken == DEVICE_TAKEN(DEV, 1));
	expect(stats, 1, 6);
	expect(stats, 0, 0);
	assert_true(slots[0].taken == DEVICE_FREED);
	/* The next device counts from there. */
	slots[0] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV + 1, 3), .named = 1 };
	expect(stats, 0, 0);
	requests[0] += 2;
	expect(stats, 3, 2);
	close_stats(stats, slots);
}

/* The same for calls to a server, which are counted in the slot itself. */
TEST(test_calls)
{
	struct device_slot *slots;
	struct device_stats *stats = open_stats(&slots);
	struct device_calls *calls;

	slots[0] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV, 1), .named = 1 };
	calls = &slots[0].calls[DEVICE_OTHER_CALLS];
	*calls = (struct device_calls) { .calls = 3, .retransmits = 1, .round_trip_ns = 700 };
	assert_int_equal(device_stats_emit(stats, take, NULL), 0);
	assert_memory_equal(&last.calls[DEVICE_OTHER_CALLS], calls, sizeof(*calls));
	slots[1] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV, 2), .named = 1 };
	expect(stats, 0, 0);
	assert_true(slots[0].taken == DEVICE_FREED);
	slots[0].taken = DEVICE_TAKEN(DEV + 1, 3);
	slots[0].named = 1;
	calls->calls += 2;
	calls->round_trip_ns += 50;
	assert_int_equal(device_stats_emit(stats, take, NULL), 0);
	assert_int_equal(last.instance, 3);
	assert_int_equal(last.calls[DEVICE_OTHER_CALLS].calls, 2);
	assert_int_equal(last.calls[DEVICE_OTHER_CALLS].retransmits, 0);
	assert_int_equal(last.calls[DEVICE_OTHER_CALLS].round_trip_ns, 50);
	close_stats(stats, slots);
}

/* Reads that the kernel counts, but without bytes, are flushes. */
static void check_unseen(uint64_t bytes, uint64_t unseen)
{
	struct device_stats *stats;
	struct device_slot *slots;

	diskstat = (struct diskstat) { .dev = DEV, .reads = 10, .read_bytes = 4096 };
	stats = open_stats(&slots);
	slots[0] = (struct device_slot) { .taken = DEVICE_TAKEN(DEV, 1), .named = 1 };
	requests[0] = 5;
	diskstat.reads += 7;
	diskstat.read_bytes += bytes;
	device_stats_end(stats);
	expect(stats, 1, 5);
	assert_int_equal(last.unseen_reads, unseen);
	assert_int_equal(last.unseen_read_bytes, bytes);
	close_stats(stats, slots);
}

TEST(test_unseen)
{
	check_unseen(0, 0);
	check_unseen(8192, 2);
}
