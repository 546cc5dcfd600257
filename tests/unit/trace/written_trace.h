/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Trace writers with the sample's header, and reading back what they wrote. Include after cmocka.h.
 */
#pragma once

#include "trace_sample.h"

#define WRITTEN __attribute__((unused)) static

WRITTEN struct trace_writer *open_writer(int fd, unsigned int lanes)
{
	const struct trace_writer_options options = { .lanes = lanes };
	struct trace_writer *writer;

	assert_int_equal(trace_writer_open(&writer, fd, &sample_header, &options), 0);
	return writer;
}

WRITTEN struct trace_reader *open_reader(const struct sample_bytes *sample)
{
	return sample_reader(sample->bytes, sample->length);
}

WRITTEN const uint64_t *read_column(struct trace_reader *reader, size_t block, unsigned int column)
{
	struct trace_error error;

	if (trace_reader_read(reader, block, 1ull << column, &error))
		fail_msg("%s", error.text);
	return trace_reader_column(reader, column);
}

/* A syscall row with only the values that determine its block. */
WRITTEN void append_call(struct trace_writer *writer, unsigned int lane, uint64_t time,
			 uint64_t duration)
{
	const uint64_t row[SYSCALL_COLUMNS] = { [SYSCALL_TIME] = time, [SYSCALL_DUR] = duration };

	assert_int_equal(trace_writer_append(writer, TRACE_SYSCALL, lane, row), 0);
}

/* Ends the trace and opens it; the caller frees `sample`. */
WRITTEN struct trace_reader *finish(struct trace_writer *writer, int fd,
				    struct sample_bytes *sample)
{
	assert_int_equal(trace_writer_finish(writer, &sample_totals), 0);
	trace_writer_close(writer);
	*sample = sample_read_fd(fd);
	close(fd);
	return open_reader(sample);
}
