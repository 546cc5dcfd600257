/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Names of files by id, in bounded memory. The kernel side sends a name once, long before some of
 * the records that refer to it, so names cannot age like records: now and then everything that
 * refers to a file marks its name, and a sweep drops what is not marked. A name that is marked is
 * dropped only when marked names exceed the limit; these drops are counted.
 */
#ifndef FAULTLINE_FLIGHT_NAMES_H
#define FAULTLINE_FLIGHT_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/event.h"
#include "capture/flight_log.h"
#include "capture/flight_memory.h"
#include "capture/flight_table.h"

/* Memory limit for names, tables included. A sweep leaves at most half of it in use. */
#define FLIGHT_NAMES_BYTES (32u << 20)

/* Who refers to a file; the later, the longer its name is kept. */
enum flight_name_use {
	FLIGHT_NAME_UNUSED,
	FLIGHT_NAME_RECORDED, /* a record does */
	FLIGHT_NAME_LIVE,     /* the kernel side does: records may follow */
};

/* All zeroes is empty. */
struct flight_names {
	struct flight_table files; /* of struct known_name */
	size_t bytes;
	uint64_t arrivals;   /* names that ever came */
	uint64_t swept;	     /* of these, when the last sweep ended */
	uint64_t dropped;    /* names in use for which there was no room */
	uint64_t unresolved; /* marks since flight_names_unmark that met no name */
	uint32_t round;	     /* of marks */
};

void flight_names_free(struct flight_names *names);
/* Takes a file's record; -ENOMEM. */
int flight_names_add(struct flight_names *names, const struct event_file *file);
/* Whether names take so much memory that a sweep is due. */
bool flight_names_crowded(const struct flight_names *names);

/* --- marks --- */

/* Takes all marks away. */
void flight_names_unmark(struct flight_names *names);
void flight_names_mark(struct flight_names *names, uint32_t id, enum flight_name_use use);
/* Marks the names of a record's files; a flight_log_fn whose context is the names. */
void flight_names_mark_record(void *names, unsigned int lane, const struct event_header *record);
void flight_names_mark_slots(struct flight_names *names, const struct flight_slots *slots);

/* Drops the names without a mark, but for those that came since the last sweep: their records may
 * still be on the way. Should more than half of FLIGHT_NAMES_BYTES be left, the least used and
 * oldest of them go, too. Returns 0 or -ENOMEM, and then nothing is dropped. */
int flight_names_sweep(struct flight_names *names);
/* Adds the records of marked names. */
void flight_names_tell(const struct flight_names *names, struct flight_records *records);

#endif
