/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The devices that events refer to, each once, in order of first appearance. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/table/table.h"
#include "collections/map.h"
#include "base/number.h"

/* A hostile trace could name a device in each row. */
#define LISTED_DEVICES_MAX 4096
#define DEVICE_UNLISTED SIZE_MAX

struct device_list {
	const struct job *job;
	struct arena *arena;
	struct listed_device {
		uint32_t host, dev;
		uint64_t device; /* see event_device */
		struct trace_string
			name; /* as in /sys/block, or SOURCE (TYPE); empty: not recorded */
	} * devices;
	size_t count, room;
	struct map numbers; /* host, device -> number */
	uint64_t unlisted;  /* events of devices beyond LISTED_DEVICES_MAX */
};

/* True for the st_dev of a mount without a block device. */
static inline bool device_is_mount(uint32_t dev)
{
	return !(dev >> 20);
}

/* True for a request to the server of a mount with a block device (fuseblk), whose number is that
 * device's: the requests of the server count there. Also for one to no mount in particular. */
static inline bool device_list_ignores(const struct event *event)
{
	return event_is_remote(event) && (!event_value(event, REMOTE_DEV) ||
					  !device_is_mount(event_value(event, REMOTE_DEV)));
}

/* Returns whether the later of two traces of one host began after the earlier one had ended,
 * so that their totals of a device add up. */
static inline bool device_list_is_later(const struct job *job, uint32_t earlier, uint32_t later)
{
	return job->traces[later].start_ns >= job->traces[earlier].end_ns;
}

/* Returns a total of a device over the traces of a host: `now` in this trace, `before` in those
 * that had ended when it began. Traces that overlap count partly the same requests: it is at least
 * `min`, the total over all the others. */
static inline uint64_t device_list_total(uint64_t before, uint64_t now, uint64_t min)
{
	uint64_t sum = number_add(before, now);

	return sum > min ? sum : min;
}

void device_list_init(struct device_list *list, const struct job *job, struct arena *arena);
/* Returns the number of a device in the list, or DEVICE_UNLISTED. */
size_t device_list_find(const struct device_list *list, uint32_t host, uint64_t device);
/* Returns the number of an event's device in the list, adding it if new; DEVICE_UNLISTED if the
 * list is full, or without memory, an error that stays in the arena. */
size_t device_list_add(struct device_list *list, const struct event *event);
/* Says in a table which events are missing, because the list is full. */
void device_list_note(const struct device_list *list, struct table *table);
/* Returns why a table of the devices is absent: requests to block devices are unknown, and there is
 * no mount. NULL: it is not. */
const char *device_list_lacks(const struct device_list *list);
/* Returns the host name of a device. */
const char *device_list_host(const struct device_list *list, const struct listed_device *device);
/* Stores the device name in an EVENT_DEVICE, if that device is listed. */
void device_list_name(struct device_list *list, const struct event *event);
/* Calls a function for each request that is not ignored, and stores names. */
void device_list_each(struct device_list *list, const struct event *events, size_t count,
		      void (*request)(void *state, const struct event *event), void *state);
