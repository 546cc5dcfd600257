/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a session is made of, and what its files have of each other. For the files session*.c alone:
 * whoever uses a session knows session.h and nothing of this.
 */
#ifndef FAULTLINE_SESSION_STATE_H
#define FAULTLINE_SESSION_STATE_H

#include <stdbool.h>

#include "capture/attach.h"
#include "capture/buffer_sizes.h"
#include "capture/probes.h"
#include "capture/refusal.h"
#include "capture/session.h"
#include "trace/header.h"

struct arming;
struct device_tale;
struct faultline;
struct kernel;
struct lanes;
struct loader;
struct online;
struct profile;
struct rings;
struct waiting;

struct session {
	struct session_options options;
	struct kernel *kernel;
	struct loader *loader;
	struct choice choice;
	struct trace_layer layers[LAYER_COUNT];
	struct faultline *skeleton;
	struct rings *rings, *identities;
	struct lanes *lanes; /* or, of a flight recorder: */
	struct flight_memory *flight;
	int cpus; /* possible ones: per-CPU maps have a value for each */
	struct buffer_sizes sizes;
	struct device_tale *device_tale; /* NULL: the block layer is off */
	unsigned int profile_slots;
	struct profile *profile; /* NULL: every event is told */
	struct attached attached;
	struct online *online; /* NULL: nothing depends on CPUs that come later */
	struct refusals refused;
	struct arming *arming;	     /* NULL: a command is run */
	struct waiting *waiting;     /* NULL: calls in flight at the end are not recorded */
	struct in_flight *in_flight; /* NULL: not watched */
	bool multi;		     /* uprobes come by links of many */
};

/* Opens the object with all that is set before it is loaded, but for which programs. NULL, with
 * errno, when it cannot be had. */
struct faultline *session_open_skeleton(struct session *session);
/* Chooses the best variants that the kernel takes, loads and attaches them. A program that the
 * verifier refuses takes all others with it: its variant is passed over, as long as there is
 * another one to pass over. Returns 0 or a negative errno, logged. */
int session_load(struct session *session);
/* Logs why there are no buffers. */
void session_say_no_buffers(const struct session *session, int err);

#endif
