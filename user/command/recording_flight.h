/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder's part of a recording: its options. Knows nothing of how it records.
 */
#ifndef FAULTLINE_RECORDING_FLIGHT_H
#define FAULTLINE_RECORDING_FLIGHT_H

#include "capture/flight.h"
#include "capture/session.h"
#include "command/options.h"

/* What the user has given; RECORDING_NOT_GIVEN and NULL: nothing. */
struct flight_given {
	uint64_t bytes, slower_ns, every_ns;
	const char *keep;
	struct option_texts when;
};

#define FLIGHT_GIVEN_DEFAULTS                                                                      \
	{                                                                                          \
		.bytes = UINT64_MAX, .slower_ns = UINT64_MAX, .every_ns = UINT64_MAX               \
	}

/* Rows of an option table, whose target has a struct flight_given at the offset `at`. */
#define FLIGHT_OPTION(at, member) (at) + offsetof(struct flight_given, member)
#define FLIGHT_OPTIONS(at)                                                                         \
	{ 0,                                                                                       \
	  "flight",                                                                                \
	  "SIZE",                                                                                  \
	  OPTION_BYTES,                                                                            \
	  FLIGHT_OPTION(at, bytes),                                                                \
	  "Keep the last seconds of events in so much memory, such as 256M, and write them "       \
	  "as a trace on SIGUSR2, or when one of the following says so." },                        \
		{ 0,                                                                               \
		  "flight-slower",                                                                 \
		  "TIME",                                                                          \
		  OPTION_TIME,                                                                     \
		  FLIGHT_OPTION(at, slower_ns),                                                    \
		  "--flight: when a call or a page fault has taken so long, such as 500ms." },     \
		{ 0,                                                                               \
		  "flight-when",                                                                   \
		  "WHAT=LIMIT:TIME",                                                               \
		  OPTION_TEXTS,                                                                    \
		  FLIGHT_OPTION(at, when),                                                         \
		  "--flight: when a process, a cgroup, or all together, has been above a limit "   \
		  "for TIME: "                                                                     \
		  "major-faults=1000:5s (a second), stall=80%:10s (of the time, summed over "      \
		  "threads)." },                                                                   \
		{ 0,                                                                               \
		  "flight-every",                                                                  \
		  "TIME",                                                                          \
		  OPTION_TIME,                                                                     \
		  FLIGHT_OPTION(at, every_ns),                                                     \
		  "--flight: at most one trace in that time, whoever asks (1m)." },                \
	{                                                                                          \
		0, "flight-keep", "N|SIZE", OPTION_STRING, FLIGHT_OPTION(at, keep),                \
			"--flight: keep the last N traces, or as many as fit into SIZE; older "    \
			"ones of this run are removed (all)."                                      \
	}

/* Takes what the options say. `interval_ns` is how often sums are read. Returns 0, or -EINVAL after
 * a line; without --flight, session->flight_bytes stays 0. */
int recording_flight_choose(const struct flight_given *given, uint64_t interval_ns,
			    struct session_options *session, struct flight_options *options);

#endif
