/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Drains the rings of a session into its flight recorder, in a separate thread. (recorder.h writes
 * a trace of everything instead.)
 */
#pragma once

#include <stdint.h>

#include "capture/flight/flight.h"

struct markers;
struct flight_recorder;

/* Starts draining; reads sums every `interval_ns`. The caller owns session, flight recorder and
 * markers (NULL: none). Returns 0 or a negative errno, logged. */
int flight_recorder_start(struct flight_recorder **recorder, struct session *session,
			  struct flight *flight, struct markers *markers, uint64_t interval_ns);
/* Stops, after writing the requested trace, if any. NULL is fine. */
void flight_recorder_stop(struct flight_recorder *recorder);
