/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Internals of a flight recorder, shared by the flight*.c files only. Users include flight.h. */
#pragma once

#include <pthread.h>

#include "capture/flight/flight.h"
#include "capture/flight/flight_past.h"
#include "capture/flight/flight_ring.h"

#define FLIGHT_WHO_BYTES 160

struct cgroups;

/* Why a trace is written. */
struct flight_reason {
	uint64_t cgroup;	    /* id of the cgroup that exceeded a limit; 0: none */
	char who[FLIGHT_WHO_BYTES]; /* name to show if there is no cgroup path; "": none */
	char why[FLIGHT_REASON_BYTES];
};

struct flight {
	struct session *session;
	struct flight_options options;
	struct flight_files files; /* used by the writer thread */
	uint64_t start_ns;
	pthread_t thread;
	bool started;

	/* State of the draining thread. `lock` protects the fields that the writer thread also
	 * uses: closed segments, the past, and `drains` to `cut_after`. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct flight_ring ring;
	struct flight_past present; /* processes */
	uint64_t drains;
	uint64_t unfollowed; /* children that could not be followed */
	uint64_t cut_after;  /* a trace waits for the segment to be closed after that drain; 0:
			      * none */
	struct flight_triggers *triggers;
	uint64_t reported_lost[FLIGHT_LOSSES], looked_ns;
	uint64_t reported_slow_ns; /* slow operations begun by then have been reported */
	decoder_code_fn emit_code;
	void *emit_context;

	/* Requests. */
	bool stop, requested;
	uint64_t requested_ns; /* time of the last accepted request; 0: none */
	struct flight_reason reason;
	struct cgroups *cgroups; /* NULL: no triggers */
	struct flight_status status;
};

/* Writes a trace. Called on the writer thread. */
void flight_write(struct flight *flight, const char *reason);
