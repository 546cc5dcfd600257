/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What stood when the last records begin: the processes that ran, the spans that were open, the
 * counts of devices. It is made of the records that came before, which are kept no more.
 */
#ifndef FAULTLINE_FLIGHT_PAST_H
#define FAULTLINE_FLIGHT_PAST_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/event.h"
#include "capture/flight_table.h"
#include "capture/ring.h"

/* All zeroes is nothing. */
struct flight_past {
	struct flight_table processes, spans, devices;
	struct flight_table ends; /* of spans that have not begun yet */
	uint64_t refused;	  /* what there was no memory for, or no room */
};

void flight_past_free(struct flight_past *past);

/* Takes a record that is kept no more; a flight_log_fn whose context is the past. */
void flight_past_take(void *past, unsigned int lane, const struct event_header *record);

/*
 * Tells it as records: processes as present from `from_ns` on; spans as begun then; the last counts
 * of devices.
 */
void flight_past_tell(const struct flight_past *past, uint64_t from_ns, ring_record_fn take,
		      void *context);

/* Whether a process's cgroup is to be looked up: nobody has since so many moves between cgroups, or
 * for ten seconds. Then it is taken to have been. */
bool flight_past_looks(struct flight_past *past, uint32_t pid, uint64_t moves, uint64_t now_ns);
/* It is in another one from here on, and so is whom it forks. */
void flight_past_move(struct flight_past *past, uint32_t pid, uint64_t cgroup);

/* The cgroup of a process, 0: not known; and one of the processes in a cgroup, 0: none. */
uint64_t flight_past_cgroup(const struct flight_past *past, uint32_t pid);
uint32_t flight_past_member(const struct flight_past *past, uint64_t cgroup);

/* Makes the counts of a device those since then. */
void flight_past_subtract(const struct flight_past *past, struct event_device *device);

#endif
