/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The most recent ring records, in bounded memory: the oldest are evicted.
 */
#ifndef FAULTLINE_FLIGHT_LOG_H
#define FAULTLINE_FLIGHT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"

struct flight_log;

/* Receives a record, valid only during the call. */
typedef void (*flight_log_fn)(void *context, unsigned int lane, const struct event_header *record);

/* `falls` receives each evicted record, oldest first. Memory is used on demand. Returns 0 or
 * -ENOMEM. */
int flight_log_open(struct flight_log **log, size_t bytes, flight_log_fn falls, void *context);
void flight_log_close(struct flight_log *log); /* NULL is fine */

/* Adds a record, whose header must hold its size. Returns -E2BIG if it is shorter than a header or
 * longer than a quarter of the log. */
int flight_log_add(struct flight_log *log, unsigned int lane, const void *record, size_t size);

/* Evicts records, oldest first, until one ended at `before_ns` or later. */
void flight_log_trim(struct flight_log *log, uint64_t before_ns);

/* Returns a time: all records that ended later are still there. 0: nothing was evicted. */
uint64_t flight_log_from_ns(const struct flight_log *log);

/* Passes all records to `take`, oldest first. */
void flight_log_walk(const struct flight_log *log, flight_log_fn take, void *context);

/* Records, back to back; zero-initialized is empty. The caller frees `memory`. */
struct flight_records {
	char *memory;
	size_t bytes, room;
	bool incomplete; /* out of memory: some are missing */
};

/* Copies all records. Returns 0 or -ENOMEM. */
int flight_log_copy(const struct flight_log *log, struct flight_records *copy);
/* Adds a record. A ring_record_fn; the context is the records. */
void flight_records_add(void *records, unsigned int lane, const void *record, size_t size);
void flight_records_walk(const struct flight_records *records, flight_log_fn take, void *context);

/* Returns when the operation or event in a record ended. */
uint64_t flight_record_end_ns(const struct event_header *record);
/* Whether a record is a fork, exec or exit; after eviction, flight_past keeps its effect. */
bool flight_record_is_identity(const struct event_header *record);
/* Whether a record is an event, which is gone once evicted. */
bool flight_record_is_event(const struct event_header *record);

#endif
