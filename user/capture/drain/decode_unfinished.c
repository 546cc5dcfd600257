/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads the stacks of operations and waits that have not ended when the recording does. */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "capture/drain/decode_state.h"
#include "capture/python/frames.h"
#include "trace/format/flags.h"

#define STACKS_WITHIN_MS 2000

/* Not counted as taken: the kernel side did not send it. */
static void take_record(void *context, const void *record, size_t size)
{
	const struct event_header *header = record;

	if ((header->kind == RECORD_FRAME || header->kind == RECORD_STACK) &&
	    decoder_is_whole(record, size))
		decode_kinds[header->kind].take(context, 0, record);
}

static void read_stacks(struct decoder *decoder, struct python_live *live,
			struct live_thread *threads, size_t count)
{
	const int err =
		python_live_read(live, STACKS_WITHIN_MS, python_frames_generation(decoder->frames),
				 threads, count, take_record, decoder);

	if (err == -ETIMEDOUT)
		log_warning("could not read the stacks of all blocked threads within %d s",
			    STACKS_WITHIN_MS / 1000);
	else if (err == -EPIPE)
		log_warning("could not read the stacks of blocked threads: the process that reads "
			    "them has ended");
}

void decoder_read_unfinished(struct decoder *decoder, struct python_live *live)
{
	const size_t count = decoder->unfinished_count;
	struct live_thread *threads = calloc(count + 1, sizeof(*threads));

	for (size_t i = 0; threads && i < count; i++)
		threads[i] = decoder->unfinished[i].thread;
	if (threads)
		read_stacks(decoder, live, threads, count);
	for (size_t i = 0; i < count; i++) {
		struct waiting_sample *sample = &decoder->unfinished[i].sample;

		sample->row[SAMPLE_FLAGS] |= threads ? threads[i].flags : TRACE_SAMPLE_UNREAD;
		sample->row[SAMPLE_STACK] = decoder_stack(decoder, sample->ring,
							  sample->row[SAMPLE_TIME], sample->stack);
		decoder_append_sample(decoder, sample);
	}
	free(threads);
	decoder->unfinished_count = 0;
}
