/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Spans that programs mark, tracer side: starts the listener, reports to it what processes map, and
 * knows at the end whether spans may be missing.
 */
#pragma once

#include <stdint.h>

#include "capture/drain/decode.h"
#include "capture/session/session.h"

struct child_user;
struct markers;

/*
 * Starts listening, if the span or the stack layer is on, to our own library and Python package, to
 * those on PYTHONPATH and LD_LIBRARY_PATH, and to the program that `command` (or NULL) names in
 * that environment, before any of them runs. Call before creating threads, with all privileges.
 * Returns 0 or a negative errno, logged.
 */
int markers_start(struct markers **markers, struct session *session, const struct child_user *user,
		  const char *command, char *const *environment);

/* Waits up to a limit until these are attached to; logs if they are not. NULL is fine. */
void markers_await(struct markers *markers);

/*
 * For processes that session_attach found: inspects what they have mapped, each file once, and
 * waits until it is attached to. Spans marked earlier are not recorded. Needs the privileges to
 * inspect the processes. NULL is fine.
 */
void markers_look_at_attached(struct markers *markers, const struct session *session);

/* Returns the address at which programs reach us, as in tracer.h, for their environment; NULL if
 * the span layer is off. */
const char *markers_address(const struct markers *markers);

/* Reports that a process may run code of a file for the first time, at an address, or 0 for a new
 * program. Never waits. A decoder_code_fn; the context is the markers. */
void markers_look(void *markers, const struct code_mapping *mapping);

/* Ends the listener, after the last report; never waits for the kernel's cleanup. Spans are
 * recorded until session_detach. Logs what may be missing. May be called twice; NULL is fine. */
void markers_stop(struct markers *markers);

/* Returns the number of programs that may have marked spans unheard; 0 for NULL, or if the span
 * layer is off. */
uint64_t markers_unheard(const struct markers *markers);

/* Returns the number of programs that exited before they were inspected, so that their markers are
 * unknown; 0 if the span layer is off. */
uint64_t markers_unseen(const struct markers *markers);

void markers_close(struct markers *markers); /* NULL is fine */
