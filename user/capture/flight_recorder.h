/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From the rings of a session to its flight recorder: a thread that drains, in place of the one
 * that makes a trace of all (recorder.h).
 */
#ifndef FAULTLINE_FLIGHT_RECORDER_H
#define FAULTLINE_FLIGHT_RECORDER_H

#include <stdint.h>

#include "capture/flight.h"

struct markers;
struct flight_recorder;

/* Starts draining; sums are read every `interval_ns`. Session, recorder and markers (NULL for none)
 * stay the caller's. Returns 0 or a negative errno, logged. */
int flight_recorder_start(struct flight_recorder **recorder, struct session *session,
			  struct flight *flight, struct markers *markers, uint64_t interval_ns);
/* Ends it, once what was asked for is written. NULL is fine. */
void flight_recorder_stop(struct flight_recorder *recorder);

#endif
