/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Requests to block devices on a timeline: a track for each device, on it as many rows as it had
 * requests under way at once, and an arrow to each request from the call or fault in which the
 * first of its parts was queued. Private to the export to the Trace Event Format.
 */
#ifndef FAULTLINE_CHROME_REQUESTS_H
#define FAULTLINE_CHROME_REQUESTS_H

#include "analysis/model/resolve.h"
#include "output/chrome_spans.h"
#include "output/device_names.h"

#define CHROME_DEVICES_MOST 256
#define CHROME_LANES_MOST 512 /* of a device; further requests share the last */
/* Devices are known by numbers that no process has: above all pids, below CHROME_PID_STEP. */
#define CHROME_DEVICE_PID 5000000
#define CHROME_DEVICE_STEP 1000
#define CHROME_ARROWS                                                                              \
	8192 /* requests whose arrow has one end yet, by the low bits of their ids                 \
	      */

struct chrome_device {
	uint32_t host, dev;
	bool used;			  /* named */
	uint64_t ends[CHROME_LANES_MOST]; /* of what is on each lane, since the window's base */
	uint32_t lanes;
};

struct chrome_arrow {
	uint64_t id; /* 0: free */
	bool from, to;
	struct chrome_place place; /* of the request, if that came first */
	uint64_t time_ns, end_ns;
};

struct chrome_requests {
	struct chrome_threads *threads;
	const struct chrome_window *window;
	const struct device_names *names;
	uint64_t min_duration_ns;
	struct chrome_device *devices;
	size_t count, room;
	struct chrome_arrow *arrows;
};

/* Returns 0 or -ENOMEM; to be freed after an error, too. */
int chrome_requests_init(struct chrome_requests *requests, struct chrome_threads *threads,
			 const struct chrome_window *window, const struct device_names *names,
			 uint64_t min_duration_ns);
void chrome_requests_free(struct chrome_requests *requests);

/* A row of TRACE_REQUEST. Returns 0 or -ENOMEM. */
int chrome_requests_draw(struct chrome_requests *requests, const struct event *event,
			 const struct resolved_row *row);
/* A row of TRACE_BIO, that the thread has queued. */
void chrome_requests_lead(struct chrome_requests *requests, const struct event *event,
			  uint32_t thread);

#endif
