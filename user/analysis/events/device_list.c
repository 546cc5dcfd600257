/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/events/device_list.h"

#include <stdio.h>

#include "base/units.h"

static uint32_t host_of(const struct device_list *list, const struct event *event)
{
	return list->job->traces[event->block->trace].host;
}

void device_list_init(struct device_list *list, const struct job *job, struct arena *arena)
{
	*list = (struct device_list) { .job = job, .arena = arena };
	map_init_in(&list->numbers, arena, 2, 1);
}

size_t device_list_find(const struct device_list *list, uint32_t host, uint64_t device)
{
	const uint64_t key[] = { host, device };
	const uint64_t *number = map_find(&list->numbers, key);

	return number ? *number : DEVICE_UNLISTED;
}

static size_t add(struct device_list *list, const struct event *event)
{
	const uint64_t key[] = { host_of(list, event), event_device(event) };
	uint64_t *number;
	bool added;

	if (!ARENA_GROW(list->arena, list->devices, list->room, list->count + 1))
		return DEVICE_UNLISTED;
	number = map_add(&list->numbers, key, &added);
	if (!number)
		return DEVICE_UNLISTED;
	*number = list->count;
	list->devices[list->count] = (struct listed_device) { .host = key[0],
							      .dev = device_number(key[1]),
							      .device = key[1] };
	return list->count++;
}

size_t device_list_add(struct device_list *list, const struct event *event)
{
	size_t number = device_list_find(list, host_of(list, event), event_device(event));

	if (number != DEVICE_UNLISTED)
		return number;
	if (list->count < LISTED_DEVICES_MAX)
		return add(list, event);
	list->unlisted++;
	return DEVICE_UNLISTED;
}

void device_list_name(struct device_list *list, const struct event *event)
{
	size_t number = device_list_find(list, host_of(list, event), event_device(event));

	if (number != DEVICE_UNLISTED)
		list->devices[number].name =
			trace_reader_string(list->job->traces[event->block->trace].reader,
					    event_value(event, DEVICE_NAME));
}

void device_list_note(const struct device_list *list, struct table *table)
{
	char note[128], count[UNITS_TEXT], max[UNITS_TEXT];

	if (!list->unlisted)
		return;
	snprintf(note, sizeof(note), "%s events of devices beyond the first %s are omitted",
		 units_count(count, list->unlisted), units_count(max, LISTED_DEVICES_MAX));
	table_append_note(table, note);
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
