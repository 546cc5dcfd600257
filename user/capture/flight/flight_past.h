/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The state at the start of the kept records: running processes, open spans, device counters. Built
 * from evicted records.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "capture/flight/flight_table.h"
#include "capture/drain/ring.h"

/* Zero-initialized is empty. */
struct flight_past {
	struct flight_table processes, spans, devices;
	struct flight_table ends; /* of spans whose begin has not arrived yet */
	size_t span_bytes, command_bytes;
	uint64_t refused; /* entries or command lines dropped: out of memory or over a limit */
};

void flight_past_free(struct flight_past *past);

/* Takes an evicted record. A ring_record_fn; the context is the past. */
void flight_past_take(void *past, unsigned int ring, const void *record, size_t size);

/*
 * Passes the state to `take` as records: processes as present from `from_ns` on, spans as begun at
 * that time, and the latest counters of devices.
 */
void flight_past_emit(const struct flight_past *past, uint64_t from_ns, ring_record_fn take,
		      void *context);

/* Whether to look up a process's cgroup: true if `moves`, the count of moves between cgroups, has
 * changed or ten seconds have passed since the last lookup. If true, the lookup counts as done. */
bool flight_past_looks(struct flight_past *past, uint32_t pid, uint64_t moves, uint64_t now_ns);
/* Moves a process to another cgroup, which processes forked later inherit. */
void flight_past_move(struct flight_past *past, uint32_t pid, uint64_t cgroup);

/* Return the cgroup of a process (0: not known), and a process in a cgroup (0: none). */
uint64_t flight_past_cgroup(const struct flight_past *past, uint32_t pid);
uint32_t flight_past_member(const struct flight_past *past, uint64_t cgroup);

/* Reduces a device's counters to the increase since the recorded ones. */
void flight_past_subtract(const struct flight_past *past, struct event_device *device);
