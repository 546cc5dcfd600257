/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a trace's header says of a recording.
 */
#ifndef FAULTLINE_RECORDED_HEADER_H
#define FAULTLINE_RECORDED_HEADER_H

#include "capture/session.h"
#include "trace/header.h"

struct limits;

struct recorded_header {
	struct trace_header header; /* points into what follows, the session, and static memory */
	struct limits *limits;
};

/*
 * Fills it for a session that is open: of `command`, or of `targets` that it attaches to; the other
 * is NULL. Both, and `mode`, stay the caller's. Returns 0 or a negative errno.
 */
int recorded_header_open(struct recorded_header *recorded, const struct session *session,
			 const char *mode, const char *const *command, const char *const *targets);
void recorded_header_close(struct recorded_header *recorded); /* all zeroes is fine */

#endif
