/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table "devices". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/devices/devices_state.h"
#include "collections/compare.h"
#include "base/units.h"

/* A table row. */
struct sum_line {
	uint64_t requests, bytes, merges, requeues, errors, time_ns, queue_ns, service_ns;
	uint64_t max_ns, sequential, random, retransmits, rtt_ns;
	const struct histogram *latency, *service; /* NULL: no requests, or unknown */
};

struct devices_row {
	uint32_t dev;
	const struct numbers *served, *parts;
	const char *host;
	struct table_text name;
	uint64_t instance;
	struct sum_line own[DEVICE_USES], all[DEVICE_USES], others;
	struct device_waits waits[DEVICE_USES];
	struct device_unseen unseen;
};

static void set_numbers(struct table *table, struct cell *cell, const struct numbers *numbers)
{
	char texts[DEVICE_NUMBERS_MAX][UNITS_TEXT];
	struct cell cells[DEVICE_NUMBERS_MAX];

	for (unsigned int i = 0; i < numbers->count; i++) {
		units_device(texts[i], numbers->devs[i]);
		cells[i] = (struct cell) { .type = CELL_TEXT,
					   .length = strlen(texts[i]),
					   .text = texts[i] };
	}
	table_set_texts(table, cell, cells, numbers->count);
}

static void get_served(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column)
{
	set_numbers(table, cell, ((const struct devices_row *)row)->served);
}

static void get_parts(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column)
{
	set_numbers(table, cell, ((const struct devices_row *)row)->parts);
}

enum { OWN_REQUESTS, OWN_BYTES };

#define RETRANSMITS                                                                                \
	COLUMN(sum_line, retransmits, NULL, COUNT, SUM,                                            \
	       "NFS: times that such requests were sent again, since no reply had come")
#define ROUND_TRIPS                                                                                \
	COLUMN(sum_line, rtt_ns, "round trips", NS, SUM,                                           \
	       "NFS: time from the last transmission until the reply, summed over requests: the "  \
	       "network and the server")

static const struct table_column own_columns[] = {
	COLUMN(sum_line, requests, "", COUNT, SUM,
	       "completed requests that contain bytes of the run"),
	COLUMN(sum_line, bytes, "bytes", BYTES, SUM, "bytes of the run in completed requests"),
	COLUMN(sum_line, queue_ns, "queue", NS, SUM,
	       "time from creation until the driver received the request, summed over requests; "
	       "null for mounts whose daemon's times are unknown"),
	COLUMN(sum_line, service_ns, "service", NS, SUM,
	       "time from the driver's receipt to completion, summed over requests; if queue_ns is "
	       "null, the queue included"),
	{ "p50_ns", NULL, UNIT_NS, KIND_PERCENTILE,
	  "median latency of a request, queue and service", TABLE_P50(struct sum_line, latency),
	  0 },
	{ "p99_ns", NULL, UNIT_NS, KIND_PERCENTILE,
	  "99th percentile of request latency, queue and service",
	  TABLE_P99(struct sum_line, latency), 0 },
	COLUMN(sum_line, max_ns, NULL, NS, MAX, "longest request latency, queue and service"),
	{ "service_p50_ns", NULL, UNIT_NS, KIND_PERCENTILE, "median service time of a request",
	  TABLE_P50(struct sum_line, service), 0 },
	{ "service_p99_ns", NULL, UNIT_NS, KIND_PERCENTILE,
	  "99th percentile of request service time", TABLE_P99(struct sum_line, service), 0 },
	COLUMN(sum_line, merges, NULL, COUNT, SUM,
	       "bios merged into a request that already had one"),
	COLUMN(sum_line, errors, NULL, COUNT, SUM, "requests of the run that failed"),
	COLUMN(sum_line, sequential, NULL, COUNT, DERIVED,
	       "requests that start where the previously created one ends (on a mount: on the same "
	       "file); the first is neither sequential nor random"),
	COLUMN(sum_line, random, NULL, COUNT, DERIVED,
	       "requests that do not start where the previously created one ends"),
	RETRANSMITS,
	ROUND_TRIPS,
};

/* Columns of mounts only. */
static const struct table_column other_columns[] = {
	COLUMN(sum_line, requests, "", COUNT, SUM,
	       "further requests of the run to the daemon of a mount: lookups, attributes, opens, "
	       "directories, ..."),
	COLUMN(sum_line, errors, NULL, COUNT, SUM,
	       "those that failed, such as a lookup of a missing name"),
	COLUMN(sum_line, time_ns, "time", NS, SUM,
	       "time until they were answered, summed over requests"),
	{ "p50_ns", NULL, UNIT_NS, KIND_PERCENTILE, "median time of such a request",
	  TABLE_P50(struct sum_line, latency), 0 },
	{ "p99_ns", NULL, UNIT_NS, KIND_PERCENTILE, "99th percentile of their times",
	  TABLE_P99(struct sum_line, latency), 0 },
	COLUMN(sum_line, max_ns, NULL, NS, MAX, "longest time of such a request"),
	RETRANSMITS,
	ROUND_TRIPS,
};

static const struct table_column all_columns[] = {
	COLUMN(sum_line, requests, "", COUNT, COVERED,
	       "completed requests of any process, as in /proc/diskstats, the block layer's own "
	       "flushes included; on devices without requests (md, dm, zram), bios as they arrive"),
	COLUMN(sum_line, bytes, "bytes", BYTES, COVERED, "bytes moved by requests of any process"),
	COLUMN(sum_line, merges, NULL, COUNT, COVERED,
	       "bios and requests merged into another request; null if the kernel does not report "
	       "it"),
	COLUMN(sum_line, requeues, NULL, COUNT, COVERED,
	       "times the driver returned a request to get it again later; null if the kernel does "
	       "not report it"),
	COLUMN(sum_line, errors, NULL, COUNT, COVERED, "requests of any process that failed"),
	COLUMN(sum_line, time_ns, "time", NS, COVERED,
	       "time from creation to completion, summed over requests of any process"),
};

static const struct table_column columns[] = {
	COLUMN(devices_row, name, "device", NONE, KEY,
	       "name of the device, as in /sys/block; of a mount, its source and type"),
	COLUMN(devices_row, dev, "number", NONE, KEY,
	       "major:minor of the whole device; of a mount, st_dev of its files"),
	COLUMN(devices_row, host, NULL, NONE, KEY, "host of the device"),
	COLUMN(devices_row, instance, NULL, NONE, FACT,
	       "tells apart devices that used the same number one after another, such as mounts; "
	       "null: unknown"),
	{ "st_devs", NULL, UNIT_NONE, KIND_LIST,
	  "st_dev of the files whose bytes the device moved; on overlay and btrfs it differs from "
	  "the device's own number",
	  .get = get_served },
	{ "partitions", NULL, UNIT_NONE, KIND_LIST,
	  "major:minor of the partitions that received requests of the run", .get = get_parts },
	COLUMN_AS("unseen.reads", devices_row, unseen.requests[DEVICE_READS], NULL, COUNT, SUM,
		  "reads in /proc/diskstats without a completion event (lower bound), in no other "
		  "number: if any, other counts and bytes of reads are lower bounds"),
	COLUMN_AS("unseen.read_bytes", devices_row, unseen.bytes[DEVICE_READS], NULL, BYTES, SUM,
		  "bytes of reads without a completion event"),
	COLUMN_AS("unseen.writes", devices_row, unseen.requests[DEVICE_WRITES], NULL, COUNT, SUM,
		  "writes in /proc/diskstats without a completion event (lower bound), in no other "
		  "number: if any, other counts and bytes of writes are lower bounds"),
	COLUMN_AS("unseen.write_bytes", devices_row, unseen.bytes[DEVICE_WRITES], NULL, BYTES, SUM,
		  "bytes of writes without a completion event"),
};

static const char *const use_titles[DEVICE_USES] = { "reads", "writes", "discards", "flushes" };

static struct sum_line unknown_line(void)
{
	struct sum_line line;

	memset(&line, 0xff, sizeof(line)); /* TABLE_NO_UINT everywhere */
	line.latency = line.service = NULL;
	return line;
}

static struct sum_line line_of(const struct device *device, const struct device_sum *sum,
			       bool known, int use)
{
	struct sum_line line = unknown_line();

	if (!known)
		return line;
	line = (struct sum_line) {
		.requests = sum->requests,
		.bytes = sum->bytes,
		.merges = sum->merges,
		.requeues = sum->requeues,
		.errors = sum->errors,
		.time_ns = sum->time_ns,
		.queue_ns = sum->queue_ns,
		.service_ns = sum->service_ns,
		.sequential = sum->sequential,
		.random = sum->random,
		.retransmits = device->rtt_known ? sum->retransmits : TABLE_NO_UINT,
		.rtt_ns = device->rtt_known ? sum->rtt_ns : TABLE_NO_UINT,
		.max_ns = device->latency[use] ? device->latency[use]->max : TABLE_NO_UINT,
		.latency = device->latency[use],
		.service = device->service[use],
	};
	return line;
}

/* A mount merges nothing; its queue may be unknown. */
static void line_of_mount(struct devices_row *row, const struct device *device)
{
	for (int use = 0; use < DEVICE_USES; use++) {
		struct sum_line *own = &row->own[use];

		own->merges = TABLE_NO_UINT;
		if (use > DEVICE_WRITES)
			own->sequential = own->random = TABLE_NO_UINT;
		if (!device->queue_known)
			own->queue_ns = row->waits[use].part_queue_ns = TABLE_NO_UINT;
		/* No other class is counted as a whole. */
		if (use == DEVICE_DISCARDS)
			row->own[use] = row->all[use] = unknown_line();
	}
	row->others = line_of(device, &device->own[DEVICE_USES], true, DEVICE_USES);
}

static void add_own_columns(struct table *table, int use)
{
	const struct table_group own = { device_use_names[use], use_titles[use], JOB_EVENTS,
					 TABLE_COLUMNS(own_columns) };
	/* A device's series mark reads. */
	static const unsigned int requests[] = { STRETCH(MARKED), STRETCH_UNMARKED };
	static const unsigned int bytes[] = { STRETCH(READ_BYTES), STRETCH(WRITE_BYTES) };
	struct table_column *first;

	table_add_group(table, &own,
			offsetof(struct devices_row, own) + use * sizeof(struct sum_line));
	if (table_status(table) || use > DEVICE_WRITES || !(table->recorded & JOB_EVENTS))
		return;
	first = &table->columns[table->column_count - own.count];
	first[OWN_REQUESTS].stretch = requests[use];
	first[OWN_BYTES].stretch = bytes[use];
	device_rows_add_waits(table, use,
			      offsetof(struct devices_row, waits) +
				      use * sizeof(struct device_waits));
}

static void add_columns(struct table *table)
{
	const struct table_group others = { "other", "other", JOB_EVENTS,
					    TABLE_COLUMNS(other_columns) };

	table_add_columns(table, TABLE_COLUMNS(columns));
	for (int use = 0; use < DEVICE_USES; use++)
		add_own_columns(table, use);
	table_add_group(table, &others, offsetof(struct devices_row, others));
	for (int use = 0; use < DEVICE_USES; use++) {
		char name[24], title[24];
		const struct table_group all = { name, title, 0, TABLE_COLUMNS(all_columns) };

		snprintf(name, sizeof(name), "all.%s", device_use_names[use]);
		snprintf(title, sizeof(title), "all %s", use_titles[use]);
		table_add_group(table, &all,
				offsetof(struct devices_row, all) + use * sizeof(struct sum_line));
	}
}

static int compare_devices(const void *left, const void *right)
{
	uint64_t times[2] = { 0 };

	for (int use = 0; use <= DEVICE_USES; use++) {
		times[0] += (*(struct device *const *)left)->own[use].time_ns;
		times[1] += (*(struct device *const *)right)->own[use].time_ns;
	}
	return COMPARE(times[1], times[0]);
}

void devices_fill(void *state, struct table *table)
{
	struct devices *devices = state;
	struct strbuf unseen = { .used = 0 };

	if (table_absent_if(table, device_list_lacks(&devices->list),
			    device_list_lacks(&devices->list)))
		return;
	/* Only mode profile leaves requests out; with sums of some processes they are still
	 * recorded. */
	table->recorded = devices->job->layers | (devices->job->all_aggregated ? 0 : JOB_EVENTS);
	add_columns(table);
	if (devices->list.count)
		qsort(devices->all, devices->list.count, sizeof(*devices->all), compare_devices);
	for (size_t i = 0; i < devices->list.count; i++) {
		const struct device *device = devices->all[i];
		const struct listed_device *listed = &devices->list.devices[device->number];
		struct devices_row line = { .name = { listed->name.bytes, listed->name.length },
					    .dev = listed->dev,
					    .instance = device_instance(listed->device)
								?: TABLE_NO_UINT,
					    .served = &device->served,
					    .parts = &device->parts,
					    .host = device_list_host(&devices->list, listed),
					    .others = unknown_line() };

		for (int use = 0; use < DEVICE_USES; use++) {
			line.waits[use] = device->waits[use];
			line.own[use] = line_of(device, &device->own[use], true, use);
			line.all[use] = line_of(device, &device->all[use], device->all_known, use);
		}
		if (device_is_mount(listed->dev))
			line_of_mount(&line, device);
		line.unseen = device->unseen;
		table_add(table, &line);
		if (!table_status(table))
			device_unseen_mark(table, &device->unseen);
		device_unseen_say(&unseen, line.name, &device->unseen);
	}
	if (job_lacks_requests(devices->job))
		table_set_note(table, job_lacks_requests(devices->job));
	if (unseen.used)
		table_set_note(table, unseen.bytes);
	if (devices->job->all_aggregated && devices->list.count)
		table_set_note(
			table,
			"all activity of the devices, by any process: the run's own part requires "
			"individual requests, which were not recorded (use --mode trace)");
	device_list_note(&devices->list, table);
}
