/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The devices that events refer to, each once, in order of first appearance.
 */
#ifndef FAULTLINE_DEVICE_LIST_H
#define FAULTLINE_DEVICE_LIST_H

#include "analysis/events/event.h"

#define DEVICES_MAX 256

struct device_list {
	const struct job *job;
	struct listed_device {
		uint32_t host, dev;
		struct trace_string name; /* as in /sys/block; empty: not recorded */
	} devices[DEVICES_MAX];
	size_t count;
};

/* Returns the number of the device in a column of an event, adding it if new; DEVICES_MAX when the
 * list is full. */
size_t device_list_add(struct device_list *list, const struct event *event, unsigned int column);
/* Returns the host name of a device. */
const char *device_list_host(const struct device_list *list, const struct listed_device *device);
/* Stores the device name in an EVENT_DEVICE, if that device is listed. */
void device_list_name(struct device_list *list, const struct event *event);

#endif
