/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * When a flight recorder writes what it has by itself: when a process, or a job, has been above a
 * rate for a while. Knows the rates, nothing of where they come from.
 */
#ifndef FAULTLINE_FLIGHT_TRIGGERS_H
#define FAULTLINE_FLIGHT_TRIGGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLIGHT_TRIGGERS_MOST 8
#define FLIGHT_REASON_BYTES 256

enum flight_measure {
	FLIGHT_MAJOR_FAULTS, /* a second */
	FLIGHT_STALL,	     /* share of the time that threads wait for files, summed over them */
	FLIGHT_MEASURES,
};

struct flight_trigger {
	enum flight_measure measure;
	double limit;	 /* a second; of FLIGHT_STALL of 1 */
	uint64_t for_ns; /* how long it must be above that without a break */
};

/*
 * Reads "major-faults=RATE:TIME" or "stall=PERCENT%:TIME". `least_ns` is how often rates are taken.
 * Returns 0, or -EINVAL after a line that begins with `option`.
 */
int flight_trigger_parse(const char *option, const char *text, uint64_t least_ns,
			 struct flight_trigger *trigger);

/* Who is above which limit since when. */
struct flight_triggers;

struct flight_triggers *flight_triggers_open(const struct flight_trigger *triggers, size_t count);
void flight_triggers_close(struct flight_triggers *triggers); /* NULL is fine */

/* Adds what `who` (a pid, or any number of a job's) did in the stretch of time that goes on. */
void flight_triggers_add(struct flight_triggers *triggers, uint64_t who, uint64_t major_faults,
			 uint64_t stall_ns);

/* Ends the stretch. Whether somebody has been above a limit for long enough: then *who is that one,
 * the least number of several, and `reason` says why. They begin anew after that. */
bool flight_triggers_end(struct flight_triggers *triggers, uint64_t now_ns, uint64_t *who,
			 char reason[FLIGHT_REASON_BYTES]);

#endif
