/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* I/O of devices, by name. A name may have had several devices, which are counted together. */
#include "monitor/ledger/ledger_state.h"

#include <stdlib.h>
#include <string.h>

/* Returns the source with that number. Adds one if it is new; NULL if there is no memory. */
static struct device_source *source_of(struct ledger *ledger, uint32_t dev)
{
	struct device_source *sources = ledger->sources;

	for (unsigned int i = 0; i < ledger->source_count; i++)
		if (sources[i].dev == dev)
			return &sources[i];
	if (ledger->source_count == LEDGER_DEVICES_MAX)
		return NULL;
	sources = realloc(sources, (ledger->source_count + 1) * sizeof(*sources));
	if (!sources)
		return NULL;
	ledger->sources = sources;
	sources[ledger->source_count] = (struct device_source) { .dev = dev, .row = NO_ROW };
	return &sources[ledger->source_count++];
}

static bool is_used(const struct ledger *ledger, unsigned int row)
{
	for (unsigned int i = 0; i < ledger->source_count; i++)
		if (ledger->sources[i].row == row)
			return true;
	return false;
}

/* Returns the row of a device that is gone, or NO_ROW. */
static unsigned int find_unused(const struct ledger *ledger)
{
	for (unsigned int row = 0; row < ledger->node.device_count; row++)
		if (!is_used(ledger, row))
			return row;
	return NO_ROW;
}

/* Returns the row of a name. If there is no room for a new one, a device that is gone makes room;
 * otherwise returns NO_ROW. */
static unsigned int row_of(struct ledger *ledger, const struct ledger_device *device)
{
	struct ledger_node *node = &ledger->node;
	struct ledger_device *devices;
	bool has_calls = false;
	unsigned int row;

	for (row = 0; row < node->device_count; row++)
		if (!strcmp(node->devices[row].name, device->name))
			return row;
	if (row == LEDGER_DEVICES_MAX ||
	    !ledger_take_series(ledger, NULL, ledger->options.costs.device, false)) {
		row = find_unused(ledger);
		has_calls = row != NO_ROW && node->devices[row].has_calls;
	} else {
		devices = realloc(node->devices, (row + 1) * sizeof(*devices));
		if (!devices)
			return NO_ROW;
		node->devices = devices;
		node->device_count++;
	}
	if (row == NO_ROW)
		return row;
	node->devices[row] = (struct ledger_device) { .dev = device->dev, .has_calls = has_calls };
	memcpy(node->devices[row].name, device->name, sizeof(device->name));
	return row;
}

/* Adds a mount's calls since `last`. They take series with the first one. */
static void add_calls(struct ledger *ledger, struct ledger_device *row, struct ledger_calls *last,
		      const struct ledger_calls *calls)
{
	for (unsigned int i = 0; i < LEDGER_DEVICE_USES; i++) {
		if (calls[i].count != last[i].count && !row->has_calls)
			row->has_calls = ledger_take_series(ledger, NULL,
							    ledger->options.costs.calls, false);
		row->calls[i].count += sums_grown(last[i].count, calls[i].count);
		row->calls[i].retransmits += sums_grown(last[i].retransmits, calls[i].retransmits);
		row->calls[i].round_trip_ns +=
			sums_grown(last[i].round_trip_ns, calls[i].round_trip_ns);
		last[i] = calls[i];
	}
}

void ledger_set_device(struct ledger *ledger, const struct ledger_device *device, uint32_t instance)
{
	struct device_source *source = source_of(ledger, device->dev);
	struct ledger_device *row;

	if (!source)
		return;
	if (source->row == NO_ROW || source->instance != instance) {
		if (source->row != NO_ROW && (int32_t)(instance - source->instance) < 0)
			return; /* it is gone */
		*source = (struct device_source) { .dev = device->dev,
						   .instance = instance,
						   .row = NO_ROW };
		source->row = row_of(ledger, device);
	}
	if (source->row == NO_ROW)
		return;
	row = &ledger->node.devices[source->row];
	row->dev = device->dev;
	for (unsigned int i = 0; i < LEDGER_DEVICE_USES; i++) {
		struct ledger_counts added = sums_since(&source->last[i], &device->of[i]);

		sums_add(&row->of[i], &added);
		source->last[i] = device->of[i];
	}
	add_calls(ledger, row, source->last_calls, device->calls);
}
