/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Makes an almost empty trace in memory. */
#include "command/common/no_trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/calls/calls.h"
#include "capture/support/probes.h"
#include "trace/write/writer.h"

/* A compute span: without one, I/O has nothing to overlap with, and no columns for it. */
static int write_span(struct trace_writer *writer)
{
	const uint64_t begin[SPAN_BEGIN_COLUMNS] = {
		[SPAN_BEGIN_TIME] = 1,
		[SPAN_BEGIN_PID] = 1,
		[SPAN_BEGIN_TID] = 1,
		[SPAN_BEGIN_ID] = 1,
		[SPAN_BEGIN_CATEGORY] = trace_writer_string(writer, "compute", strlen("compute")),
	};
	const uint64_t end[SPAN_END_COLUMNS] = {
		[SPAN_END_TIME] = 2,
		[SPAN_END_PID] = 1,
		[SPAN_END_TID] = 1,
		[SPAN_END_ID] = 1,
	};
	int err = trace_writer_append(writer, TRACE_SPAN_BEGIN, 0, begin);

	return err ? err : trace_writer_append(writer, TRACE_SPAN_END, 0, end);
}

static int write_nothing(int fd)
{
	struct trace_layer layers[LAYER_COUNT];
	struct trace_header header = { .version = TRACE_VERSION,
				       .layers = layers,
				       .layer_count = LAYER_COUNT };
	struct trace_totals totals = { .start_ns = 1, .end_ns = 2 };
	struct trace_operation_total *none;
	struct trace_writer *writer;
	int err;

	for (size_t i = 0; i < LAYER_COUNT; i++)
		layers[i] = (struct trace_layer) { .name = layer_names[i], .on = true };
	header.operations = calls_operations(&header.operation_count);
	totals.operations = none = calloc(header.operation_count, sizeof(*none));
	totals.operation_count = header.operation_count;
	if (!none)
		return -ENOMEM;
	err = trace_writer_open(&writer, fd, &header, NULL);
	if (!err) {
		err = write_span(writer);
		if (!err)
			err = trace_writer_finish(writer, &totals);
		trace_writer_close(writer);
	}
	free(none);
	return err;
}

int no_trace_open(struct trace_reader **reader)
{
	int fd = memfd_create("no trace", MFD_CLOEXEC), err;
	char path[64];

	if (fd < 0)
		return -errno;
	err = write_nothing(fd);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!err)
		err = trace_reader_open(reader, path, NULL);
	close(fd);
	return err;
}
