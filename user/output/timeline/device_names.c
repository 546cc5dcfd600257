/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds device names by one walk over the device rows. */
#include "output/timeline/device_names.h"

#include <stdio.h>

#include "analysis/events/event.h"
#include "analysis/order/walk.h"
#include "base/units.h"
#include "base/utf8.h"

#define NAME_SHOWN 64 /* bytes */

struct naming {
	struct device_names *names;
	const struct job *job;
};

static const struct device_name *find(const struct device_names *names, uint32_t host,
				      uint64_t device)
{
	for (size_t i = 0; i < names->count; i++)
		if (names->all[i].device == device && names->all[i].host == host)
			return &names->all[i];
	return NULL;
}

static int name_devices(void *state, const struct event *events, size_t count)
{
	const struct naming *naming = state;
	struct device_names *names = naming->names;

	for (size_t i = 0; i < count; i++) {
		const struct job_trace *trace = &naming->job->traces[events[i].block->trace];
		uint64_t device = event_device(&events[i]);
		const struct device_name *known = find(names, trace->host, device);
		size_t at = known ? (size_t)(known - names->all) : names->count;

		if (at == DEVICE_NAMES_MAX)
			continue;
		names->all[at] = (struct device_name) {
			.host = trace->host,
			.device = device,
			.name = trace_reader_string(trace->reader,
						    event_value(&events[i], DEVICE_NAME)),
		};
		names->count += !known;
	}
	return 0;
}

int device_names_load(struct device_names *names, struct job *job, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = name_devices };
	struct naming naming = { names, job };
	const struct walk_consumer consumer = { &calls, &naming };
	const struct walk walk = {
		.cursor = { .kinds = 1ull << TRACE_DEVICE, .whole_rows = true },
		.consumers = &consumer,
		.consumer_count = 1,
	};

	names->count = 0;
	return walk_run(job, &walk, error);
}

void device_names_title(const struct device_names *names, uint32_t host, uint64_t device,
			char title[DEVICE_TITLE_BYTES])
{
	const struct device_name *known = find(names, host, device);
	char number[UNITS_TEXT];

	units_device(number, device_number(device));
	if (known && known->name.length)
		snprintf(title, DEVICE_TITLE_BYTES, "device %.*s (%s)",
			 (int)utf8_cut(known->name.bytes, known->name.length, NAME_SHOWN),
			 known->name.bytes, number);
	else
		snprintf(title, DEVICE_TITLE_BYTES, "device %s", number);
}
