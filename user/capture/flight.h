/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flight recorder: the last seconds of full events in memory, written as a trace when somebody
 * asks for it, or a trigger does. A thread of its own writes, as the user whose the traces are;
 * whoever drains the session hands on what comes, and is never held up by a disk.
 */
#ifndef FAULTLINE_FLIGHT_H
#define FAULTLINE_FLIGHT_H

#include <stdint.h>
#include <sys/types.h>

#include "capture/decode.h"
#include "capture/flight_files.h"
#include "capture/flight_triggers.h"
#include "capture/session.h"
#include "trace/header.h"

struct flight;

struct flight_options {
	const char *pattern; /* of tracefile_name */
	pid_t pid;	     /* %p in it */
	uid_t uid;	     /* whose the traces are */
	gid_t gid;
	struct flight_keep keep;
	uint64_t every_ns; /* at most one in that time */
	struct flight_trigger triggers[FLIGHT_TRIGGERS_MOST];
	size_t trigger_count;
	uint64_t slower_ns;	    /* as session_options.flight_slower_ns */
	struct trace_header header; /* of the recording; what it points to stays the caller's */
};

/*
 * Starts the thread that writes; before privileges are given up. The session has flight_bytes; it
 * stays the caller's. Returns 0 or a negative errno, logged.
 */
int flight_open(struct flight **flight, struct session *session,
		const struct flight_options *options);
/* Writes what was asked for before, and ends the thread: while the session is still drained. NULL
 * is fine; may be called twice. */
void flight_end(struct flight *flight);
void flight_close(struct flight *flight); /* NULL is fine */

/* --- for whoever drains the session, one thread --- */

/* Takes a record; a ring_record_fn whose context is the recorder. */
void flight_take(void *flight, unsigned int ring, const void *record, size_t size);
/* Told of code as decoder_tell_code's function is. */
void flight_tell_code(struct flight *flight, decoder_code_fn tell, void *context);
/* After each drain: notes what was lost, and looks at what is slow. */
void flight_look(struct flight *flight, uint64_t now_ns);
/* At each reading: which operations that are still in flight are slow already. */
void flight_look_at_in_flight(struct flight *flight, const struct in_flight_list *list,
			      uint64_t now_ns);
/* Takes what was summed up, for triggers; a profile_take_fn whose context is the recorder. */
void flight_take_sums(void *flight, const struct profile_slot *added);
/* ... and after each reading of that. */
void flight_end_sums(struct flight *flight, uint64_t now_ns);

/* --- for anybody --- */

enum flight_answer {
	FLIGHT_WILL,	 /* it is being written */
	FLIGHT_WAITS,	 /* one that was asked for has not begun yet */
	FLIGHT_TOO_SOON, /* after the last one */
};

/* Who asks: somebody, --flight-slower, --flight-when. */
enum flight_cause { FLIGHT_REQUEST, FLIGHT_SLOWER, FLIGHT_WHEN, FLIGHT_CAUSES };
extern const char *const flight_causes[FLIGHT_CAUSES];

/* Asks for a trace; `reason` is what its header says. Returns at once. */
enum flight_answer flight_ask(struct flight *flight, enum flight_cause cause, const char *reason);

struct flight_status {
	uint64_t written, failed;      /* traces */
	uint64_t asked[FLIGHT_CAUSES]; /* as often, those that were passed over too */
	uint64_t last_unix_ns;	       /* when the last one was written; 0: none */
	uint64_t passed_over;	       /* asked for, or triggered, too soon after one */
	uint64_t names;		       /* files that are known */
	char path[PATH_MAX];	       /* of the last one; "": none */
};
void flight_status(struct flight *flight, struct flight_status *status);

#endif
