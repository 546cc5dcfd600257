/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Block requests as slices, and arrows to them from open calls and faults. */
#include "output/timeline/chrome_requests.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/event.h"
#include "base/grow.h"
#include "base/units.h"

#define ARROW "storage"

int chrome_requests_init(struct chrome_requests *requests, struct chrome_threads *threads,
			 const struct chrome_window *window, const struct device_names *names,
			 uint64_t min_duration_ns)
{
	*requests = (struct chrome_requests) {
		.threads = threads,
		.window = window,
		.names = names,
		.min_duration_ns = min_duration_ns,
		.arrows = calloc(CHROME_ARROWS, sizeof(struct chrome_arrow)),
	};
	return requests->arrows ? 0 : -ENOMEM;
}

void chrome_requests_free(struct chrome_requests *requests)
{
	free(requests->devices);
	free(requests->arrows);
}

/* --- devices --- */

/* Sets *number to CHROME_DEVICES_MAX if there are too many devices. */
static int find_device(struct chrome_requests *requests, uint32_t host, uint32_t dev,
		       size_t *number)
{
	for (*number = 0; *number < requests->count; ++*number)
		if (requests->devices[*number].dev == dev &&
		    requests->devices[*number].host == host)
			return 0;
	if (requests->count == CHROME_DEVICES_MAX)
		return 0;
	if (!GROW(requests->devices, requests->room, requests->count + 1))
		return -ENOMEM;
	requests->devices[requests->count++] = (struct chrome_device) { .host = host, .dev = dev };
	return 0;
}

static void write_names(struct chrome_requests *requests, size_t number, const char *host)
{
	struct chrome_device *device = &requests->devices[number];
	const uint64_t pid = CHROME_DEVICE_PID + number * CHROME_DEVICE_STEP;
	const struct chrome_place place = { pid, pid };
	char text[DEVICE_TITLE_BYTES];
	int length;

	device->used = true;
	device_names_title(requests->names, device->host, device->dev, text);
	length = strlen(text);
	chrome_metadata(requests->threads, "process_name", place, "name",
			(struct trace_string) { text, length });
	length = snprintf(text, sizeof(text), "host %.100s", host);
	chrome_metadata(requests->threads, "process_labels", place, "labels",
			(struct trace_string) { text, length });
}

static void name_lane(struct chrome_requests *requests, struct chrome_place place, uint32_t lane)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "requests %u", lane + 1);

	chrome_metadata(requests->threads, "thread_name", place, "name",
			(struct trace_string) { text, length });
}

/* The first lane with no request in flight. */
static uint32_t find_lane(struct chrome_device *device, uint64_t start_ns)
{
	uint32_t lane = 0;

	while (lane < device->lanes && device->ends[lane] > start_ns)
		lane++;
	return lane;
}

/* --- arrows --- */

static uint64_t id_of(const struct event *event, uint64_t request)
{
	return (uint64_t)(event->block->trace + 1) << 40 | (request & ((1ull << 40) - 1));
}

static struct chrome_arrow *arrow_of(struct chrome_requests *requests, uint64_t id)
{
	struct chrome_arrow *arrow = &requests->arrows[(id ^ id >> 40) % CHROME_ARROWS];

	if (arrow->id != id)
		*arrow = (struct chrome_arrow) { .id = id };
	return arrow;
}

static void write_arrow(struct chrome_requests *requests, char phase, struct chrome_place place,
			uint64_t id, uint64_t time_ns)
{
	struct sink *out = requests->threads->out;

	sink_text(out, ",\n");
	chrome_open(out, chrome_text(ARROW), chrome_text("block"), phase, place);
	sink_text(out, ",\"id\":");
	sink_uint(out, id);
	chrome_time(out, "ts", time_ns);
	if (phase == 'f')
		sink_text(out, ",\"bp\":\"e\"");
	sink_char(out, '}');
}

/* Ends the arrow on the request, no earlier than it begins. */
static void end_arrow(struct chrome_requests *requests, const struct chrome_arrow *arrow,
		      uint64_t from_ns)
{
	uint64_t time_ns = arrow->time_ns > from_ns ? arrow->time_ns : from_ns;

	write_arrow(requests, 'f', arrow->place, arrow->id,
		    time_ns < arrow->end_ns ? time_ns : arrow->end_ns);
}

void chrome_requests_lead(struct chrome_requests *requests, const struct event *event,
			  uint32_t thread)
{
	const struct chrome_thread *of = &requests->threads->threads[thread];
	struct chrome_arrow *arrow =
		arrow_of(requests, id_of(event, event_value(event, BIO_REQUEST)));
	uint64_t time_ns = event->start - requests->window->base_ns;
	bool open = false;

	/* Arrows must begin on a slice that is drawn. */
	for (uint32_t i = 0; i < of->depth; i++)
		open |= of->ends[i] > time_ns;
	if (arrow->from || !open || event->start < requests->window->from_ns ||
	    event->start >= requests->window->until_ns)
		return;
	arrow->from = true;
	write_arrow(requests, 's', chrome_place_of(requests->threads, thread), arrow->id, time_ns);
	if (arrow->to)
		end_arrow(requests, arrow, time_ns);
	else
		arrow->time_ns = time_ns;
}

/* --- requests --- */

static void write_request(struct sink *out, const struct chrome_slice *slice,
			  const struct resolved_row *row)
{
	const uint64_t *values = row->values;
	struct chrome_args args = chrome_slice_begin(out, slice);

	if (row->path.length)
		chrome_add_text(&args, "file", row->path);
	chrome_add_uint(&args, "request", values[REQUEST_ID]);
	chrome_add_uint(&args, "sector", values[REQUEST_SECTOR]);
	chrome_add_uint(&args, "bytes", values[REQUEST_BYTES]);
	if (values[REQUEST_OWN_BYTES] != values[REQUEST_BYTES])
		chrome_add_uint(&args, "own_bytes", values[REQUEST_OWN_BYTES]);
	chrome_add_uint(&args, "bios", values[REQUEST_BIOS]);
	chrome_add_uint(&args, "queue_ns", values[REQUEST_QUEUE]);
	if (values[REQUEST_QUEUE] <= values[REQUEST_DUR])
		chrome_add_uint(&args, "service_ns", values[REQUEST_DUR] - values[REQUEST_QUEUE]);
	if (values[REQUEST_PID]) {
		chrome_add_uint(&args, "queued_by_pid", values[REQUEST_PID]);
		chrome_add_uint(&args, "queued_by_tid", values[REQUEST_TID]);
	} else {
		chrome_add_word(&args, "queued_by", "kernel");
	}
	if (values[REQUEST_STATUS])
		chrome_add_uint(&args, "status", values[REQUEST_STATUS]);
	chrome_add_flags(&args, row->kind, values[REQUEST_FLAGS]);
	chrome_slice_end(&args, slice);
}

int chrome_requests_draw(struct chrome_requests *requests, const struct event *event,
			 const struct resolved_row *row)
{
	const struct job_trace *trace = &requests->threads->job->traces[event->block->trace];
	struct chrome_slice slice = { .name = chrome_text(row->name),
				      .category = chrome_text("block") };
	struct chrome_device *device;
	struct chrome_arrow *arrow;
	uint32_t lane;
	size_t number;
	int status;

	if (!chrome_slice_cut(&slice, requests->window, event->start, event->end) ||
	    event->end - event->start < requests->min_duration_ns)
		return 0;
	status = find_device(requests, trace->host, row->values[REQUEST_DEV], &number);
	if (status || number >= requests->count)
		return status;
	device = &requests->devices[number];
	if (!device->used)
		write_names(requests, number, trace->header->host);
	lane = find_lane(device, slice.start_ns);
	slice.place.pid = CHROME_DEVICE_PID + number * CHROME_DEVICE_STEP;
	if (lane == CHROME_LANES_MAX) { /* drawn as an async slice */
		slice.async = id_of(event, row->values[REQUEST_ID]);
		slice.place.tid = slice.place.pid;
		write_request(requests->threads->out, &slice, row);
		return 0;
	}
	slice.place.tid = slice.place.pid + 1 + lane;
	device->ends[lane] = slice.end_ns;
	if (lane == device->lanes) {
		name_lane(requests, slice.place, lane);
		device->lanes++;
	}
	write_request(requests->threads->out, &slice, row);
	arrow = arrow_of(requests, id_of(event, row->values[REQUEST_ID]));
	if (arrow->to)
		return 0; /* a part of a request that ended earlier */
	arrow->to = true;
	arrow->place = slice.place;
	arrow->end_ns = slice.end_ns;
	if (arrow->from) {
		uint64_t from_ns = arrow->time_ns;

		arrow->time_ns = slice.start_ns;
		end_arrow(requests, arrow, from_ns);
	} else {
		arrow->time_ns = slice.start_ns;
	}
	return 0;
}
