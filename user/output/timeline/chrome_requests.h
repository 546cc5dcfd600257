/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Block requests on a timeline: a track per device, with as many rows as the device had concurrent
 * requests, and an arrow to each request from the call or fault that queued its first bio. Private
 * to the Trace Event Format export.
 */
#ifndef FAULTLINE_CHROME_REQUESTS_H
#define FAULTLINE_CHROME_REQUESTS_H

#include "analysis/events/resolve.h"
#include "output/timeline/chrome_spans.h"
#include "output/base/device_names.h"

#define CHROME_DEVICES_MAX 256
#define CHROME_LANES_MAX 512 /* per device; further requests are drawn as async slices */
/* Device ids that no process has: above all pids, below CHROME_PID_STEP. */
#define CHROME_DEVICE_PID 5000000
#define CHROME_DEVICE_STEP 1000
#define CHROME_ARROWS 8192 /* slots for arrows with one end, by id */

struct chrome_device {
	uint32_t host, dev;
	bool used;			 /* named */
	uint64_t ends[CHROME_LANES_MAX]; /* of each lane's last request, since the window's base */
	uint32_t lanes;
};

struct chrome_arrow {
	uint64_t id; /* 0: free */
	bool from, to;
	struct chrome_place place; /* the request's, if it came first */
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

/* Returns 0 or -ENOMEM. Must be freed even after an error. */
int chrome_requests_init(struct chrome_requests *requests, struct chrome_threads *threads,
			 const struct chrome_window *window, const struct device_names *names,
			 uint64_t min_duration_ns);
void chrome_requests_free(struct chrome_requests *requests);

/* Draws a row of TRACE_REQUEST. Returns 0 or -ENOMEM. */
int chrome_requests_draw(struct chrome_requests *requests, const struct event *event,
			 const struct resolved_row *row);
/* Starts an arrow at a row of TRACE_BIO, queued by the thread. */
void chrome_requests_lead(struct chrome_requests *requests, const struct event *event,
			  uint32_t thread);

#endif
