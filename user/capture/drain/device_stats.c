/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Turns the kernel side's device maps into records. */
#include "capture/drain/device_stats.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "collections/compare.h"
#include "base/number.h"
#include "bpf/records/event.h"
#include "capture/host/diskstats.h"
#include "capture/host/host.h"
#include "capture/host/shared.h"

#define STATS_MAX 4096 /* devices and their partitions */

#define SLOTS_BYTES (DEVICES_MAX * sizeof(struct device_slot))

struct device_sums {
	struct device_total total;
	struct device_calls calls[DEVICE_CLASSES];
};

struct device_stats {
	struct device_slot *slots; /* the kernel side's */
	int totals, cpus;
	bool merges;				  /* merges and requeues are counted */
	struct device_total *values;		  /* one per CPU */
	struct device_sums reported[DEVICES_MAX]; /* last recorded, by device number */
	struct device_sums counted[DEVICES_MAX];  /* a slot's sums when they were last read */
	/* The sums when the slot was freed: the next device counts from there. */
	struct device_sums freed[DEVICES_MAX];
	/* Device numbers whose slot was freed: a later device may have them. */
	uint32_t reused[DEVICES_MAX];
	size_t reused_count; /* more than DEVICES_MAX: any number may be one of them */
	uint64_t records;
	/* /proc/diskstats at the start and at the end of the recording. */
	struct diskstat began[STATS_MAX], ended[STATS_MAX];
	size_t began_count, ended_count;
};

int device_stats_open(struct device_stats **out, int slots, int totals, int cpus, bool merges)
{
	struct device_stats *stats = calloc(1, sizeof(*stats));

	if (!stats)
		return -ENOMEM;
	stats->totals = totals;
	stats->cpus = cpus;
	stats->merges = merges;
	stats->values = calloc(cpus, sizeof(*stats->values));
	if (!stats->values) {
		device_stats_close(stats);
		return -ENOMEM;
	}
	stats->slots = shared_map(slots, SLOTS_BYTES, true, 0);
	if (!stats->slots) {
		int err = -errno;

		device_stats_close(stats);
		return err;
	}
	stats->began_count = diskstats_read(stats->began, STATS_MAX);
	*out = stats;
	return 0;
}

void device_stats_close(struct device_stats *stats)
{
	if (!stats)
		return;
	if (stats->slots)
		munmap(stats->slots, shared_pages(SLOTS_BYTES));
	free(stats->values);
	free(stats);
}

#define WORDS(type) (sizeof(type) / sizeof(uint64_t))

static uint64_t taken_of(const struct device_stats *stats, uint32_t number)
{
	return __atomic_load_n(&stats->slots[number].taken, __ATOMIC_ACQUIRE);
}

/* Adds what a slot has counted since it was last freed. */
static int add_slot(struct device_stats *stats, uint32_t number, struct device_sums *sums)
{
	const uint64_t *before = (const uint64_t *)&stats->freed[number];
	const uint64_t *calls = (const uint64_t *)stats->slots[number].calls;
	uint64_t *counted = (uint64_t *)&stats->counted[number], *sum = (uint64_t *)sums;

	if (bpf_map_lookup_elem(stats->totals, &number, stats->values))
		return -errno;
	memset(counted, 0, sizeof(stats->counted[number]));
	for (size_t i = 0; i < WORDS(struct device_total); i++)
		for (int cpu = 0; cpu < stats->cpus; cpu++)
			counted[i] += ((const uint64_t *)&stats->values[cpu])[i];
	for (size_t i = WORDS(struct device_total); i < WORDS(struct device_sums); i++)
		counted[i] = __atomic_load_n(calls++, __ATOMIC_RELAXED);
	for (size_t i = 0; i < WORDS(struct device_sums); i++)
		sum[i] += counted[i] - before[i];
	return 0;
}

/* Two programs that take a slot at the same moment may each take one for the same device. Later
 * events use the first slot, and the sums of both are reported as its own. */
static bool is_second(const struct device_stats *stats, uint32_t number, uint64_t taken)
{
	for (uint32_t i = 0; i < number; i++)
		if (taken_of(stats, i) == taken)
			return true;
	return false;
}

static int sum_up(struct device_stats *stats, uint32_t number, uint64_t taken,
		  struct device_sums *sums)
{
	struct device_counts *of = sums->total.of;
	int status = 0;

	memset(sums, 0, sizeof(*sums));
	for (uint32_t i = number; i < DEVICES_MAX && !status; i++)
		if (i == number || taken_of(stats, i) == taken)
			status = add_slot(stats, i, sums);
	if (status)
		return status;
	for (size_t i = 0; i < DEVICE_CLASSES && (!stats->merges || stats->slots[number].type[0]);
	     i++)
		of[i].merges = of[i].requeues = DEVICE_NOT_COUNTED;
	return 0;
}

/* Writes a mount's name, "SOURCE (TYPE)". */
static void fill_name(struct device_name *name, const struct device_slot *slot)
{
	const char *type = slot->type, *subtype = slot->subtype;

	if (type[0])
		snprintf(name->text, sizeof(name->text), "%.80s (%.15s%s%.15s)", slot->name.text,
			 type, subtype[0] ? "." : "", subtype);
	else
		*name = slot->name;
}

void device_stats_end(struct device_stats *stats)
{
	if (stats && !stats->ended_count)
		stats->ended_count = diskstats_read(stats->ended, STATS_MAX);
}

static uint64_t unseen_of(uint64_t began, uint64_t ended, uint64_t counted)
{
	return number_sub(number_sub(ended, began), counted);
}

#define NUMBER_OF(taken) ((uint32_t)((taken)-1))
#define INSTANCE_OF(taken) ((uint32_t)(((taken)-1) >> 32))

static bool was_reused(const struct device_stats *stats, uint32_t dev)
{
	if (stats->reused_count > DEVICES_MAX)
		return true;
	for (size_t i = 0; i < stats->reused_count; i++)
		if (stats->reused[i] == dev)
			return true;
	return false;
}

static void mark_reused(struct device_stats *stats, uint32_t dev)
{
	if (was_reused(stats, dev))
		return;
	if (stats->reused_count < DEVICES_MAX)
		stats->reused[stats->reused_count] = dev;
	stats->reused_count++;
}

/* Whether another device has had the number. *is_gone: a later one has it, so this one is gone. */
static bool has_others(const struct device_stats *stats, uint64_t taken, bool *is_gone)
{
	bool others = was_reused(stats, NUMBER_OF(taken));

	*is_gone = false;
	for (uint32_t i = 0; i < DEVICES_MAX; i++) {
		uint64_t other = taken_of(stats, i);

		if (!other || other == DEVICE_FREED || other == taken ||
		    NUMBER_OF(other) != NUMBER_OF(taken))
			continue;
		others = true;
		*is_gone |= (int32_t)(INSTANCE_OF(other) - INSTANCE_OF(taken)) > 0;
	}
	return others;
}

/* Both readings lie within the recording, so this is a lower bound. The kernel's counters do not
 * say which of several devices with one number they are of. */
static bool count_unseen(const struct device_stats *stats, struct event_device *record)
{
	const struct device_counts *reads = &record->total.of[DEVICE_READ];
	const struct device_counts *writes = &record->total.of[DEVICE_WRITE];
	const struct diskstat *began =
		diskstats_find(stats->began, stats->began_count, record->dev);
	const struct diskstat *ended =
		diskstats_find(stats->ended, stats->ended_count, record->dev);

	if (!began || !ended)
		return false;
	record->unseen_read_bytes = unseen_of(began->read_bytes, ended->read_bytes, reads->bytes);
	/* An NVMe disk with several paths counts flushes as reads, of no bytes. */
	if (record->unseen_read_bytes)
		record->unseen_reads = unseen_of(began->reads, ended->reads, reads->requests);
	record->unseen_writes = unseen_of(began->writes, ended->writes, writes->requests);
	record->unseen_write_bytes =
		unseen_of(began->write_bytes, ended->write_bytes, writes->bytes);
	return record->unseen_reads || record->unseen_writes;
}

/* Whether a device's counts are still those reported. */
static bool is_at_rest(struct device_stats *stats, uint32_t number, uint64_t taken)
{
	struct device_sums sums;

	return !sum_up(stats, number, taken, &sums) &&
	       !memcmp(&stats->reported[number], &sums, sizeof(sums));
}

/* Frees the slot of a device that is gone and at rest, so that a service that runs for long has
 * room for later ones. A completion that comes now is counted for the next device. */
static void free_slot(struct device_stats *stats, uint32_t number)
{
	static const struct device_name no_name;
	struct device_slot *slot = &stats->slots[number];

	stats->freed[number] = stats->counted[number];
	memset(&stats->reported[number], 0, sizeof(stats->reported[number]));
	slot->named = 0;
	slot->name = no_name;
	memset(slot->type, 0, sizeof(slot->type));
	memset(slot->subtype, 0, sizeof(slot->subtype));
	mark_reused(stats, NUMBER_OF(taken_of(stats, number)));
	__atomic_store_n(&slot->taken, DEVICE_FREED, __ATOMIC_RELEASE);
}

static int report_device(struct device_stats *stats, uint32_t number, ring_record_fn take,
			 void *context)
{
	const uint64_t taken = taken_of(stats, number);
	struct event_device record = { .header = { .kind = RECORD_DEVICE, .size = sizeof(record) },
				       .dev = NUMBER_OF(taken),
				       .instance = INSTANCE_OF(taken) };
	struct device_sums sums;
	bool is_gone, unseen;
	int status;

	record.header.time_ns = host_now_ns();
	status = sum_up(stats, number, taken, &sums);
	if (status)
		return status;
	record.total = sums.total;
	memcpy(record.calls, sums.calls, sizeof(record.calls));
	unseen = !has_others(stats, taken, &is_gone) && count_unseen(stats, &record);
	if (!unseen && !memcmp(&stats->reported[number], &sums, sizeof(sums))) {
		is_gone = is_gone && is_at_rest(stats, number, taken);
		for (uint32_t i = number; i < DEVICES_MAX && is_gone; i++)
			if (taken_of(stats, i) == taken)
				free_slot(stats, i);
		return 0;
	}
	fill_name(&record.name, &stats->slots[number]);
	stats->reported[number] = sums;
	stats->records++;
	take(context, 0, &record, sizeof(record));
	return 0;
}

static int compare_slots(const void *left, const void *right, void *context)
{
	uint64_t a = taken_of(context, *(const uint32_t *)left);
	uint64_t b = taken_of(context, *(const uint32_t *)right);

	return COMPARE(a, b);
}

int device_stats_emit(struct device_stats *stats, ring_record_fn take, void *context)
{
	uint32_t numbers[DEVICES_MAX];
	size_t count = 0;
	int status = 0;

	for (uint32_t number = 0; stats && number < DEVICES_MAX; number++) {
		uint64_t taken = taken_of(stats, number);

		if (taken && taken != DEVICE_FREED &&
		    __atomic_load_n(&stats->slots[number].named, __ATOMIC_ACQUIRE) &&
		    !is_second(stats, number, taken))
			numbers[count++] = number;
	}
	/* By instance: what is left to say of a device comes before its successor. */
	if (count)
		qsort_r(numbers, count, sizeof(numbers[0]), compare_slots, stats);
	for (size_t i = 0; i < count && !status; i++)
		status = report_device(stats, numbers[i], take, context);
	return status;
}

uint64_t device_stats_count(const struct device_stats *stats)
{
	return stats ? stats->records : 0;
}
