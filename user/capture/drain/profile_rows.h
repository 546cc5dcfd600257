/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes what was added to slots as rows of the trace. */
#pragma once

#include <stdbool.h>

#include "bpf/records/event.h"
#include "capture/calls/file_choice.h"
#include "trace/write/writer.h"

struct profile_rows {
	struct trace_writer *writer;
	unsigned int page_bytes;
	struct file_choice *choice; /* NULL: all files are kept */
	/* Takes the file records that have arrived, including those of the slots being read. */
	void (*take_names)(void *context);
	void *context;
	bool other_named; /* the row for other files has been written */
};

/* A profile_take_fn: writes a row of sums, and one for each non-empty class of durations and
 * sizes. */
void profile_rows_take(void *rows, const struct profile_slot *added);
