/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Samples that wait for their stacks to be unwound. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/records/event.h"
#include "trace/write/writer.h"

struct native_samples;
struct python_frames;
struct unwinder;
struct waiting_sample;

struct native_counts {
	uint64_t whole;	  /* stacks up to their outermost frame */
	uint64_t cut;	  /* stacks that are deeper than the copy */
	uint64_t failed;  /* stacks that lack frames for another reason */
	uint64_t dropped; /* samples that were not unwound for lack of room or time */
};

/* The caller keeps both. Returns NULL if out of memory. */
struct native_samples *native_samples_make(struct unwinder *unwinder, struct python_frames *frames);
void native_samples_free(struct native_samples *samples); /* NULL is fine */

/* Takes a sample; `record` is the one that it is from. Returns false if its row has to be written
 * without native frames. */
bool native_samples_take(struct native_samples *samples, const struct event_sample *record,
			 struct waiting_sample *sample);
/* Appends the rows whose stacks have been unwound; with `wait`, all of them. */
void native_samples_settle(struct native_samples *samples, struct trace_writer *writer, bool wait);

struct native_counts native_samples_counts(const struct native_samples *samples);
