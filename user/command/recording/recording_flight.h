/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Options and messages of a recording's flight recorder. */
#pragma once

#include "capture/flight/flight.h"
#include "capture/session/session.h"
#include "command/common/options.h"

/* Says how to request a trace, once the flight recorder is ready. */
void recording_flight_say_ready(void);
/* Says that SIGUSR2 has no effect, because there is no flight recorder. */
void recording_flight_say_none(void);

/* Values given by the user; RECORDING_NOT_GIVEN and NULL: none. */
struct flight_given {
	uint64_t bytes, slower_ns, every_ns;
	const char *keep;
	struct option_texts when;
};

#define FLIGHT_GIVEN_DEFAULTS                                                                      \
	{                                                                                          \
		.bytes = UINT64_MAX, .slower_ns = UINT64_MAX, .every_ns = UINT64_MAX               \
	}

/* Fields of a struct flight_given. */
extern const struct option_rows flight_rows;

/* Takes the options. `interval_ns` is how often sums are read. Returns 0, or -EINVAL after a line;
 * without --flight, session->flight_bytes stays 0. */
int recording_flight_choose(const struct flight_given *given, uint64_t interval_ns,
			    struct session_options *session, struct flight_options *options);
