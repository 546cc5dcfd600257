/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From what was added to slots to rows of the trace. Knows nothing of how slots are read.
 */
#ifndef FAULTLINE_PROFILE_ROWS_H
#define FAULTLINE_PROFILE_ROWS_H

#include <stdbool.h>

#include "bpf/event.h"
#include "capture/file_choice.h"
#include "trace/writer.h"

struct profile_rows {
	struct trace_writer *writer;
	unsigned int page_bytes;
	struct file_choice *choice; /* NULL: all files are kept */
	/* Takes the file records that have arrived; those of the slots being read are among them.
	 */
	void (*take_names)(void *context);
	void *context;
	bool other_named; /* the file that stands for all others has its row */
};

/* Writes a row of sums, and one for each class of durations and sizes that has any; a
 * profile_take_fn. */
void profile_rows_take(void *rows, const struct profile_slot *added);

#endif
