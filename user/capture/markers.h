/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Spans that programs mark, from the tracer's side: starting what listens to them, telling it what
 * processes map, and knowing at the end whether any may be missing.
 */
#ifndef FAULTLINE_MARKERS_H
#define FAULTLINE_MARKERS_H

#include <stdint.h>

#include "capture/session.h"

struct child_user;
struct markers;

/*
 * Starts listening, if the layer is on: to our own library and Python package, to those on
 * PYTHONPATH, and to the program that `command` (or NULL) names in that environment, before any of
 * them runs. To be called while there are no threads, with all privileges. Returns 0 or a negative
 * errno, logged.
 */
int markers_start(struct markers **markers, struct session *session, const struct child_user *user,
		  const char *command, char *const *environment);

/* Waits until those are listened to, a bounded time; logs if they are not. NULL is fine. */
void markers_await(struct markers *markers);

/*
 * For processes that run already, those that session_attach found: looks at what they have mapped,
 * each file once, and waits until that is listened to, too. What they mark from then on is heard;
 * before they were not recorded. Needs the privileges to look at them. NULL is fine.
 */
void markers_look_at_attached(struct markers *markers, const struct session *session);

/* How programs reach us, as tracer.h has it; for their environment. */
const char *markers_address(const struct markers *markers);

/* A process runs code of a file that it did not before, at an address, or 0 for a new program.
 * Never waits; a decoder_code_fn whose context is the markers. */
void markers_look(void *markers, uint32_t pid, uint64_t address, uint64_t bytes, uint64_t time_ns);

/* Ends it, when nothing is told any more; never waits for what the kernel does for it. Spans are
 * recorded until session_detach. Says what may be missing. May be called twice; NULL is fine. */
void markers_stop(struct markers *markers);

/* Programs that may have marked spans while nobody listened to them; 0 for NULL. */
uint64_t markers_unheard(const struct markers *markers);

/* Programs that had ended before they could be looked at: whether they mark spans is not known. */
uint64_t markers_unseen(const struct markers *markers);

void markers_close(struct markers *markers); /* NULL is fine */

#endif
