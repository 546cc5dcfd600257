/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "devices": requests to block devices and to the servers of mounts: those of the run and
 * all that were served.
 */
#include <string.h>

#include "analysis/devices/devices.h"
#include "analysis/devices/devices_state.h"
#include "base/number.h"

#define WAITERS_MAX (1u << 16)
#define ENDS_MAX (1u << 16)

static void begin(void *state, const struct job *job, struct arena *arena)
{
	struct devices *devices = state;

	devices->job = job;
	devices->arena = arena;
	device_list_init(&devices->list, job, arena);
	map_init_in(&devices->waiters, arena, 3, 2);
	map_init_in(&devices->ends, arena, 2, 1);
}

/* Finds or adds a device. Returns NULL if there are too many, or no memory. */
static struct device *find(struct devices *devices, const struct event *event)
{
	size_t number = device_list_add(&devices->list, event);

	if (number == DEVICE_UNLISTED ||
	    !ARENA_GROW(devices->arena, devices->all, devices->room, number + 1))
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

static uint64_t number_of(const struct device *device, unsigned int use)
{
	return device->number * (DEVICE_USES + 1) + use;
}

/* Threads beyond WAITERS_MAX are treated as if they had not waited. */
static void add_waiter(struct devices *devices, struct device *device, unsigned int use,
		       const struct event *event)
{
	const uint64_t key[3] = { number_of(device, use), event->process, event->thread };
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

/* For bios and for requests to a mount. */
static void add_wait(struct devices *devices, struct device *device, unsigned int use,
		     const struct event *event, uint64_t queue_ns)
{
	uint64_t time_ns = event->end - event->start;
	struct device_waits *waits = &device->waits[use];

	queue_ns = number_min(queue_ns, time_ns);
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
	struct device *device = find(devices, event);

	if (!device)
		return;
	if (event->file != FILE_NONE && event->file != FILE_UNKNOWN)
		add_number(&device->served, devices->job->files.files[event->file].dev);
	if (use != DEVICE_USES && is_waited_for(use, event_value(event, BIO_FLAGS)))
		add_wait(devices, device, use, event, event_value(event, BIO_QUEUE));
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

/* Counts a request, whose time it splits. Returns false if there is no memory. `use`: DEVICE_USES
 * for a further request to a mount. */
static bool count_request(struct devices *devices, struct device *device, unsigned int use,
			  const struct event *event, uint64_t queue_ns)
{
	struct device_sum *sum = &device->own[use];
	uint64_t time_ns = event->end - event->start;

	if (!sum->requests++) {
		device->latency[use] = arena_alloc(devices->arena, sizeof(struct histogram));
		device->service[use] = arena_alloc(devices->arena, sizeof(struct histogram));
	}
	if (!device->latency[use] || !device->service[use])
		return false;
	sum->time_ns += time_ns;
	sum->queue_ns += queue_ns;
	sum->service_ns += time_ns - queue_ns;
	sum->errors += event->flags & EVENT_FAILED ? 1 : 0;
	histogram_add(device->latency[use], time_ns);
	histogram_add(device->service[use], time_ns - queue_ns);
	if (use == DEVICE_READS && event->bytes <= threshold(THRESHOLD_SMALL_READ)) {
		if (!device->small_reads)
			device->small_reads =
				arena_alloc(devices->arena, sizeof(*device->small_reads));
		if (!device->small_reads)
			return false;
		histogram_add(device->small_reads, time_ns);
	}
	return true;
}

static void count_waited(struct device *device, unsigned int use, const struct event *event,
			 uint64_t queue_ns)
{
	struct device_waits *waits = &device->waits[use];

	waits->requests++;
	waits->bytes += event->bytes;
	waits->queue_ns += queue_ns;
	waits->service_ns += event->end - event->start - queue_ns;
}

/* NFS counts how often a request was sent. */
static void add_transmissions(struct device *device, unsigned int use, const struct event *event)
{
	const int64_t rtt_ns = event_value(event, REMOTE_RTT);

	if (rtt_ns < 0)
		return;
	device->rtt_known = true;
	device->own[use].rtt_ns += rtt_ns;
	device->own[use].resent += event_value(event, REMOTE_RETRANSMITS) > 0;
	device->own[use].retransmits += event_value(event, REMOTE_RETRANSMITS);
}

/* A request that was sent again has waited for its reply: that is no queue. */
static void add_waited(struct devices *devices, struct device *device, unsigned int use,
		       const struct event *event, uint64_t queue_ns)
{
	if (event_value(event, REMOTE_RETRANSMITS)) {
		interval_add(&device->resent[use], event->start, event->start + queue_ns);
		queue_ns = 0;
	}
	count_waited(device, use, event, queue_ns);
	add_wait(devices, device, use, event, queue_ns);
}

/* Returns whether it starts where the previous one on its file ends. Files beyond ENDS_MAX are
 * ignored. */
static bool add_place_in_file(struct devices *devices, struct device *device, unsigned int use,
			      const struct event *event)
{
	const uint64_t key[2] = { number_of(device, use), event_value(event, REMOTE_NODE) };
	bool room = devices->ends.count < ENDS_MAX, added = false;
	uint64_t *end = room ? map_add(&devices->ends, key, &added) : map_find(&devices->ends, key);

	bool in_order;

	if (!end)
		return false;
	in_order = !added && *end == (uint64_t)event->offset;
	if (in_order)
		device->own[use].sequential++;
	else if (!added)
		device->own[use].random++;
	*end = event->offset + event->bytes;
	return in_order;
}

static void add_remote(struct devices *devices, const struct event *event)
{
	enum device_use use = devices->job->operations[event->operation].use;
	struct device *device = find(devices, event);
	uint64_t time_ns = event->end - event->start, queue_ns = 0;
	struct device_sum *sum;
	bool in_order;

	if (!device)
		return;
	if ((int64_t)event_value(event, REMOTE_QUEUE) >= 0) {
		queue_ns = event_value(event, REMOTE_QUEUE);
		device->queue_known = true;
	}
	queue_ns = number_min(queue_ns, time_ns);
	sum = &device->own[use];
	add_number(&device->served, devices->list.devices[device->number].dev);
	sum->bytes += event->bytes;
	add_transmissions(device, use, event);
	if (!count_request(devices, device, use, event, queue_ns))
		return;
	if (!device->op_time)
		device->op_time = arena_alloc(devices->arena, devices->job->operation_count *
								      sizeof(*device->op_time));
	if (device->op_time)
		device->op_time[event->operation] += time_ns;
	in_order = event->offset >= 0 && add_place_in_file(devices, device, use, event);
	round_trips_add(&device->trips, devices->job, devices->arena, event, in_order);
	/* A program waits for what is read ahead. */
	if (use != DEVICE_READS && event_value(event, REMOTE_FLAGS) & TRACE_REMOTE_BACKGROUND)
		return;
	add_waited(devices, device, use, event, queue_ns);
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
	device = find(devices, event);
	if (!device)
		return;
	if (event_value(event, REQUEST_PART) != event_value(event, REQUEST_DEV))
		add_number(&device->parts, event_value(event, REQUEST_PART));
	sum = &device->own[use];
	sum->bytes += event->bytes;
	if (event->flags & EVENT_SECOND) /* part of a request that completes later */
		return;
	queue_ns = number_min(queue_ns, time_ns);
	if (!count_request(devices, device, use, event, queue_ns))
		return;
	add_place(sum, event);
	sum->merges += number_sub(event_value(event, REQUEST_BIOS), 1);
	if (is_waited_for(use, event_value(event, REQUEST_FLAGS)))
		count_waited(device, use, event, queue_ns);
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
	if (!device->all_known || device->trace == trace) {
		device->trace = trace;
		return;
	}
	if (device_list_is_later(devices->job, device->trace, trace))
		memcpy(device->before, device->all, sizeof(device->before));
	memcpy(device->min, device->all, sizeof(device->min));
	device->trace = trace;
}

/* The last row in a trace holds its sums. */
static void add_sums(struct devices *devices, const struct event *event)
{
	struct device *device = find(devices, event);

	if (!device)
		return;
	change_trace(devices, device, event->block->trace);
	device->all_known = true;
	device_list_name(&devices->list, event);
	device_unseen_add(&device->unseen, event);
	for (int use = 0; use < DEVICE_USES; use++) {
		const struct device_sum *before = &device->before[use];
		const struct device_sum *min = &device->min[use];

#define MORE(member, column)                                                                       \
	.member = device_list_total(before->member, event_value(event, counts_of[use].column),     \
				    min->member)
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
		if (device_list_ignores(event))
			continue;
		if (event_is_remote(event))
			add_remote(state, event);
		else if (event->flags & EVENT_REQUEST)
			add_request(state, event);
		else if (event->flags & EVENT_BIO)
			add_bio(state, event);
		else if (event->flags & EVENT_DEVICE)
			add_sums(state, event);
	}
	return arena_status(devices->arena);
}

uint64_t devices_unseen(const struct results *results, enum device_use use)
{
	const struct devices *devices = results_state(results, &analysis_devices);
	uint64_t unseen = 0;

	for (size_t i = 0; devices && i < devices->list.count; i++)
		unseen += devices->all[i]->unseen.requests[use];
	return unseen;
}

/* Returns a mount's operation with the most time, reads and writes excluded. */
static const char *leading_op(const struct devices *devices, const struct device *device)
{
	const struct operation *operations = devices->job->operations;
	uint64_t max_ns = 0;
	const char *name = "";

	for (size_t i = 0; device->op_time && i < devices->job->operation_count; i++) {
		if (operations[i].use != DEVICE_USES || device->op_time[i] <= max_ns)
			continue;
		max_ns = device->op_time[i];
		name = operations[i].name;
	}
	return name;
}

bool devices_view(const struct results *results, size_t number, struct device_view *view)
{
	const struct devices *devices = results_state(results, &analysis_devices);
	const struct listed_device *listed;
	const struct device *device;

	if (!results->job)
		return device_rows_view(report_by(results->report, &analysis_devices), number,
					view);
	if (number >= devices->list.count)
		return false;
	device = devices->all[number];
	listed = &devices->list.devices[device->number];
	*view = (struct device_view) {
		.host = listed->host,
		.dev = listed->dev,
		.device = listed->device,
		.name = listed->name,
		.mount = device_is_mount(listed->dev),
		.queue_unknown = device_is_mount(listed->dev) && !device->queue_known,
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
	if (device->small_reads) {
		view->small_reads = device->small_reads->count;
		view->small_read_ns = histogram_percentile(device->small_reads, FAST_PERCENT);
	}
	view->reads_in_order = device->own[DEVICE_READS].sequential;
	view->other_requests = device->own[DEVICE_USES].requests;
	view->other_ns = device->own[DEVICE_USES].time_ns;
	view->data_ns = device->own[DEVICE_READS].time_ns + device->own[DEVICE_WRITES].time_ns;
	view->leading_op = leading_op(devices, device);
	view->trips = round_trips_view(device->trips);
	for (int use = 0; use <= DEVICE_USES; use++) {
		view->waits[use] = device->waits[use];
		view->requests += device->own[use].requests;
		view->resent += device->own[use].resent;
		view->retransmits += device->own[use].retransmits;
		view->resent_ns[use] = device->resent[use].measure;
		if (device->service[use])
			view->waits[use].service_p50_ns =
				histogram_percentile(device->service[use], 50);
	}
	return true;
}

struct device_waits devices_reads(const struct results *results)
{
	struct device_waits sum = { .bytes = 0 };
	struct device_view view;

	for (size_t i = 0; devices_view(results, i, &view); i++) {
		const struct device_waits *reads = &view.waits[DEVICE_READS];

		sum.bytes = number_add(sum.bytes, reads->bytes);
		sum.parts = number_add(sum.parts, reads->parts);
		sum.time.measure = number_add(sum.time.measure, reads->time.measure);
	}
	return sum;
}

const struct analysis analysis_devices = {
	.name = "devices",
	.title = "Devices",
	.meaning = "requests to block devices and to the servers of " SERVED_MOUNTS
		   ": the run's own, and those of any process; null without the layers "
		   "block, " SERVER_LAYERS,
	.shown = "name,dev,read.requests,read.bytes,write.requests,write.bytes,other.requests,"
		 "other.time_ns,flush.requests,read.service_ns,write.service_ns,read.queue_ns,"
		 "write.queue_ns",
	.shown_aggregated = "name,dev,all.read.requests,all.read.bytes,all.read.time_ns,"
			 "all.write.requests,all.write.bytes,all.write.time_ns,all.flush.requests",
	.shape = TABLE_LIST,
	.state_bytes = sizeof(struct devices),
	.begin = begin,
	.aggregated_ok = true,
	.consumer = { .parallel = true, .events = add_events, .matters = EVENT_REQUEST | EVENT_BIO | EVENT_DEVICE },
	.columns = {
		[TRACE_REQUEST] = DEVICE_OF_REQUEST | 1ull << REQUEST_QUEUE |
				  1ull << REQUEST_BIOS | 1ull << REQUEST_PART |
				  1ull << REQUEST_FLAGS | 1ull << REQUEST_SECTOR |
				  1ull << REQUEST_BYTES,
		[TRACE_REMOTE] = DEVICE_OF_REMOTE | 1ull << REMOTE_FLAGS | 1ull << REMOTE_QUEUE |
				 1ull << REMOTE_NODE | 1ull << REMOTE_RTT |
				 1ull << REMOTE_RETRANSMITS | 1ull << REMOTE_ASKED,
		[TRACE_BIO] = DEVICE_OF_BIO | 1ull << BIO_QUEUE | 1ull << BIO_FLAGS,
		[TRACE_DEVICE] = (1ull << DEVICE_COLUMNS) - 1,
	},
	.fill = devices_fill,
	.merging = { .sorted = "name",
		     .many = "devices" },
};
