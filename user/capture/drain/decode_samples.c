/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Samples and their stacks. A sample may come before the record of its stack; the stacks of
 * operations and waits that have not ended are read once all records have come.
 */
#include "collections/grow.h"
#include "capture/drain/decode_state.h"
#include "capture/python/frames.h"
#include "trace/format/flags.h"

#define STACKS_FIRST 0x80000000u /* the kernel side does not count so far */

uint32_t decoder_stack(struct decoder *decoder, unsigned int ring, uint64_t time_ns, uint32_t id)
{
	const struct kept_stack *stack =
		python_frames_rows(decoder->frames, decoder->writer, ring, time_ns, id);

	return stack ? stack->row : 0;
}

void decoder_append_sample(struct decoder *decoder, const struct waiting_sample *sample)
{
	const uint64_t flags = sample->row[SAMPLE_FLAGS];

	if (flags & (TRACE_SAMPLE_UNREAD | TRACE_SAMPLE_LOST | TRACE_SAMPLE_MANY_THREADS))
		decoder->python_counts.failed++;
	else if (flags & TRACE_SAMPLE_CUT)
		decoder->python_counts.cut++;
	else if (sample->row[SAMPLE_STACK])
		decoder->python_counts.whole++;
	trace_writer_append(decoder->writer, TRACE_SAMPLE, sample->ring, sample->row);
}

struct python_counts decoder_python_counts(const struct decoder *decoder)
{
	return decoder->python_counts;
}

/* Returns false while the record of its stack may still come: a record that another CPU is writing
 * holds back the later ones. */
static bool write_sample(struct decoder *decoder, struct waiting_sample *sample, bool wait)
{
	uint32_t stack =
		decoder_stack(decoder, sample->ring, sample->row[SAMPLE_TIME], sample->stack);

	if (sample->stack && !stack) {
		if (!wait)
			return false;
		sample->row[SAMPLE_FLAGS] |= TRACE_SAMPLE_LOST;
	}
	sample->row[SAMPLE_STACK] = stack;
	decoder_append_sample(decoder, sample);
	return true;
}

void decoder_settle_samples(struct decoder *decoder, bool wait)
{
	size_t left = 0;

	for (size_t i = 0; i < decoder->waiting_samples_count; i++)
		if (!write_sample(decoder, &decoder->waiting_samples[i], wait))
			decoder->waiting_samples[left++] = decoder->waiting_samples[i];
	decoder->waiting_samples_count = left;
}

void decoder_write_sample(struct decoder *decoder, struct waiting_sample *sample)
{
	if (write_sample(decoder, sample, false))
		return;
	if (decoder->waiting_samples_count == WAITING_MAX)
		decoder_settle_samples(decoder, true);
	decoder->waiting_samples[decoder->waiting_samples_count++] = *sample;
}

static bool keep_unfinished(struct decoder *decoder, const struct event_sample *event,
			    const struct waiting_sample *sample)
{
	struct unfinished_sample *kept;

	if (decoder->unfinished_count == LIVE_THREADS_MAX ||
	    !GROW(decoder->unfinished, decoder->unfinished_room, decoder->unfinished_count + 1))
		return false;
	kept = &decoder->unfinished[decoder->unfinished_count];
	kept->sample = *sample;
	kept->sample.stack = STACKS_FIRST + decoder->unfinished_count++;
	kept->thread = (struct live_thread) {
		.pid = event->header.pid,
		.tid = event->header.tid,
		.tid_inside = event->tid_inside,
		.runs = event->runs,
		.thread_pointer = event->thread_pointer,
		.stack = kept->sample.stack,
	};
	return true;
}

void decoder_keep_unfinished(struct decoder *decoder, const struct event_sample *event,
			     struct waiting_sample *sample)
{
	if (keep_unfinished(decoder, event, sample))
		return;
	sample->row[SAMPLE_FLAGS] |= TRACE_SAMPLE_LOST;
	write_sample(decoder, sample, true);
}
