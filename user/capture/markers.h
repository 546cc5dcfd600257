/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the programs and libraries that carry our markers, while processes map them.
 */
#ifndef FAULTLINE_MARKERS_H
#define FAULTLINE_MARKERS_H

#include <stdint.h>

#include "capture/session.h"

struct markers;

/* Starts a thread that attaches the session to what it finds; it needs privileges that the caller
 * may give up afterwards. Returns 0 or a negative errno. */
int markers_start(struct markers **markers, struct session *session);

/* A process may run code from a file that it did not before. Never waits; a decoder_code_fn whose
 * context is the markers. */
void markers_look(void *markers, uint32_t pid);

/* Ends the thread; what is told from now on is not looked at. To be called before session_detach.
 * May be called twice; NULL is fine. */
void markers_stop(struct markers *markers);
void markers_close(struct markers *markers); /* NULL is fine */

#endif
