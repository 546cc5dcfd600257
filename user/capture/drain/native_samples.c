/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Keeps samples in order until their stacks are unwound. */
#include "capture/drain/native_samples.h"

#include <stdlib.h>

#include "capture/drain/decode_state.h"
#include "capture/host/host.h"
#include "capture/native/mix.h"
#include "capture/native/unwinder.h"
#include "capture/python/frames.h"

/* At the end of a recording. */
#define LAST_WAIT_NS 10000000000ull

#define MISSING_PYTHON (TRACE_SAMPLE_NO_PYTHON | TRACE_SAMPLE_NO_THREAD | TRACE_SAMPLE_NO_FRAME)

struct native_samples {
	struct unwinder *unwinder;
	struct python_frames *frames;
	struct native_counts counts;
	/* In the order of the unwinder's answers. */
	struct waiting_sample waiting[UNWIND_SLOTS];
	uint32_t first, end;		  /* counted up forever */
	uint32_t rows[NATIVE_FRAMES_MAX]; /* of native frames; 0: none yet */
	uint8_t flags[NATIVE_FRAMES_MAX];
};

struct native_samples *native_samples_make(struct unwinder *unwinder, struct python_frames *frames)
{
	struct native_samples *samples = calloc(1, sizeof(*samples));

	if (!samples)
		return NULL;
	samples->unwinder = unwinder;
	samples->frames = frames;
	return samples;
}

void native_samples_free(struct native_samples *samples)
{
	free(samples);
}

/* Replaces the Python-only reason: a native stack was possible, too. */
static void set_missing(struct waiting_sample *sample, uint32_t flag)
{
	if (!sample->stack)
		sample->row[SAMPLE_FLAGS] =
			(sample->row[SAMPLE_FLAGS] & ~(uint64_t)MISSING_PYTHON) | flag;
}

bool native_samples_take(struct native_samples *samples, const struct event_sample *record,
			 struct waiting_sample *sample)
{
	const struct event_native_sample *event = (const struct event_native_sample *)record;

	if (record->header.size < sizeof(*event) ||
	    !unwinder_ask(samples->unwinder, record->header.pid, record->header.tid,
			  &event->copy)) {
		samples->counts.dropped++;
		set_missing(sample, TRACE_SAMPLE_LOST);
		return false;
	}
	samples->waiting[samples->end++ % UNWIND_SLOTS] = *sample;
	return true;
}

/* --- rows --- */

/* Returns the row of a native frame, which is appended if it is new; 0: none. */
static uint32_t native_row(struct native_samples *samples, struct trace_writer *writer,
			   const struct waiting_sample *sample, uint32_t frame, uint32_t *flags)
{
	struct native_name name;

	*flags = 0;
	if (!frame || frame > NATIVE_FRAMES_MAX)
		return 0;
	if (!samples->rows[frame - 1] && unwinder_name(samples->unwinder, frame, &name)) {
		const struct python_line line = { name.path, name.function, name.path_bytes,
						  name.function_bytes, 0 };

		samples->flags[frame - 1] = name.flags;
		samples->rows[frame - 1] = python_frames_add(samples->frames, writer, sample->ring,
							     sample->row[SAMPLE_TIME], &line);
	}
	*flags = samples->flags[frame - 1];
	return samples->rows[frame - 1];
}

/* Fills in the row's stack, without frames that have no name for lack of room. */
static void put_stack(struct native_samples *samples, struct trace_writer *writer,
		      struct waiting_sample *sample, struct unwound *unwound,
		      const struct kept_stack *python)
{
	uint32_t frames[UNWIND_FRAMES_MAX], flags[UNWIND_FRAMES_MAX];
	uint32_t mixed[UNWIND_FRAMES_MAX + PYTHON_FRAMES_MAX], stack = 0;
	struct mix_native native = { frames, flags, 0 };
	struct mix_python inside = { .count = 0 };
	bool reached, all_named = true;
	size_t count;

	for (uint32_t i = 0; i < unwound->count; i++) {
		const uint32_t row = native_row(samples, writer, sample, unwound->frames[i],
						&flags[native.count]);

		if (row)
			frames[native.count++] = row;
		all_named &= row != 0;
	}
	if (python)
		inside = (struct mix_python) { python->frames, python->entries, python->count };
	count = mix_frames(&native, &inside, mixed, &reached);
	while (count)
		stack = python_frames_push(samples->frames, writer, sample->ring,
					   sample->row[SAMPLE_TIME], stack, mixed[--count]);
	if (!all_named)
		unwound->status = UNWIND_FAILED;
	if (!stack && unwound->count)
		set_missing(sample, TRACE_SAMPLE_LOST);
	if (python ? unwound->count && !(reached && all_named)
		   : stack && unwound->status != UNWIND_WHOLE)
		sample->row[SAMPLE_FLAGS] |= TRACE_SAMPLE_CUT;
	sample->row[SAMPLE_STACK] = stack;
}

static void count_status(struct native_counts *counts, enum unwind_status status)
{
	counts->whole += status == UNWIND_WHOLE;
	counts->cut += status == UNWIND_CUT;
	counts->failed += status == UNWIND_FAILED;
}

/* Appends the row of the oldest sample. Returns false if something that it needs may still come. */
static bool settle_first(struct native_samples *samples, struct trace_writer *writer, bool wait,
			 uint64_t end_ns)
{
	struct waiting_sample *sample = &samples->waiting[samples->first % UNWIND_SLOTS];
	const struct kept_stack *python;
	struct unwound unwound = { .count = 0 };
	bool answered;

	python_frames_make_room(samples->frames);
	python = sample->stack ? python_frames_rows(samples->frames, writer, sample->ring,
						    sample->row[SAMPLE_TIME], sample->stack)
			       : NULL;
	if (sample->stack && !python) {
		if (!wait && samples->end - samples->first < UNWIND_SLOTS / 2)
			return false;
		sample->row[SAMPLE_FLAGS] |= TRACE_SAMPLE_LOST;
	}
	answered = unwinder_wait(samples->unwinder, end_ns);
	if (!answered) {
		if (!wait && !unwinder_has_ended(samples->unwinder))
			return false;
		samples->counts.dropped++;
		set_missing(sample, TRACE_SAMPLE_LOST);
	} else {
		unwinder_take(samples->unwinder, &unwound);
		if (!unwound.count)
			set_missing(sample, TRACE_SAMPLE_UNREAD);
	}
	put_stack(samples, writer, sample, &unwound, python);
	if (answered)
		count_status(&samples->counts, unwound.status);
	trace_writer_append(writer, TRACE_SAMPLE, sample->ring, sample->row);
	samples->first++;
	return true;
}

void native_samples_settle(struct native_samples *samples, struct trace_writer *writer, bool wait)
{
	const uint64_t end_ns = wait ? host_now_ns() + LAST_WAIT_NS : 0;

	while (samples->first != samples->end && settle_first(samples, writer, wait, end_ns))
		;
}

struct native_counts native_samples_counts(const struct native_samples *samples)
{
	return samples ? samples->counts : (struct native_counts) { 0 };
}
