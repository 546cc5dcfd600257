/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Turns the kernel side's device maps into records. */
#include "capture/drain/device_stats.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bpf/records/event.h"
#include "capture/host/diskstats.h"
#include "capture/host/host.h"
#include "capture/host/shared.h"

#define STATS_MAX 4096 /* devices and their partitions */

#define PLACES_BYTES (DEVICES_MAX * sizeof(struct device_place))

struct device_stats {
	const struct device_place *places; /* the kernel side's */
	int totals, cpus;
	bool merges;				   /* merges and requeues are counted */
	struct device_total *values;		   /* one per CPU */
	struct device_total reported[DEVICES_MAX]; /* last recorded, by device number */
	uint64_t records;
	/* /proc/diskstats at the start and at the end of the recording. */
	struct diskstat began[STATS_MAX], ended[STATS_MAX];
	size_t began_count, ended_count;
};

int device_stats_open(struct device_stats **out, int places, int totals, int cpus, bool merges)
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
	stats->places = shared_map(places, PLACES_BYTES, false, 0);
	if (!stats->places) {
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
	if (stats->places)
		munmap((void *)stats->places, shared_pages(PLACES_BYTES));
	free(stats->values);
	free(stats);
}

static int sum_up(struct device_stats *stats, uint32_t number, struct device_total *total)
{
	uint64_t *sums = (uint64_t *)total;

	if (bpf_map_lookup_elem(stats->totals, &number, stats->values))
		return -errno;
	memset(total, 0, sizeof(*total));
	for (int cpu = 0; cpu < stats->cpus; cpu++)
		for (size_t i = 0; i < sizeof(*total) / sizeof(*sums); i++)
			sums[i] += ((const uint64_t *)&stats->values[cpu])[i];
	for (size_t i = 0; i < DEVICE_CLASSES && (!stats->merges || stats->places[number].type[0]);
	     i++)
		total->of[i].merges = total->of[i].requeues = DEVICE_NOT_COUNTED;
	return 0;
}

/* Writes a mount's name, "SOURCE (TYPE)". */
static void fill_name(struct device_name *name, const struct device_place *place)
{
	const char *type = place->type, *subtype = place->subtype;

	if (type[0])
		snprintf(name->text, sizeof(name->text), "%.80s (%.15s%s%.15s)", place->name.text,
			 type, subtype[0] ? "." : "", subtype);
	else
		*name = place->name;
}

void device_stats_end(struct device_stats *stats)
{
	if (stats && !stats->ended_count)
		stats->ended_count = diskstats_read(stats->ended, STATS_MAX);
}

static uint64_t beyond(uint64_t began, uint64_t ended, uint64_t counted)
{
	return ended > began && ended - began > counted ? ended - began - counted : 0;
}

/* Both readings lie within the recording, so this is a lower bound. */
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
	record->unseen_reads = beyond(began->reads, ended->reads, reads->requests);
	record->unseen_read_bytes = beyond(began->read_bytes, ended->read_bytes, reads->bytes);
	record->unseen_writes = beyond(began->writes, ended->writes, writes->requests);
	record->unseen_write_bytes = beyond(began->write_bytes, ended->write_bytes, writes->bytes);
	return record->unseen_reads || record->unseen_writes;
}

int device_stats_go_on(struct device_stats *stats, ring_record_fn take, void *context)
{
	for (uint32_t number = 0; stats && number < DEVICES_MAX; number++) {
		const struct device_place *place = &stats->places[number];
		struct event_device record = { .header = { .kind = RECORD_DEVICE,
							   .size = sizeof(record) } };
		uint64_t taken = __atomic_load_n(&place->taken, __ATOMIC_ACQUIRE);
		int status;

		if (!taken || !place->name.text[0])
			continue;
		record.header.time_ns = host_now_ns();
		status = sum_up(stats, number, &record.total);
		if (status)
			return status;
		record.dev = taken - DEVICE_TAKEN(0);
		if (!count_unseen(stats, &record) &&
		    !memcmp(&stats->reported[number], &record.total, sizeof(record.total)))
			continue;
		fill_name(&record.name, place);
		stats->reported[number] = record.total;
		stats->records++;
		take(context, 0, &record, sizeof(record));
	}
	return 0;
}

uint64_t device_stats_count(const struct device_stats *stats)
{
	return stats ? stats->records : 0;
}
