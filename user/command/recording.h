/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A recording from its options to its end, the same for all commands that make one. Knows nothing
 * of what is recorded: a command, or what runs already.
 */
#ifndef FAULTLINE_RECORDING_H
#define FAULTLINE_RECORDING_H

#include <limits.h>

#include "capture/child.h"
#include "capture/flight_recorder.h"
#include "capture/markers.h"
#include "capture/recorded_header.h"
#include "capture/recorder.h"
#include "capture/session.h"
#include "command/options.h"
#include "command/recording_flight.h"

struct recording_options {
	const char *output, *mode, *layers, *file_types, *variants, *changed, *absent;
	uint64_t buffer_bytes, interval_ns, profile_slots, auto_rate;
	struct flight_given flight;
	struct option_texts include, exclude; /* globs on paths of files */
	bool progress, force, best_effort;
};

/* A number that the user has not given: its default holds, where it is of use. */
#define RECORDING_NOT_GIVEN UINT64_MAX

#define RECORDING_DEFAULTS                                                                         \
	{                                                                                          \
		.output = "faultline-%h-%p.flt", .mode = "trace",                                  \
		.interval_ns = RECORDING_NOT_GIVEN, .profile_slots = RECORDING_NOT_GIVEN,          \
		.auto_rate = RECORDING_NOT_GIVEN, .flight = FLIGHT_GIVEN_DEFAULTS                  \
	}

/* Of a struct recording_options, but for those of the flight recorder. */
extern const struct option_rows recording_rows;

/* One recording, from its parts to its end. */
struct recording {
	const struct recording_options *options;
	struct session_options session_options;
	struct child_user user; /* whose the trace will be */
	char path[PATH_MAX];
	int fd;
	bool piped; /* the trace goes to standard output */
	struct session *session;
	struct recorded_header header;
	struct trace_writer *writer;
	struct markers *markers; /* NULL: the span layer is off */
	struct recorder *recorder;
	/* Or, instead of writer and recorder: */
	struct flight_options flight_options;
	struct flight *flight;
	struct flight_recorder *flight_recorder;
	uint64_t interval_ns; /* how often sums are taken */
	uint64_t start_ns, last_events, last_ns;
};

/* Takes what the options say of the session. Returns 0, or a negative errno after a line. */
int recording_choose(struct recording *recording);

/* Makes the trace's file; %p in its name stands for `pid`. What would go to standard output goes to
 * standard error from then on, where the trace goes there. Returns 0 or a negative errno, logged.
 */
int recording_take_output(struct recording *recording);
int recording_open_output(struct recording *recording, pid_t pid);
/* Of a recording that did not come about; what was there before is not ours. */
void recording_remove_output(const struct recording *recording);

/*
 * Opens the session, and begins to listen to spans if they are recorded: of `command`, in its
 * `environment`; of what runs already (NULL) in ours. Needs a process without threads. Tells of
 * layers that are off: without an essential one the trace would miss what it is made for, so there
 * is none, unless the user takes what can be had. Returns 0 or a negative errno, logged.
 */
int recording_open_session(struct recording *recording, const char *command,
			   char *const *environment);

/* Begins the trace, or the flight recorder, on `command`, or on `targets` that it attaches to; the
 * other is NULL. Returns 0 or a negative errno, logged. */
int recording_open_writer(struct recording *recording, const char *const *command,
			  const char *const *targets);

/* Drains from now on, on a thread of its own. Returns 0 or a negative errno, logged. */
int recording_start(struct recording *recording);

/* Those of the calling thread, once nothing of what was prepared has to be undone any more. */
void recording_give_up_privileges(void);

/*
 * Detaches, and ends the trace: see recorder_finish. A flight recorder writes what it was asked
 * for.
 */
void recording_finish(struct recording *recording, uint64_t end_ns, int exit_code,
		      const uint64_t *survivors, size_t survivor_count,
		      struct recorder_status *status);

/* Whether there is a flight recorder; it is asked for a trace, by a signal. */
bool recording_has_flight(const struct recording *recording);
void recording_ask(void *recording);

/* Whether how it goes is shown, about once a second, by the function below: not among what a
 * command prints, unless that is asked for. */
bool recording_wants_live_line(const struct recording *recording);
void recording_live_line(void *recording);

/* The line at the end. */
void recording_say_summary(const struct recording *recording, const struct recorder_status *status);

void recording_close(struct recording *recording);

#endif
