/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a flight recorder is made of, and what its files have of each other. For the files flight*.c
 * alone: whoever uses a recorder knows flight.h and nothing of this.
 */
#ifndef FAULTLINE_FLIGHT_STATE_H
#define FAULTLINE_FLIGHT_STATE_H

#include <pthread.h>

#include "capture/flight.h"
#include "capture/flight_dump.h"
#include "capture/flight_log.h"
#include "capture/flight_names.h"
#include "capture/flight_past.h"

#define FLIGHT_WHO_BYTES 160

struct cgroups;

/* Why a trace is written. */
struct flight_reason {
	uint64_t cgroup;	    /* whose limit it was, by its id; 0: not one of a cgroup */
	char who[FLIGHT_WHO_BYTES]; /* what it is called where nobody knows its path; "": nobody */
	char why[FLIGHT_REASON_BYTES];
};

struct flight {
	struct session *session;
	struct flight_options options;
	struct flight_files files; /* of the thread that writes */
	uint64_t start_ns;
	pthread_t thread;
	bool started;

	/* What comes, of the thread that drains. Under `lock` wherever the thread that writes
	 * looks. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct flight_log *log;
	struct flight_past past;    /* before the log */
	struct flight_past present; /* processes, after it */
	struct flight_names names;
	uint64_t given; /* events that came into the log */
	uint64_t drains;
	bool awaited; /* a trace is made when what was lost up to now is known */
	struct flight_triggers *triggers;
	uint64_t told_lost[FLIGHT_LOSSES], looked_ns;
	uint64_t told_slow_ns; /* operations in flight that began by then were reported as slow */
	decoder_code_fn tell_code;
	void *tell_context;

	/* What is asked for. */
	bool stop, asked;
	uint64_t asked_ns; /* the last one; 0: none */
	struct flight_reason reason;
	struct cgroups *cgroups; /* NULL: there are no limits */
	struct flight_status status;
};

/* Writes a trace, on the thread that does so. */
void flight_write(struct flight *flight, const char *reason);

#endif
