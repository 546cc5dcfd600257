/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Builds the header of a recording's trace. */
#pragma once

#include "collections/arena.h"
#include "capture/session/session.h"
#include "trace/format/header.h"

struct limits;

struct recorded_header {
	struct trace_header header; /* points into those below, the session and static memory */
	struct arena arena;	    /* for redaction */
	struct limits *limits;
};

/*
 * Fills the header for an open session that runs `command` or attaches to `targets`; the other is
 * NULL. Both, and `mode`, stay the caller's. Returns 0 or a negative errno.
 */
int recorded_header_open(struct recorded_header *recorded, const struct session *session,
			 const char *mode, const char *const *command, const char *const *targets);
void recorded_header_close(struct recorded_header *recorded); /* all zeroes is fine */
