/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * File names by id, in bounded memory. The kernel side sends a name once, long before some of the
 * events that refer to it, so names cannot be evicted by age like events. Instead, each has the
 * number of the last segment that refers to it, and a sweep drops those without a use. Names in use
 * are dropped only when they exceed the limit; these drops are counted.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/flight/flight_records.h"
#include "capture/flight/flight_table.h"

/* Memory limit for names, tables included. A sweep leaves at most half of it in use. */
#define FLIGHT_NAMES_BYTES (32u << 20)

struct flight_names {
	pthread_mutex_t lock;	   /* segments report their files from threads of their own */
	struct flight_table files; /* of struct known_name */
	size_t bytes;
	uint64_t arrivals; /* names added so far */
	uint64_t swept;	   /* arrivals at the end of the last sweep */
	uint64_t sweeps;
	uint64_t dropped; /* names in use that did not fit */
	uint64_t unnamed; /* references without a name */
};

void flight_names_init(struct flight_names *names);
void flight_names_free(struct flight_names *names);
/* Adds a file record. Returns 0 or -ENOMEM. */
int flight_names_add(struct flight_names *names, const struct event_file *file);
/* Whether names use enough memory for a sweep to be due. Only for the thread that adds them. */
bool flight_names_full(const struct flight_names *names);
/* Return the number of names, and of references that lack one because names were dropped. */
size_t flight_names_count(struct flight_names *names);
uint64_t flight_names_missing(struct flight_names *names);

/* A segment refers to these files; later ones may already do so. */
void flight_names_use(struct flight_names *names, const uint64_t *ids, size_t count,
		      uint64_t segment);
/* The kernel side has the file: events may follow. Holds until the next sweep. */
void flight_names_live(void *names, uint32_t id);

/* Drops names that no segment from `oldest` on refers to and that are not live, except those added
 * since the last sweep, whose events may still arrive. If more than half of FLIGHT_NAMES_BYTES is
 * still in use, drops more, least used and oldest first. Returns 0, or -ENOMEM with nothing
 * dropped. */
int flight_names_sweep(struct flight_names *names, uint64_t oldest);
/* Appends the records of names that segments from `oldest` on refer to. */
void flight_names_emit(struct flight_names *names, uint64_t oldest, struct flight_records *records);
