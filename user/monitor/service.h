/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The monitoring service at work: a session over the whole node, and a thread that takes what it
 * hands on into the ledger. Knows nothing of who reads the ledger, nor how.
 */
#ifndef FAULTLINE_MONITOR_SERVICE_H
#define FAULTLINE_MONITOR_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/flight.h"
#include "capture/session.h"
#include "monitor/job_choice.h"
#include "monitor/ledger.h"

struct service;

struct service_options {
	struct session_options session; /* its `attach`, but for `uid`, and `mode` are set here */
	struct ledger_options ledger;
	uint64_t interval_ns; /* how often sums are taken */
	/* Whose events a flight recorder keeps, and who makes it write; none: all. */
	struct job_choice flight_of;
};

/* Losses, counted by the kernel and here: of what kind of record, or what else. */
struct service_loss {
	const char *kind, *layer;
	uint64_t count;
};
#define SERVICE_LOSSES_MOST (RECORD_KIND_COUNT + LAYER_COUNT + 4)

/* What there is to tell of the service itself; as of the last reading. */
struct service_facts {
	uint64_t start_unix_ns, start_ns;	/* the same moment, by CLOCK_MONOTONIC */
	uint64_t readings, read_ns;		/* when the last one was, CLOCK_MONOTONIC */
	struct trace_layer layers[LAYER_COUNT]; /* texts are the session's */
	struct service_loss losses[SERVICE_LOSSES_MOST];
	unsigned int loss_count;
	struct profile_use use;
	unsigned int slots;
	uint64_t anonymous_faults, shmem_faults; /* of the whole node */
	uint64_t not_followed;			 /* tasks for which there was no memory */
	uint64_t bios_unseen;			 /* parts of requests whose ends nobody saw */
	bool in_flight;				 /* there is a flight recorder, ... */
	struct flight_status flight;		 /* ... and this is how it is */
};

/* Opens the session; a layer that cannot work is off. What is missing and essential is an error
 * unless `best_effort`. Returns 0 or a negative errno, logged. */
int service_open(struct service **service, const struct service_options *options, bool best_effort);
/* Hands on what comes to a flight recorder, too, which is the service's from then on; before it is
 * started. The session has flight_bytes. */
void service_take_flight(struct service *service, struct flight *flight);
/* Follows all processes, of that user's if one is named, and begins to read. *processes and
 * *threads receive how many there were. Returns 0 or a negative errno, logged. */
int service_start(struct service *service, size_t *processes, size_t *threads);
void service_close(struct service *service); /* NULL is fine */

struct ledger *service_ledger(struct service *service);
struct session *service_session(struct service *service);
/* From any thread. */
void service_look(struct service *service, struct service_facts *facts);
/* Takes what was done up to now; waits for that, about a millisecond. From any thread but its own.
 */
void service_read_now(struct service *service);

#endif
