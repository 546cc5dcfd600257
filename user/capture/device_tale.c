/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Turns the kernel side's device maps into records.
 */
#include "capture/device_tale.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/event.h"
#include "capture/diskstats.h"
#include "capture/host.h"
#include "capture/shared.h"

#define STATS_MOST 4096 /* devices and their partitions */

#define PLACES_BYTES (DEVICES_MOST * sizeof(struct device_place))

struct device_tale {
	const struct device_place *places; /* the kernel side's */
	int totals, cpus;
	bool merges;				/* merges and requeues are counted */
	struct device_total *values;		/* one per CPU */
	struct device_total told[DEVICES_MOST]; /* last recorded, by device number */
	uint64_t records;
	/* /proc/diskstats at the start and at the end of the recording. */
	struct diskstat began[STATS_MOST], ended[STATS_MOST];
	size_t began_count, ended_count;
};

int device_tale_open(struct device_tale **out, int places, int totals, int cpus, bool merges)
{
	struct device_tale *tale = calloc(1, sizeof(*tale));

	if (!tale)
		return -ENOMEM;
	tale->totals = totals;
	tale->cpus = cpus;
	tale->merges = merges;
	tale->values = calloc(cpus, sizeof(*tale->values));
	if (!tale->values) {
		device_tale_close(tale);
		return -ENOMEM;
	}
	tale->places = shared_map(places, PLACES_BYTES, false, 0);
	if (!tale->places) {
		int err = -errno;

		device_tale_close(tale);
		return err;
	}
	tale->began_count = diskstats_read(tale->began, STATS_MOST);
	*out = tale;
	return 0;
}

void device_tale_close(struct device_tale *tale)
{
	if (!tale)
		return;
	if (tale->places)
		munmap((void *)tale->places, shared_pages(PLACES_BYTES));
	free(tale->values);
	free(tale);
}

static int sum_up(struct device_tale *tale, uint32_t number, struct device_total *total)
{
	uint64_t *sums = (uint64_t *)total;

	if (bpf_map_lookup_elem(tale->totals, &number, tale->values))
		return -errno;
	memset(total, 0, sizeof(*total));
	for (int cpu = 0; cpu < tale->cpus; cpu++)
		for (size_t i = 0; i < sizeof(*total) / sizeof(*sums); i++)
			sums[i] += ((const uint64_t *)&tale->values[cpu])[i];
	for (size_t i = 0; i < DEVICE_CLASSES && !tale->merges; i++)
		total->of[i].merges = total->of[i].requeues = DEVICE_NOT_COUNTED;
	return 0;
}

void device_tale_end(struct device_tale *tale)
{
	if (tale && !tale->ended_count)
		tale->ended_count = diskstats_read(tale->ended, STATS_MOST);
}

static uint64_t beyond(uint64_t began, uint64_t ended, uint64_t counted)
{
	return ended > began && ended - began > counted ? ended - began - counted : 0;
}

/* Both readings lie within the recording, so this is a lower bound. */
static bool count_unseen(const struct device_tale *tale, struct event_device *record)
{
	const struct device_counts *reads = &record->total.of[DEVICE_READ];
	const struct device_counts *writes = &record->total.of[DEVICE_WRITE];
	const struct diskstat *began = diskstats_find(tale->began, tale->began_count, record->dev);
	const struct diskstat *ended = diskstats_find(tale->ended, tale->ended_count, record->dev);

	if (!began || !ended)
		return false;
	record->unseen_reads = beyond(began->reads, ended->reads, reads->requests);
	record->unseen_read_bytes = beyond(began->read_bytes, ended->read_bytes, reads->bytes);
	record->unseen_writes = beyond(began->writes, ended->writes, writes->requests);
	record->unseen_write_bytes = beyond(began->write_bytes, ended->write_bytes, writes->bytes);
	return record->unseen_reads || record->unseen_writes;
}

int device_tale_go_on(struct device_tale *tale, ring_record_fn take, void *context)
{
	for (uint32_t number = 0; tale && number < DEVICES_MOST; number++) {
		const struct device_place *place = &tale->places[number];
		struct event_device record = { .header = { .kind = RECORD_DEVICE,
							   .size = sizeof(record) } };
		uint64_t taken = __atomic_load_n(&place->taken, __ATOMIC_ACQUIRE);
		int status;

		if (!taken || !place->name.text[0])
			continue;
		record.header.time_ns = host_now_ns();
		status = sum_up(tale, number, &record.total);
		if (status)
			return status;
		record.dev = taken - DEVICE_TAKEN(0);
		if (!count_unseen(tale, &record) &&
		    !memcmp(&tale->told[number], &record.total, sizeof(record.total)))
			continue;
		record.name = place->name;
		tale->told[number] = record.total;
		tale->records++;
		take(context, 0, &record, sizeof(record));
	}
	return 0;
}

uint64_t device_tale_told(const struct device_tale *tale)
{
	return tale ? tale->records : 0;
}
