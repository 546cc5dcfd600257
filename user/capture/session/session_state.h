/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The state of a session. Only the files session*.c use it; others use session.h. */
#pragma once

#include <stdbool.h>

#include "capture/support/attach.h"
#include "capture/session/buffer_sizes.h"
#include "capture/support/probes.h"
#include "capture/support/refusal.h"
#include "capture/session/session.h"
#include "trace/format/header.h"

struct arming;
struct device_stats;
struct faultline;
struct kernel;
struct late;
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
	struct lanes *lanes;
	int cpus; /* possible ones: per-CPU maps have a value for each */
	struct buffer_sizes sizes;
	struct device_stats *device_stats; /* NULL: the block layer is off */
	unsigned int profile_slots;
	struct profile *profile; /* NULL: every event is recorded */
	struct attached attached;
	struct attached late_attached[LAYER_COUNT]; /* of LAYERS_LATE, until `late` is started */
	struct late *late;			    /* NULL: none of these layers is on */
	struct online *online; /* NULL: nothing depends on CPUs that come online */
	struct refusals refused;
	struct arming *arming;	     /* NULL: a command is run */
	struct waiting *waiting;     /* NULL: calls in flight at the end are not recorded */
	struct in_flight *in_flight; /* NULL: not watched */
	bool multi;		     /* uprobes are attached by uprobe_multi links */
};

/* Whether requests to servers of file systems are recorded, or may be later. */
static inline bool session_records_servers(const struct session *session)
{
	return probes_missing(&session->choice, LAYERS_LATE) != LAYERS_LATE;
}

static inline bool session_counts_devices(const struct session *session)
{
	return session->choice.on[LAYER_BLOCK] || session_records_servers(session);
}

/* Opens the object and sets everything that must be set before loading, except which programs to
 * load. Returns NULL and sets errno on failure. */
struct faultline *session_open_skeleton(struct session *session);

/* Returns whether programs of uprobes know which one was hit (since 5.15). */
bool session_has_cookies(const struct session *session);
/* Returns 0 if the limit of open files allows to load and attach the chosen programs; otherwise
 * logs how many are needed and returns -EMFILE. */
int session_check_open_files(const struct session *session);
/* Chooses the best variants that the kernel is not known to refuse. Returns 0 or a negative errno,
 * logged. */
int session_choose(struct session *session);
/* Chooses, loads and attaches the best variants that the kernel accepts. A program that the
 * verifier refuses makes the whole load fail: retries without its variant until the load succeeds
 * or nothing new is refused. Returns 0 or a negative errno, logged. */
int session_load(struct session *session);
/* Logs why there are no buffers. */
void session_say_no_buffers(const struct session *session, int err);
