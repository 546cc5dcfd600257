/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Records a session to a trace: a thread that drains, decodes and appends, and the totals at the
 * end.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/calls/file_choice.h"
#include "capture/session/session.h"
#include "trace/write/writer.h"

struct limits;
struct markers;
struct python_live;
struct recorder;
struct unwinder;

/* State of a recording, or how it ended. */
struct recorder_status {
	uint64_t events;       /* as counted by the kernel */
	uint64_t lost;	       /* of these, including those that could not be written */
	uint64_t summed;       /* operations in sums, without events; at the last reading */
	uint64_t not_followed; /* setuid programs */
	uint64_t written_bytes;
	uint64_t duration_ns; /* set at the end, as in the trace */
	int write_error;      /* 0, or the negative errno of the first failed write */
	bool counted;	      /* events and lost are known */
	bool ended;	      /* the trace has its totals */
};

struct recorder_options {
	const char *path;	     /* the trace's name in messages */
	struct markers *markers;     /* NULL for none */
	struct python_live *live;    /* reads stacks of blocked threads; NULL for none */
	struct unwinder *unwinder;   /* NULL: stacks are those of Python only */
	const struct limits *limits; /* of the command; NULL: none */
	uint64_t interval_ns;	     /* how often sums are read */
	struct file_globs globs;     /* files to record */
};

/* Starts draining. The caller keeps the session, the writer, and what the options point to. */
int recorder_start(struct recorder **recorder, struct session *session, struct trace_writer *writer,
		   const struct recorder_options *options);

void recorder_status(struct recorder *recorder, struct recorder_status *status);

/*
 * Ends the thread, drains the rest, and ends the trace with its totals. Must run after
 * session_detach. `end_ns` is when the command ended; the time to detach does not count.
 * `survivors` are pids. Returns 0 or a negative errno if the trace could not be ended.
 */
int recorder_finish(struct recorder *recorder, uint64_t end_ns, int exit_code,
		    const uint64_t *survivors, size_t survivor_count,
		    struct recorder_status *status);

void recorder_close(struct recorder *recorder); /* NULL is fine */
