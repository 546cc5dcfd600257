/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The last records of those that come through rings, in bounded memory: the oldest fall out. Knows
 * of their headers, nothing of what stands in them.
 */
#ifndef FAULTLINE_FLIGHT_LOG_H
#define FAULTLINE_FLIGHT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"

struct flight_log;

/* Gets a record; valid until it returns. */
typedef void (*flight_log_fn)(void *context, unsigned int lane, const struct event_header *record);

/* `falls` gets each record that falls out, oldest first. Memory is taken as it is used. Returns 0
 * or -ENOMEM. */
int flight_log_open(struct flight_log **log, size_t bytes, flight_log_fn falls, void *context);
void flight_log_close(struct flight_log *log); /* NULL is fine */

/* Adds a record, whose header tells its size; -E2BIG for one that is no record, or longer than a
 * quarter of the log. */
int flight_log_add(struct flight_log *log, unsigned int lane, const void *record, size_t size);

/* Lets records fall out, oldest first, as long as they ended before that. */
void flight_log_trim(struct flight_log *log, uint64_t before_ns);

/* Everything that ended after that is there; 0: everything that ever came. */
uint64_t flight_log_from_ns(const struct flight_log *log);

/* Gives all there is, oldest first. */
void flight_log_walk(const struct flight_log *log, flight_log_fn take, void *context);

/* Records, one behind the other; all zeroes is none. `memory` is to be freed. */
struct flight_records {
	char *memory;
	size_t bytes, room;
	bool incomplete; /* there was no memory for some */
};

/* A copy of all there is. Returns 0 or -ENOMEM. */
int flight_log_copy(const struct flight_log *log, struct flight_records *copy);
/* Adds a record; a ring_record_fn whose context is the records. */
void flight_records_add(void *records, unsigned int lane, const void *record, size_t size);
void flight_records_walk(const struct flight_records *records, flight_log_fn take, void *context);

/* When what a record tells was over. */
uint64_t flight_record_end_ns(const struct event_header *record);
/* Whether a record tells of processes: those that fall out make the past. */
bool flight_record_is_identity(const struct event_header *record);
/* Whether it is something that happened, and that is gone once it falls out. */
bool flight_record_is_event(const struct event_header *record);

#endif
