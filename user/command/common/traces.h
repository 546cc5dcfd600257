/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Shared by the commands that read traces: opening them, and reporting that stdout failed. */
#pragma once

#include <stdbool.h>

#include "trace/read/reader.h"

/* Opens a trace; a line on stderr says why it cannot be read, or that it is incomplete. Returns 0
 * or an exit status. */
int traces_open_one(struct trace_reader **reader, const char *path);

/* The same for several, which must all be different files. `readers` has room for them; call
 * traces_close whatever this returned. */
int traces_open(struct trace_reader **readers, char *const *paths, size_t count);
void traces_close(struct trace_reader **readers, size_t count);

/* Returns whether one of them is a summary, which has no events. A line on stderr says which, and
 * what can read it. */
bool traces_refuse_summaries(struct trace_reader *const *readers, char *const *paths, size_t count,
			     const char *what);

/* Finds the newest trace in this directory, for a command that is given none. Returns its name,
 * which the caller frees and which is also logged; NULL after a line that says that none was
 * given. */
char *traces_newest(const char *command);

/* Reports what could not be read of a trace. Returns 0, or EXIT_FAILED if there is any such part:
 * the rest was read, but the user should know. */
int traces_emit_unread(struct trace_reader *reader, const char *path);
int traces_emit_all_unread(struct trace_reader *const *readers, const char *const *paths,
			   size_t count);

/* For report_options.skip, with a bool as its context: names a summary that is left out, and sets
 * the bool. */
void traces_skip(void *context, const char *why);

/* Reports that stdout could not be written; returns the exit status. */
int output_failed(int error);
