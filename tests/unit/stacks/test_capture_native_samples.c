// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Rows of samples, with the unwinder replaced by one whose room for names is used up. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "capture/drain/decode_state.h"
#include "capture/drain/native_samples.h"
#include "capture/native/unwinder.h"
#include "capture/python/frames.h"
#include "trace/format/flags.h"
#include "trace_sample.h"

/* --- the unwinder --- */

static struct unwound answer;

bool unwinder_ask(struct unwinder *unwinder, uint32_t pid, uint32_t tid,
		  const struct native_copy *copy)
{
	return true;
}

bool unwinder_has_ended(struct unwinder *unwinder)
{
	return false;
}

bool unwinder_wait(struct unwinder *unwinder, uint64_t end_ns)
{
	return true;
}

bool unwinder_take(struct unwinder *unwinder, struct unwound *unwound)
{
	*unwound = answer;
	return true;
}

bool unwinder_name(const struct unwinder *unwinder, uint32_t frame, struct native_name *name)
{
	*name = (struct native_name) { "libx.so", "work", strlen("libx.so"), strlen("work"), 0 };
	return true;
}

/* --- rows --- */

static void take(struct native_samples *samples, struct trace_writer *writer, uint32_t outermost)
{
	static struct event_native_sample record;
	struct waiting_sample sample = { .ring = 0 };

	record.sample.header.size = sizeof(record);
	answer = (struct unwound) { UNWIND_WHOLE, 2, { 1, outermost } };
	assert_true(native_samples_take(samples, &record.sample, &sample));
	native_samples_settle(samples, writer, true);
}

/* A stack with frames that have no name is not whole. */
TEST(test_no_room)
{
	const struct trace_writer_options options = { .lanes = 1 };
	struct python_frames *frames = python_frames_make();
	struct native_samples *samples = native_samples_make(NULL, frames);
	struct sample_bytes bytes;
	struct trace_writer *writer;
	struct trace_reader *reader;
	struct trace_error error;
	const uint64_t *flags;
	size_t block = 0;
	int fd = sample_memory_file();

	assert_non_null(samples);
	assert_int_equal(trace_writer_open(&writer, fd, &sample_header, &options), 0);
	take(samples, writer, 2);
	take(samples, writer, 0);
	assert_int_equal(native_samples_counts(samples).whole, 1);
	assert_int_equal(native_samples_counts(samples).failed, 1);
	assert_int_equal(trace_writer_flush(writer), 0);
	bytes = sample_read_fd(fd);
	reader = sample_reader(bytes.bytes, bytes.length);
	while (trace_reader_block_info(reader, block)->kind != TRACE_SAMPLE)
		block++;
	assert_int_equal(trace_reader_read(reader, block, UINT64_MAX, &error), 0);
	flags = trace_reader_column(reader, SAMPLE_FLAGS);
	assert_int_equal(flags[0], 0);
	assert_int_equal(flags[1], TRACE_SAMPLE_CUT);
	trace_reader_close(reader);
	trace_writer_close(writer);
	native_samples_free(samples);
	python_frames_free(frames);
	free(bytes.bytes);
	close(fd);
}
