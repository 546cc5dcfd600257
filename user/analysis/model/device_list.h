/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The devices that events tell of, each once, in the order in which they were told of. Knows
 * nothing of what they did.
 */
#ifndef FAULTLINE_DEVICE_LIST_H
#define FAULTLINE_DEVICE_LIST_H

#include "analysis/model/event.h"

#define DEVICES_MOST 256

struct device_list {
	const struct job *job;
	struct listed_device {
		uint32_t host, dev;
		struct trace_string name; /* as /sys/block has it; empty: not told */
	} devices[DEVICES_MOST];
	size_t count;
};

/* The number of the device that a column of an event tells, added when it is new; DEVICES_MOST when
 * there are too many. */
size_t device_list_add(struct device_list *list, const struct event *event, unsigned int column);
/* The name of the host that a device is of. */
const char *device_list_host(const struct device_list *list, const struct listed_device *device);
/* Takes the name that an EVENT_DEVICE tells of a device, if that is there. */
void device_list_name(struct device_list *list, const struct event *event);

#endif
