/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* A recording from its options to its end, the same for all commands that make one. */
#pragma once

#include <limits.h>

#include "capture/follow/child.h"
#include "capture/flight/flight_recorder.h"
#include "capture/markers/markers.h"
#include "capture/native/unwinder.h"
#include "capture/python/live.h"
#include "capture/recorder/recorded_header.h"
#include "capture/recorder/recorder.h"
#include "capture/session/session.h"
#include "command/common/options.h"
#include "command/recording/recording_flight.h"
#include "command/recording/recording_redact.h"

struct recording_options {
	const char *output, *mode, *layers, *stacks, *file_types, *variants, *changed, *absent;
	uint64_t buffer_bytes, interval_ns, profile_slots, auto_rate;
	struct flight_given flight;
	struct option_texts include, exclude; /* globs for paths of files */
	struct redact_given redact;
	bool progress, force, best_effort;
};

/* A number that the user did not give: its default applies, where it is used. */
#define RECORDING_NOT_GIVEN UINT64_MAX

#define RECORDING_DEFAULTS                                                                         \
	{                                                                                          \
		.output = "faultline-%h-%p.flt", .mode = "trace",                                  \
		.interval_ns = RECORDING_NOT_GIVEN, .profile_slots = RECORDING_NOT_GIVEN,          \
		.auto_rate = RECORDING_NOT_GIVEN, .flight = FLIGHT_GIVEN_DEFAULTS                  \
	}

/* Fields of a struct recording_options, without those of the flight recorder. */
extern const struct option_rows recording_rows;

/* One recording with its parts. */
struct recording {
	const struct recording_options *options;
	struct session_options session_options;
	struct child_user user; /* owner of the trace */
	char path[PATH_MAX];
	int fd;
	bool piped; /* the trace goes to standard output */
	struct session *session;
	struct recorded_header header;
	struct redaction redaction;
	struct trace_writer *writer;
	struct markers *markers;   /* NULL: the span layer is off */
	struct python_live *live;  /* NULL: the layer stack is off, or the flight recorder on */
	struct unwinder *unwinder; /* NULL: no native stacks */
	struct recorder *recorder;
	/* Instead of writer and recorder: */
	struct flight_options flight_options;
	struct flight *flight;
	struct flight_recorder *flight_recorder;
	uint64_t interval_ns; /* how often sums are read */
	uint64_t start_ns, last_events, last_ns;
};

/* Takes the options of the session. Returns 0, or a negative errno after a line. */
int recording_choose(struct recording *recording);

/* Create the trace's file; %p in its name stands for `pid`. If the trace goes to standard output,
 * other output goes to standard error from then on. Return 0 or a negative errno, logged. */
int recording_take_output(struct recording *recording);
int recording_open_output(struct recording *recording, pid_t pid);
/* For a recording that failed to start. Keeps a file that existed before. */
void recording_remove_output(const struct recording *recording);

/*
 * Opens the session, and starts listening to spans if they are recorded: those of `command` in its
 * `environment`, or of running processes (NULL) in ours. Needs a process without threads. Reports
 * layers that are off. A missing essential layer is an error, because the trace would be useless,
 * unless --best-effort was given. Returns 0 or a negative errno, logged.
 */
int recording_open_session(struct recording *recording, const char *command,
			   char *const *environment);

/* Begins the trace, or the flight recorder, for `command`, or for `targets` that it attaches to;
 * the other is NULL. Returns 0 or a negative errno, logged. */
int recording_open_writer(struct recording *recording, const char *const *command,
			  const char *const *targets);

/* Starts draining in a thread of its own. Returns 0 or a negative errno, logged. */
int recording_start(struct recording *recording);

/* Drops the calling thread's privileges, once nothing that was prepared must be undone any more. */
void recording_give_up_privileges(void);

/*
 * Detaches, and ends the trace: see recorder_finish. A flight recorder writes what was requested.
 */
void recording_finish(struct recording *recording, uint64_t end_ns, int exit_code,
		      const uint64_t *survivors, size_t survivor_count,
		      struct recorder_status *status);

/* Requests a trace from the flight recorder, on a signal. */
void recording_ask(void *recording);

/* Returns whether progress is shown, about once a second, by the function below: not among a
 * command's output unless requested. */
bool recording_wants_live_line(const struct recording *recording);
void recording_live_line(void *recording);

/* Prints the line at the end. */
void recording_say_summary(const struct recording *recording, const struct recorder_status *status);

void recording_close(struct recording *recording);
