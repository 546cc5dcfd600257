/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the numbers of files stand for: kept as long as the kernel side, or a record that is kept,
 * may use them.
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

/* Numbers of files. All zeroes is none. */
struct flight_ids {
	uint64_t *bits;
	size_t words;
};

void flight_ids_free(struct flight_ids *ids);
int flight_ids_add(struct flight_ids *ids, uint32_t id);
/* Those that records use. Returns 0 or -ENOMEM. */
int flight_ids_of_slots(struct flight_ids *ids, const struct flight_slots *slots);
int flight_ids_of_records(struct flight_ids *ids, const struct flight_records *records);

/* All zeroes is empty. */
struct flight_names {
	struct flight_table files; /* of struct known_name */
	size_t sweep_at;	   /* so many of them are to be looked through */
	uint32_t sweep;
};

void flight_names_free(struct flight_names *names);
/* Takes a file's record; -ENOMEM. */
int flight_names_add(struct flight_names *names, const struct event_file *file);
/* Whether there are so many that those which nobody uses should go. */
bool flight_names_crowded(const struct flight_names *names);
/* Drops what is not in `used`, nor was at the sweep before: what is being done meanwhile uses it,
 * maybe. */
void flight_names_sweep(struct flight_names *names, const struct flight_ids *used);
/* Hands on the records of these; how many had none. */
size_t flight_names_tell(const struct flight_names *names, const struct flight_ids *ids,
			 struct flight_records *records);

#endif
