/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A plain list of devices: there are few. */
#include "analysis/events/device_list.h"

static uint32_t host_of(const struct device_list *list, const struct event *event)
{
	return list->job->traces[event->block->trace].host;
}

static size_t find(const struct device_list *list, uint32_t host, uint64_t device)
{
	size_t i = 0;

	while (i < list->count &&
	       (list->devices[i].device != device || list->devices[i].host != host))
		i++;
	return i;
}

size_t device_list_add(struct device_list *list, const struct event *event)
{
	uint64_t device = event_device(event);
	uint32_t host = host_of(list, event);
	size_t number = find(list, host, device);

	if (number == list->count && number < DEVICES_MAX)
		list->devices[list->count++] = (struct listed_device) {
			.host = host, .dev = device_number(device), .device = device
		};
	return number;
}

void device_list_name(struct device_list *list, const struct event *event)
{
	size_t number = find(list, host_of(list, event), event_device(event));

	if (number < list->count)
		list->devices[number].name =
			trace_reader_string(list->job->traces[event->block->trace].reader,
					    event_value(event, DEVICE_NAME));
}

const char *device_list_lacks(const struct device_list *list)
{
	return list->count && !(list->job->filtered & JOB_BLOCK) ? NULL
								 : job_lacks_requests(list->job);
}

const char *device_list_host(const struct device_list *list, const struct listed_device *device)
{
	return list->job->traces[device->host].header->host;
}

void device_list_each(struct device_list *list, const struct event *events, size_t count,
		      void (*request)(void *state, const struct event *event), void *state)
{
	for (const struct event *event = events; event < events + count; event++) {
		if (device_list_ignores(event))
			continue;
		if (event->flags & EVENT_REQUEST)
			request(state, event);
		else if (event->flags & EVENT_DEVICE)
			device_list_name(list, event);
	}
}
