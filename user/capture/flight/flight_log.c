/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A ring of records. Each is contiguous: one that does not fit before the end goes to the
 * beginning.
 */
#include "capture/flight/flight_log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"

struct log_entry {
	uint32_t bytes; /* to the next entry */
	uint32_t lane;	/* SKIP: no record */
};

#define SKIP UINT32_MAX

static size_t entry_bytes(size_t size)
{
	return (sizeof(struct log_entry) + size + 7) & ~(size_t)7;
}

struct flight_log {
	char *memory;
	size_t bytes;
	uint64_t head, tail; /* ever-increasing positions: of the next entry, of the oldest */
	uint64_t from_ns;
	flight_log_fn falls;
	void *context;
};

int flight_log_open(struct flight_log **out, size_t bytes, flight_log_fn falls, void *context)
{
	struct flight_log *log = calloc(1, sizeof(*log));
	void *map;

	if (!log)
		return -ENOMEM;
	bytes &= ~(size_t)4095;
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0);
	if (map == MAP_FAILED) {
		free(log);
		return -ENOMEM;
	}
	log->memory = map;
	log->bytes = bytes;
	log->falls = falls;
	log->context = context;
	*out = log;
	return 0;
}

void flight_log_close(struct flight_log *log)
{
	if (!log)
		return;
	munmap(log->memory, log->bytes);
	free(log);
}

uint64_t flight_record_end_ns(const struct event_header *record)
{
	switch (record->kind) {
	case RECORD_SYSCALL:
	case RECORD_SYSCALL_PATH:
	case RECORD_ASYNC:
		return record->time_ns + ((const struct event_syscall *)record)->duration_ns;
	case RECORD_VFS:
		return record->time_ns + ((const struct event_vfs *)record)->duration_ns;
	case RECORD_REQUEST:
		return record->time_ns + ((const struct event_request *)record)->duration_ns;
	case RECORD_BIO:
		return record->time_ns + ((const struct event_bio *)record)->duration_ns;
	default:
		return record->time_ns;
	}
}

bool flight_record_is_identity(const struct event_header *record)
{
	return record->kind == RECORD_FORK || record->kind == RECORD_EXEC ||
	       record->kind == RECORD_EXIT;
}

bool flight_record_is_event(const struct event_header *record)
{
	return record->kind != RECORD_NONE && record->kind != RECORD_DEVICE &&
	       !flight_record_is_identity(record);
}

/* Reads the entry at a position. Returns its record, or NULL for a SKIP entry. */
static const struct event_header *record_at(const struct flight_log *log, uint64_t position,
					    struct log_entry *entry)
{
	const char *at = log->memory + position % log->bytes;

	memcpy(entry, at, sizeof(*entry));
	return entry->lane == SKIP ? NULL : (const struct event_header *)(at + sizeof(*entry));
}

static void fall(struct flight_log *log)
{
	struct log_entry entry;
	const struct event_header *record = record_at(log, log->tail, &entry);

	if (record) {
		uint64_t end_ns = flight_record_end_ns(record);

		if (end_ns > log->from_ns)
			log->from_ns = end_ns;
		log->falls(log->context, entry.lane, record);
	}
	log->tail += entry.bytes;
}

static void put(struct flight_log *log, uint32_t bytes, uint32_t lane)
{
	const struct log_entry entry = { bytes, lane };

	memcpy(log->memory + log->head % log->bytes, &entry, sizeof(entry));
	log->head += bytes;
}

int flight_log_add(struct flight_log *log, unsigned int lane, const void *record, size_t size)
{
	size_t bytes = entry_bytes(size);
	size_t left = log->bytes - log->head % log->bytes;

	if (size < sizeof(struct event_header) || bytes > log->bytes / 4)
		return -E2BIG;
	while (log->head - log->tail + bytes + (left < bytes ? left : 0) > log->bytes)
		fall(log);
	if (left < bytes)
		put(log, left, SKIP);
	memcpy(log->memory + log->head % log->bytes + sizeof(struct log_entry), record, size);
	put(log, bytes, lane);
	return 0;
}

void flight_log_trim(struct flight_log *log, uint64_t before_ns)
{
	while (log->tail < log->head) {
		struct log_entry entry;
		const struct event_header *record = record_at(log, log->tail, &entry);

		if (record && flight_record_end_ns(record) >= before_ns)
			return;
		fall(log);
	}
}

void flight_log_walk(const struct flight_log *log, flight_log_fn take, void *context)
{
	struct log_entry entry;

	for (uint64_t at = log->tail; at < log->head; at += entry.bytes) {
		const struct event_header *record = record_at(log, at, &entry);

		if (record)
			take(context, entry.lane, record);
	}
}

uint64_t flight_log_from_ns(const struct flight_log *log)
{
	return log->from_ns;
}

int flight_log_copy(const struct flight_log *log, struct flight_records *copy)
{
	size_t from = log->tail % log->bytes, first = log->bytes - from;
	size_t bytes = log->head - log->tail;

	memset(copy, 0, sizeof(*copy));
	copy->memory = malloc(bytes + 1);
	if (!copy->memory)
		return -ENOMEM;
	copy->bytes = copy->room = bytes;
	if (first > bytes)
		first = bytes;
	memcpy(copy->memory, log->memory + from, first);
	memcpy(copy->memory + first, log->memory, bytes - first);
	return 0;
}

void flight_records_add(void *context, unsigned int lane, const void *record, size_t size)
{
	size_t bytes = entry_bytes(size);
	struct flight_records *records = context;
	const struct log_entry entry = { bytes, lane };

	if (!GROW(records->memory, records->room, records->bytes + bytes)) {
		records->incomplete = true;
		return;
	}
	memcpy(records->memory + records->bytes, &entry, sizeof(entry));
	memcpy(records->memory + records->bytes + sizeof(entry), record, size);
	records->bytes += bytes;
}

void flight_records_walk(const struct flight_records *records, flight_log_fn take, void *context)
{
	const char *at = records->memory, *end = at + records->bytes;

	while (at < end) {
		struct log_entry entry;

		memcpy(&entry, at, sizeof(entry));
		if (entry.lane != SKIP)
			take(context, entry.lane,
			     (const struct event_header *)(at + sizeof(entry)));
		at += entry.bytes;
	}
}
