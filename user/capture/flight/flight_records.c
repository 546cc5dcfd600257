/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "capture/flight/flight_records.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct entry {
	uint32_t bytes; /* to the next entry */
	uint32_t lane;
};

void flight_records_add(void *context, unsigned int lane, const void *record, size_t size)
{
	size_t bytes = (sizeof(struct entry) + size + 7) & ~(size_t)7;
	struct flight_records *records = context;
	const struct entry entry = { bytes, lane };

	if (!GROW(records->memory, records->room, records->bytes + bytes)) {
		records->incomplete = true;
		return;
	}
	memcpy(records->memory + records->bytes, &entry, sizeof(entry));
	memcpy(records->memory + records->bytes + sizeof(entry), record, size);
	records->bytes += bytes;
}

void flight_records_walk(const struct flight_records *records, flight_record_fn take, void *context)
{
	const char *at = records->memory, *end = at + records->bytes;

	while (at < end) {
		struct entry entry;

		memcpy(&entry, at, sizeof(entry));
		take(context, entry.lane, (const struct event_header *)(at + sizeof(entry)));
		at += entry.bytes;
	}
}

bool flight_record_has_state(const struct event_header *record)
{
	return flight_record_is_identity(record) || flight_record_is_event(record) ||
	       record->kind == RECORD_DEVICE;
}

bool flight_record_is_identity(const struct event_header *record)
{
	return record->kind == RECORD_FORK || record->kind == RECORD_EXEC ||
	       record->kind == RECORD_EXIT;
}

bool flight_record_is_event(const struct event_header *record)
{
	return record->kind == RECORD_SPAN_BEGIN || record->kind == RECORD_SPAN_END;
}
