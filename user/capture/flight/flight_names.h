/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * File names by id, in bounded memory. The kernel side sends a name once, long before some of the
 * records that refer to it, so names cannot be evicted by age like records. Instead, from time to
 * time every reference to a file marks its name, and a sweep drops unmarked names. Marked names are
 * dropped only when they exceed the limit; these drops are counted.
 */
#ifndef FAULTLINE_FLIGHT_NAMES_H
#define FAULTLINE_FLIGHT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/flight/flight_log.h"
#include "capture/drain/flight_memory.h"
#include "capture/flight/flight_table.h"

/* Memory limit for names, tables included. A sweep leaves at most half of it in use. */
#define FLIGHT_NAMES_BYTES (32u << 20)

/* What refers to a file. Names with higher values are kept longer. */
enum flight_name_use {
	FLIGHT_NAME_UNUSED,
	FLIGHT_NAME_RECORDED, /* a record */
	FLIGHT_NAME_LIVE,     /* the kernel side: records may follow */
};

/* Zero-initialized is empty. */
struct flight_names {
	struct flight_table files; /* of struct known_name */
	size_t bytes;
	uint64_t arrivals;   /* names added so far */
	uint64_t swept;	     /* arrivals at the end of the last sweep */
	uint64_t dropped;    /* names in use that did not fit */
	uint64_t unresolved; /* marks without a name since flight_names_unmark */
	uint32_t round;	     /* current round of marks */
};

void flight_names_free(struct flight_names *names);
/* Adds a file record. Returns 0 or -ENOMEM. */
int flight_names_add(struct flight_names *names, const struct event_file *file);
/* Whether names use enough memory for a sweep to be due. */
bool flight_names_crowded(const struct flight_names *names);

/* --- marks --- */

/* Clears all marks. */
void flight_names_unmark(struct flight_names *names);
void flight_names_mark(struct flight_names *names, uint32_t id, enum flight_name_use use);
/* Marks the names of a record's files. A flight_log_fn; the context is the names. */
void flight_names_mark_record(void *names, unsigned int lane, const struct event_header *record);
void flight_names_mark_slots(struct flight_names *names, const struct flight_slots *slots);

/* Drops unmarked names, except those added since the last sweep, whose records may still arrive. If
 * more than half of FLIGHT_NAMES_BYTES is still in use, drops more, least used and oldest first.
 * Returns 0, or -ENOMEM with nothing dropped. */
int flight_names_sweep(struct flight_names *names);
/* Appends the records of marked names to `records`. */
void flight_names_emit(const struct flight_names *names, struct flight_records *records);

#endif
