/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder: keeps the last seconds of full events in memory, and writes them as a trace
 * on request or when a trigger fires. A separate thread writes, as the user who owns the traces, so
 * the draining thread never waits for a disk.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "capture/drain/decode.h"
#include "capture/flight/flight_files.h"
#include "capture/flight/flight_triggers.h"
#include "capture/session/session.h"
#include "trace/format/header.h"

struct flight;
struct python_live;

struct flight_options {
	uint64_t bytes;	     /* memory for events */
	const char *pattern; /* for tracefile_name */
	pid_t pid;	     /* value of %p */
	uid_t uid;	     /* owner of the traces */
	gid_t gid;
	struct flight_keep keep;
	uint64_t every_ns; /* minimum time between traces */
	struct flight_trigger triggers[FLIGHT_TRIGGERS_MAX];
	size_t trigger_count;
	uint64_t slower_ns;	    /* same as session_options.flight_slower_ns */
	struct python_live *live;   /* the caller owns it; NULL: blocked threads have no stacks */
	struct trace_header header; /* of the recording; the caller owns what it points to */
};

/*
 * Starts the writer thread; call before dropping privileges. The caller owns the session. Returns 0
 * or a negative errno, logged.
 */
int flight_open(struct flight **flight, struct session *session,
		const struct flight_options *options);
/* Writes the trace already requested, if any, and ends the thread. The session must still be
 * drained. NULL is fine; may be called twice. */
void flight_end(struct flight *flight);
void flight_close(struct flight *flight); /* NULL is fine */

/* --- for the draining thread --- */

/* Takes a record. A ring_record_fn; the context is the flight recorder. */
void flight_take(void *flight, unsigned int ring, const void *record, size_t size);
/* Takes slots. A lane_slots_fn. */
void flight_take_slots(void *flight, unsigned int lane, const struct lane_slot *slots,
		       size_t count);
/* Sets the function to call for new code, as decoder_emit_code does. */
void flight_emit_code(struct flight *flight, decoder_code_fn emit, void *context);
/* Call after each drain: counts losses, checks for slow operations, and ends segments. */
void flight_look(struct flight *flight, uint64_t now_ns);
/* Call at each reading: checks for operations in flight that are already slow. */
void flight_look_at_in_flight(struct flight *flight, const struct in_flight_list *list,
			      uint64_t now_ns);
/* Takes sums for the triggers. A profile_take_fn; the context is the flight recorder. */
void flight_take_sums(void *flight, const struct profile_slot *added);
/* Call after each reading of the sums. */
void flight_end_sums(struct flight *flight, uint64_t now_ns);

/* --- for any thread --- */

enum flight_answer {
	FLIGHT_WILL,	 /* will be written */
	FLIGHT_WAITS,	 /* an earlier request has not started yet */
	FLIGHT_TOO_SOON, /* too soon after the last one */
};

/* The source of a request: a user, --flight-slower or --flight-when. */
enum flight_cause { FLIGHT_REQUEST, FLIGHT_SLOWER, FLIGHT_WHEN, FLIGHT_CAUSES };
extern const char *const flight_causes[FLIGHT_CAUSES];

/* Requests a trace; `reason` goes into its header. Returns at once. */
enum flight_answer flight_ask(struct flight *flight, enum flight_cause cause, const char *reason);

struct flight_status {
	uint64_t written, failed;	   /* traces */
	uint64_t requested[FLIGHT_CAUSES]; /* requests, including skipped ones */
	uint64_t last_unix_ns;		   /* time of the last trace; 0: none */
	uint64_t passed_over;		   /* requests skipped: too soon, or one was pending */
	uint64_t names;			   /* files with a known name */
	char path[PATH_MAX];		   /* of the last trace; "": none */
};
void flight_status(struct flight *flight, struct flight_status *status);
