/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "devices": requests to block devices, those of the run and all that the devices served.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/device_list.h"
#include "analysis/devices/device_unseen.h"
#include "analysis/devices/devices.h"
#include "base/compare.h"
#include "base/histogram.h"
#include "base/map.h"
#include "base/units.h"

/* Requests that contain bios of the run, or all requests of the device. */
struct device_sum {
	uint64_t requests, bytes, merges, requeues, errors;
	uint64_t time_ns; /* summed over requests, from creation to completion */
	/* For the run's requests: that time split before and after the driver received them, where
	 * the latest created request ends, and how many began where the previous one ended, or
	 * elsewhere. */
	uint64_t queue_ns, service_ns;
	uint64_t end_sector;
	uint64_t sequential, random;
};

#define DEVICE_NUMBERS_MAX 16

/* A small set of device numbers. */
struct numbers {
	uint32_t devs[DEVICE_NUMBERS_MAX];
	unsigned int count;
};

struct device {
	size_t number;	       /* index in the list */
	struct numbers served; /* st_dev of the files that it holds */
	struct numbers parts;  /* its partitions that received requests */
	struct device_waits waits[DEVICE_USES];
	struct device_sum own[DEVICE_USES], all[DEVICE_USES];
	/* Of `all`: from traces that ended before `trace`, and the lower bound from other
	 * traces. */
	struct device_sum before[DEVICE_USES], least[DEVICE_USES];
	struct device_unseen unseen;
	uint32_t trace; /* that the latest sums come from */
	bool all_known;
	struct histogram *latency[DEVICE_USES], *service[DEVICE_USES]; /* NULL: no requests */
};

#define WAITERS_MAX (1u << 16)

struct devices {
	const struct job *job;
	struct arena *arena;
	/* Device and use, process, tid -> union of the thread's parts: measure, end. */
	struct map waiters;
	struct device_list list;
	struct device *all[DEVICES_MAX]; /* indexed as in the list until the table is filled */
	uint64_t beyond;		 /* requests of devices beyond DEVICES_MAX */
};

/* A table row. */
struct sum_line {
	uint64_t requests, bytes, merges, requeues, errors, time_ns, queue_ns, service_ns;
	uint64_t max_ns, sequential, random;
	const struct histogram *latency, *service; /* NULL: no requests, or unknown */
};

struct devices_row {
	char dev[UNITS_TEXT];
	const struct numbers *served, *parts;
	const char *host;
	struct table_text name;
	struct sum_line own[DEVICE_USES], all[DEVICE_USES];
	struct device_waits waits[DEVICE_USES];
	struct device_unseen unseen;
};

static void get_dev(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column)
{
	table_set_literal(table, cell, ((const struct devices_row *)row)->dev);
}

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

static const struct table_column own_columns[] = {
	COLUMN(sum_line, requests, "", COUNT, SUM,
	       "completed requests that contain bytes of the run"),
	COLUMN(sum_line, bytes, "bytes", BYTES, SUM, "bytes of the run in completed requests"),
	COLUMN(sum_line, queue_ns, "queue", NS, SUM,
	       "time from creation until the driver received the request, summed over requests"),
	COLUMN(sum_line, service_ns, "service", NS, SUM,
	       "time from the driver's receipt to completion, summed over requests"),
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
	       "requests that start where the previously created one ends; the first is neither "
	       "sequential nor random"),
	COLUMN(sum_line, random, NULL, COUNT, DERIVED,
	       "requests that do not start where the previously created one ends"),
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
	COLUMN(devices_row, name, "device", NONE, KEY, "name of the device, as in /sys/block"),
	{ "dev", "number", UNIT_NONE, KIND_KEY, "major:minor of the whole device", .get = get_dev },
	COLUMN(devices_row, host, NULL, NONE, KEY, "host of the device"),
	{ "st_devs", NULL, UNIT_NONE, KIND_LIST,
	  "st_dev of the files whose bytes the device moved; on overlay and btrfs it differs from "
	  "the device's own number",
	  .get = get_served },
	{ "partitions", NULL, UNIT_NONE, KIND_LIST,
	  "major:minor of the partitions that received requests of the run", .get = get_parts },
	{ "unseen.reads", NULL, UNIT_COUNT, KIND_SUM,
	  "reads in /proc/diskstats without a completion event (lower bound), in no other number: "
	  "if any, other counts and bytes of reads are lower bounds",
	  TABLE_UINT(struct devices_row, unseen.requests[DEVICE_READS]), 0 },
	{ "unseen.read_bytes", NULL, UNIT_BYTES, KIND_SUM,
	  "bytes of reads without a completion event",
	  TABLE_UINT(struct devices_row, unseen.bytes[DEVICE_READS]), 0 },
	{ "unseen.writes", NULL, UNIT_COUNT, KIND_SUM,
	  "writes in /proc/diskstats without a completion event (lower bound), in no other number: "
	  "if any, other counts and bytes of writes are lower bounds",
	  TABLE_UINT(struct devices_row, unseen.requests[DEVICE_WRITES]), 0 },
	{ "unseen.write_bytes", NULL, UNIT_BYTES, KIND_SUM,
	  "bytes of writes without a completion event",
	  TABLE_UINT(struct devices_row, unseen.bytes[DEVICE_WRITES]), 0 },
};

static const char *const use_titles[DEVICE_USES] = { "reads", "writes", "discards", "flushes" };

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct devices *devices = state;

	devices->job = devices->list.job = job;
	devices->arena = arena;
	map_init_in(&devices->waiters, arena, 3, 2);
}

/* Finds or adds a device. Returns NULL if there are too many, or no memory. */
static struct device *find(struct devices *devices, const struct event *event, unsigned int column)
{
	size_t number = device_list_add(&devices->list, event, column);

	if (number == DEVICES_MAX)
		return NULL;
	if (!devices->all[number]) {
		devices->all[number] = arena_alloc(devices->arena, sizeof(*devices->all[number]));
		if (devices->all[number])
			devices->all[number]->number = number;
	}
	return devices->all[number];
}

/* --- requests of the run --- */

static void add_number(struct numbers *numbers, uint32_t dev)
{
	for (unsigned int i = 0; i < numbers->count; i++)
		if (numbers->devs[i] == dev)
			return;
	if (numbers->count < DEVICE_NUMBERS_MAX)
		numbers->devs[numbers->count++] = dev;
}

static bool is_waited_for(enum device_use use, uint64_t flags)
{
	return use == DEVICE_READS || use == DEVICE_FLUSHES || flags & TRACE_BLOCK_SYNC;
}

/* Threads beyond WAITERS_MAX are treated as if they had not waited. */
static void add_waiter(struct devices *devices, struct device *device, enum device_use use,
		       const struct event *event)
{
	const uint64_t key[3] = { device->number * DEVICE_USES + use, event->process,
				  event->thread };
	bool room = devices->waiters.count < WAITERS_MAX, added;
	uint64_t *found =
		room ? map_add(&devices->waiters, key, &added) : map_find(&devices->waiters, key);
	struct interval_union time;

	if (!found)
		return;
	time = (struct interval_union) { .measure = found[0], .end = found[1] };
	interval_add(&time, event->start, event->end);
	device->waits[use].threads_time_ns += time.measure - found[0];
	found[0] = time.measure;
	found[1] = time.end;
}

static void add_wait_of_bio(struct devices *devices, struct device *device, enum device_use use,
			    const struct event *event)
{
	uint64_t queue_ns = event_value(event, BIO_QUEUE), time_ns = event->end - event->start;
	struct device_waits *waits = &device->waits[use];

	if (!is_waited_for(use, event_value(event, BIO_FLAGS)))
		return;
	queue_ns = queue_ns < time_ns ? queue_ns : time_ns;
	waits->parts++;
	waits->part_queue_ns += queue_ns;
	waits->part_service_ns += time_ns - queue_ns;
	interval_add(&waits->time, event->start, event->end);
	add_waiter(devices, device, use, event);
}

/* Bios show which file systems a device holds, and how long there was something to wait for. */
static void add_bio(struct devices *devices, const struct event *event)
{
	enum device_use use = devices->job->operations[event->operation].use;
	struct device *device = find(devices, event, BIO_DEV);

	if (!device)
		return;
	if (event->file != FILE_NONE && event->file != FILE_UNKNOWN)
		add_number(&device->served, devices->job->files.files[event->file].dev);
	if (use != DEVICE_USES)
		add_wait_of_bio(devices, device, use, event);
}

/* Requests come in the order of their creation. */
static void add_place(struct device_sum *sum, const struct event *event)
{
	uint64_t sector = event_value(event, REQUEST_SECTOR);

	if (sum->requests > 1 && sector == sum->end_sector)
		sum->sequential++;
	else if (sum->requests > 1)
		sum->random++;
	sum->end_sector = sector + event_value(event, REQUEST_BYTES) / TRACE_SECTOR_BYTES;
}

static void add_request(struct devices *devices, const struct event *event)
{
	uint64_t queue_ns = event_value(event, REQUEST_QUEUE);
	uint64_t time_ns = event->end - event->start;
	enum device_use use = devices->job->operations[event->operation].use;
	struct device *device;
	struct device_sum *sum;

	if (use == DEVICE_USES)
		return;
	device = find(devices, event, REQUEST_DEV);
	if (!device) {
		devices->beyond++;
		return;
	}
	if (event_value(event, REQUEST_PART) != event_value(event, REQUEST_DEV))
		add_number(&device->parts, event_value(event, REQUEST_PART));
	sum = &device->own[use];
	sum->bytes += event->bytes;
	if (event->flags & EVENT_SECOND) /* part of a request that completes later */
		return;
	if (!sum->requests++) {
		device->latency[use] = arena_alloc(devices->arena, sizeof(struct histogram));
		device->service[use] = arena_alloc(devices->arena, sizeof(struct histogram));
	}
	if (!device->latency[use] || !device->service[use])
		return;
	add_place(sum, event);
	queue_ns = queue_ns < time_ns ? queue_ns : time_ns;
	sum->time_ns += time_ns;
	sum->queue_ns += queue_ns;
	sum->service_ns += time_ns - queue_ns;
	sum->merges += clock_subtract(event_value(event, REQUEST_BIOS), 1);
	sum->errors += event->flags & EVENT_FAILED ? 1 : 0;
	histogram_add(device->latency[use], time_ns);
	histogram_add(device->service[use], time_ns - queue_ns);
	if (is_waited_for(use, event_value(event, REQUEST_FLAGS))) {
		device->waits[use].requests++;
		device->waits[use].bytes += event->bytes;
		device->waits[use].queue_ns += queue_ns;
		device->waits[use].service_ns += time_ns - queue_ns;
	}
}

/* --- device sums --- */

#define COUNTS(ID)                                                                                 \
	{                                                                                          \
		DEVICE_##ID##_REQUESTS, DEVICE_##ID##_BYTES, DEVICE_##ID##_MERGES,                 \
			DEVICE_##ID##_REQUEUES, DEVICE_##ID##_ERRORS, DEVICE_##ID##_TIME           \
	}

static const struct {
	unsigned int requests, bytes, merges, requeues, errors, time;
} counts_of[DEVICE_USES] = { COUNTS(READ), COUNTS(WRITE), COUNTS(DISCARD), COUNTS(FLUSH) };

/* A trace that began after the previous one had ended adds to its sums. Overlapping traces count
 * partly the same requests: the sum is at least that of the largest one. */
static void change_trace(const struct devices *devices, struct device *device, uint32_t trace)
{
	const struct job_trace *traces = devices->job->traces;

	if (!device->all_known || device->trace == trace) {
		device->trace = trace;
		return;
	}
	if (traces[trace].start_ns >= traces[device->trace].end_ns)
		memcpy(device->before, device->all, sizeof(device->before));
	memcpy(device->least, device->all, sizeof(device->least));
	device->trace = trace;
}

static uint64_t more_of(uint64_t before, uint64_t now, uint64_t least)
{
	uint64_t sum = clock_add(before, now);

	return sum > least ? sum : least;
}

/* The last row in a trace holds its sums. */
static void add_sums(struct devices *devices, const struct event *event)
{
	struct device *device = find(devices, event, DEVICE_DEV);

	if (!device)
		return;
	change_trace(devices, device, event->block->trace);
	device->all_known = true;
	device_list_name(&devices->list, event);
	device_unseen_add(&device->unseen, event);
	for (int use = 0; use < DEVICE_USES; use++) {
		const struct device_sum *before = &device->before[use];
		const struct device_sum *least = &device->least[use];

#define MORE(member, column)                                                                       \
	.member = more_of(before->member, event_value(event, counts_of[use].column), least->member)
		device->all[use] = (struct device_sum) {
			MORE(requests, requests), MORE(bytes, bytes),	MORE(merges, merges),
			MORE(requeues, requeues), MORE(errors, errors), MORE(time_ns, time),
		};
#undef MORE
	}
}

static int add_events(void *state, const struct event *events, size_t count)
{
	const struct devices *devices = state;

	for (const struct event *event = events; event < events + count; event++) {
		if (event->flags & EVENT_REQUEST)
			add_request(state, event);
		else if (event->flags & EVENT_BIO)
			add_bio(state, event);
		else if (event->flags & EVENT_DEVICE)
			add_sums(state, event);
	}
	return arena_status(devices->arena);
}

/* --- the table --- */

static struct sum_line line_of(const struct device *device, const struct device_sum *sum,
			       bool known, int use)
{
	struct sum_line line;

	if (!known) {
		memset(&line, 0xff, sizeof(line)); /* TABLE_NO_UINT everywhere */
		line.latency = line.service = NULL;
		return line;
	}
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
		.max_ns = device->latency[use] ? device->latency[use]->max : TABLE_NO_UINT,
		.latency = device->latency[use],
		.service = device->service[use],
	};
	return line;
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
	table_add_columns(table, TABLE_COLUMNS(columns));
	for (int use = 0; use < DEVICE_USES; use++)
		add_own_columns(table, use);
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

	for (int use = 0; use < DEVICE_USES; use++) {
		times[0] += (*(struct device *const *)left)->own[use].time_ns;
		times[1] += (*(struct device *const *)right)->own[use].time_ns;
	}
	return COMPARE(times[1], times[0]);
}

static void fill(void *state, struct table *table)
{
	struct devices *devices = state;
	struct strbuf unseen = { .used = 0 };

	if (job_lacks_requests(devices->job)) {
		table->absent = true;
		table_set_note(table, job_lacks_requests(devices->job));
		return;
	}
	/* Only mode profile leaves requests out; with sums of some processes they are still
	 * recorded. */
	table->recorded = devices->job->layers | (devices->job->all_aggregated ? 0 : JOB_EVENTS);
	add_columns(table);
	qsort(devices->all, devices->list.count, sizeof(*devices->all), compare_devices);
	for (size_t i = 0; i < devices->list.count; i++) {
		const struct device *device = devices->all[i];
		const struct listed_device *listed = &devices->list.devices[device->number];
		struct devices_row line = { .name = { listed->name.bytes, listed->name.length },
					    .served = &device->served,
					    .parts = &device->parts,
					    .host = device_list_host(&devices->list, listed) };

		units_device(line.dev, listed->dev);
		for (int use = 0; use < DEVICE_USES; use++) {
			line.waits[use] = device->waits[use];
			line.own[use] = line_of(device, &device->own[use], true, use);
			line.all[use] = line_of(device, &device->all[use], device->all_known, use);
		}
		line.unseen = device->unseen;
		table_add(table, &line);
		if (!table_status(table))
			device_unseen_mark(table, &device->unseen);
		device_unseen_say(&unseen, line.name, &device->unseen);
	}
	if (unseen.used)
		table_set_note(table, unseen.bytes);
	if (devices->job->all_aggregated && devices->list.count)
		table_set_note(
			table,
			"all activity of the devices, by any process: the run's own part requires "
			"individual requests, which were not recorded (use --mode trace)");
	if (devices->beyond) {
		char note[96], number[UNITS_TEXT];

		snprintf(note, sizeof(note), "%s requests of further devices are omitted",
			 units_count(number, devices->beyond));
		table_set_note(table, note);
	}
}

uint64_t devices_unseen(const struct results *results, enum device_use use)
{
	const struct devices *devices = results_state(results, &analysis_devices);
	uint64_t unseen = 0;

	for (size_t i = 0; devices && i < devices->list.count; i++)
		unseen += devices->all[i]->unseen.requests[use];
	return unseen;
}

bool devices_view(const struct results *results, size_t number, struct device_view *view)
{
	const struct devices *devices = results_state(results, &analysis_devices);
	const struct listed_device *listed;
	const struct device *device;

	if (!results->job)
		return device_rows_view(results->report, number, view);
	if (number >= devices->list.count)
		return false;
	device = devices->all[number];
	listed = &devices->list.devices[device->number];
	*view = (struct device_view) {
		.host = listed->host,
		.dev = listed->dev,
		.name = listed->name,
		.all_known = device->all_known,
		.flushes = device->all[DEVICE_FLUSHES].requests,
		.flush_ns = device->all[DEVICE_FLUSHES].time_ns,
	};
	for (int use = DEVICE_READS; use <= DEVICE_WRITES; use++) {
		view->all_bytes += device->all[use].bytes;
		view->own_bytes += device->own[use].bytes;
		view->all_requests += device->all[use].requests;
		view->own_requests += device->own[use].requests;
		view->failed[use] = device->own[use].errors;
	}
	for (int use = 0; use < DEVICE_USES; use++) {
		view->waits[use] = device->waits[use];
		if (device->service[use])
			view->waits[use].service_p50_ns =
				histogram_percentile(device->service[use], 50);
	}
	return true;
}

const struct analysis analysis_devices = {
	.name = "devices",
	.title = "Devices",
	.meaning = "requests to block devices: the run's own, and those of any process; null "
		   "without layer block",
	.shown = "name,dev,read.requests,read.bytes,write.requests,write.bytes,flush.requests,"
		 "read.service_ns,write.service_ns,read.queue_ns,write.queue_ns",
	.shown_aggregated = "name,dev,all.read.requests,all.read.bytes,all.read.time_ns,"
			 "all.write.requests,all.write.bytes,all.write.time_ns,all.flush.requests",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct devices),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_REQUEST | EVENT_BIO | EVENT_DEVICE },
	.columns = {
		[TRACE_REQUEST] = 1ull << REQUEST_DEV | 1ull << REQUEST_QUEUE |
				  1ull << REQUEST_BIOS | 1ull << REQUEST_PART |
				  1ull << REQUEST_FLAGS | 1ull << REQUEST_SECTOR |
				  1ull << REQUEST_BYTES,
		[TRACE_BIO] = 1ull << BIO_DEV | 1ull << BIO_QUEUE | 1ull << BIO_FLAGS,
		[TRACE_DEVICE] = (1ull << DEVICE_COLUMNS) - 1,
	},
	.fill = fill,
	.merging = { .sorted = "name",
		     .many = "devices" },
};
