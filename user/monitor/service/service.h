/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The monitoring service: a session over the whole node, and a thread that feeds the ledger from
 * it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/flight/flight.h"
#include "capture/session/session.h"
#include "monitor/ledger/job_choice.h"
#include "monitor/ledger/ledger.h"

struct python_live;
struct service;

struct service_options {
	struct session_options session; /* `attach` (except `uid`) and `mode` are set here */
	struct ledger_options ledger;	/* `lines` is set here */
	uint64_t interval_ns;		/* how often sums are read */
	const char *host_root;		/* where the node's file system is; NULL: "/" */
	/* Jobs whose events a flight recorder keeps, and which can trigger it; none: all. */
	struct job_choice flight_of;
};

/* Losses, counted by the kernel and here, by kind of record or other cause. */
struct service_loss {
	const char *kind, *layer;
	uint64_t count;
};
#define SERVICE_LOSSES_MAX (RECORD_KIND_COUNT + LAYER_COUNT + 6)

/* Facts about the service as of the last reading. */
struct service_facts {
	uint64_t start_unix_ns, start_ns;	/* the same moment; start_ns is CLOCK_MONOTONIC */
	uint64_t readings, read_ns;		/* when the last one began, CLOCK_MONOTONIC */
	struct trace_layer layers[LAYER_COUNT]; /* texts belong to the session */
	struct service_loss losses[SERVICE_LOSSES_MAX];
	unsigned int loss_count;
	struct profile_use use;
	unsigned int slots;
	uint64_t anonymous_faults, shmem_faults; /* of the whole node */
	uint64_t not_followed;			 /* tasks not followed for lack of memory */
	uint64_t bios_unseen;			 /* parts of requests without an end */
	bool has_flight;			 /* there is a flight recorder */
	struct flight_status flight;		 /* ... and its status */
};

/* Opens the session; layers that cannot work are off. A missing essential layer is an error unless
 * `best_effort`. Returns 0 or a negative errno, logged. */
int service_open(struct service **service, const struct service_options *options, bool best_effort);
/* Also feeds a flight recorder, which the service owns from then on. Must run before service_start;
 * the session has flight_bytes. */
void service_take_flight(struct service *service, struct flight *flight);
/* Follows all processes, or those of a user if one is set, and starts reading. *processes and
 * *threads receive how many exist. Returns 0 or a negative errno, logged. */
int service_start(struct service *service, size_t *processes, size_t *threads);
void service_close(struct service *service); /* NULL is fine */

struct ledger *service_ledger(struct service *service);
struct session *service_session(struct service *service);
struct python_live *service_live(struct service *service); /* NULL: none */
/* May be called from any thread. */
void service_look(struct service *service, struct service_facts *facts);
/* Takes a reading and waits for it, about a millisecond. May be called from any thread but the
 * service's own. */
void service_read_now(struct service *service);
