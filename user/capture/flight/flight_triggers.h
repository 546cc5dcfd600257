/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Triggers of a flight recorder: it writes a trace when a process or job exceeds a rate for a
 * while.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLIGHT_TRIGGERS_MAX 8
#define FLIGHT_REASON_BYTES 256

enum flight_measure {
	FLIGHT_MAJOR_FAULTS, /* per second */
	FLIGHT_STALL,	     /* thread time spent waiting for files / elapsed time */
	FLIGHT_MEASURES,
};

struct flight_trigger {
	enum flight_measure measure;
	double limit;	 /* per second; FLIGHT_STALL: 1 is 100% */
	uint64_t for_ns; /* how long the rate must stay above it */
};

/*
 * Parses "major-faults=RATE:TIME" or "stall=PERCENT%:TIME". `min_ns` is the sampling interval,
 * the shortest TIME. Returns 0, or -EINVAL after logging an error that starts with `option`.
 */
int flight_trigger_parse(const char *option, const char *text, uint64_t min_ns,
			 struct flight_trigger *trigger);

/* Since when each process or job has been above which limit. */
struct flight_triggers;

struct flight_triggers *flight_triggers_open(const struct flight_trigger *triggers, size_t count);
void flight_triggers_close(struct flight_triggers *triggers); /* NULL is fine */

/* Adds what `who` (a pid, or any number for a job) did in the current interval. */
void flight_triggers_add(struct flight_triggers *triggers, uint64_t who, uint64_t major_faults,
			 uint64_t stall_ns);

/* Ends the interval. Returns true if a process or job was above a limit for long enough: *who is
 * then its number (the lowest of several), and `reason` says why. Their time above the limit starts
 * again. */
bool flight_triggers_end(struct flight_triggers *triggers, uint64_t now_ns, uint64_t *who,
			 char reason[FLIGHT_REASON_BYTES]);
