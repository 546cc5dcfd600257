/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Says which records change a state. */
#include "capture/flight/flight_records.h"

#include <stdlib.h>
#include <string.h>

#include "collections/grow.h"

static size_t record_bytes(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

void flight_records_add(void *context, unsigned int ring, const void *record, size_t size)
{
	struct flight_records *records = context;

	if (!GROW(records->memory, records->room, records->bytes + record_bytes(size))) {
		records->incomplete = true;
		return;
	}
	memcpy(records->memory + records->bytes, record, size);
	records->bytes += record_bytes(size);
}

void flight_records_fit(struct flight_records *records)
{
	char *memory = records->bytes ? realloc(records->memory, records->bytes) : NULL;

	if (!memory)
		return;
	records->memory = memory;
	records->room = records->bytes;
}

void flight_records_walk(const struct flight_records *records, ring_record_fn take, void *context)
{
	for (size_t at = 0; at < records->bytes;) {
		const struct event_header *record = (const void *)(records->memory + at);

		take(context, 0, record, record->size);
		at += record_bytes(record->size);
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
