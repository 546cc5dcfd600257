/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Turns rows into events: the columns and the decoder of each row kind. */
#include "analysis/events/event.h"

#include "analysis/events/event_decode.h"

/* For each row kind: the decoder, and the columns that events need. Other kinds only name things,
 * or are rows of a summary, which are not events even if a forged trace has them among events. */
static const struct {
	void (*decode)(const struct event_chunk *chunk, struct event *events, size_t *count);
	uint64_t columns;
} kinds[TRACE_KIND_COUNT] = {
	[TRACE_SYSCALL] = { event_decode_calls, EVENT_CALL_COLUMNS },
	[TRACE_SYSCALL_PATH] = { event_decode_calls,
				 EVENT_CALL_COLUMNS | 1ull << SYSCALL_PATH_FILE2 },
	[TRACE_ASYNC] = { event_decode_calls, EVENT_CALL_COLUMNS | 1ull << SYSCALL_PATH_FILE2 },
	[TRACE_FAULT] = { event_decode_faults,
			  1ull << FAULT_DUR | 1ull << FAULT_PID | 1ull << FAULT_TID |
				  1ull << FAULT_FILE | 1ull << FAULT_OFFSET | 1ull << FAULT_FLAGS |
				  1ull << FAULT_FETCHED | 1ull << FAULT_DIRTIED },
	[TRACE_PAGECACHE] = { event_decode_pagecache,
			      1ull << PAGECACHE_FILE | 1ull << PAGECACHE_BYTES |
				      1ull << PAGECACHE_CREATED | 1ull << PAGECACHE_CALL },
	[TRACE_EXEC] = { event_decode_execs, 1ull << EXEC_PID },
	[TRACE_EXIT] = { event_decode_exits, 1ull << EXIT_PID | 1ull << EXIT_PROCESS },
	[TRACE_SPAN_BEGIN] = { event_decode_span_begins,
			       1ull << SPAN_BEGIN_PID | 1ull << SPAN_BEGIN_TID |
				       1ull << SPAN_BEGIN_ID | 1ull << SPAN_BEGIN_NAME |
				       1ull << SPAN_BEGIN_CATEGORY },
	[TRACE_SPAN_END] = { event_decode_span_ends,
			     1ull << SPAN_END_PID | 1ull << SPAN_END_TID | 1ull << SPAN_END_ID },
	[TRACE_INSTANT] = { event_decode_instants, 1ull << INSTANT_PID | 1ull << INSTANT_TID |
							   1ull << INSTANT_NAME |
							   1ull << INSTANT_CATEGORY },
	[TRACE_THROTTLE] = { event_decode_throttles, 1ull << THROTTLE_PAUSE | 1ull << THROTTLE_PID |
							     1ull << THROTTLE_TID |
							     1ull << THROTTLE_FILE },
	[TRACE_REQUEST] = { event_decode_requests,
			    1ull << REQUEST_DUR | 1ull << REQUEST_PID | 1ull << REQUEST_TID |
				    1ull << REQUEST_OP | 1ull << REQUEST_FILE |
				    1ull << REQUEST_OWN_BYTES | 1ull << REQUEST_STATUS |
				    1ull << REQUEST_FLAGS },
	[TRACE_BIO] = { event_decode_bios, 1ull << BIO_DUR | 1ull << BIO_PID | 1ull << BIO_TID |
						   1ull << BIO_OP | 1ull << BIO_FILE |
						   1ull << BIO_OFFSET | 1ull << BIO_BYTES },
	[TRACE_DEVICE] = { event_decode_devices, 0 },
	[TRACE_PROFILE] = { event_decode_profile, (1ull << PROFILE_COLUMNS) - 1 },
	[TRACE_PROFILE_CLASS] = { event_decode_classes, (1ull << PROFILE_CLASS_COLUMNS) - 1 },
	[TRACE_VFS] = { event_decode_vfs, 1ull << VFS_DUR | 1ull << VFS_PID | 1ull << VFS_TID |
						  1ull << VFS_OP | 1ull << VFS_FILE |
						  1ull << VFS_OFFSET | 1ull << VFS_ASKED |
						  1ull << VFS_RESULT | 1ull << VFS_FLAGS },
	[TRACE_THREAD_TIME] = { event_decode_threads, 1ull << THREAD_TIME_DUR |
							      1ull << THREAD_TIME_PID |
							      1ull << THREAD_TIME_TID },
	[TRACE_WAIT] = { event_decode_threads,
			 1ull << WAIT_DUR | 1ull << WAIT_PID | 1ull << WAIT_TID },
	[TRACE_SAMPLE] = { event_decode_samples, 1ull << SAMPLE_DUR | 1ull << SAMPLE_PID |
							 1ull << SAMPLE_TID | 1ull << SAMPLE_OP |
							 1ull << SAMPLE_FILE },
	[TRACE_REMOTE] = { event_decode_remote,
			   1ull << REMOTE_DUR | 1ull << REMOTE_PID | 1ull << REMOTE_TID |
				   1ull << REMOTE_OP | 1ull << REMOTE_FILE | 1ull << REMOTE_OFFSET |
				   1ull << REMOTE_BYTES | 1ull << REMOTE_ERROR },
};

uint64_t event_columns(enum trace_kind kind)
{
	return kinds[kind].columns | 1ull << TRACE_COL_TIME;
}

void event_decode(const struct event_chunk *chunk, struct event *events, size_t *count)
{
	if (kinds[chunk->block->kind].decode)
		kinds[chunk->block->kind].decode(chunk, events, count);
	else
		event_decode_names(chunk, events, count);
}

/* Replaces the string ids of a span or instant with its label. */
static int resolve_label(struct job *job, struct event *event)
{
	uint64_t name = event->name, category = event->category;

	event->name = event->category = 0;
	return labels_find(&job->labels, event->block->trace, name, category, &event->label);
}

int event_resolve(struct job *job, struct event *events, size_t count)
{
	int status = 0;

	for (struct event *event = events; event < events + count && !status; event++) {
		status = process_table_find(&job->processes, event->block->trace, event->process,
					    event->start, &event->process);
		if (!status && event->flags & (EVENT_SPAN_BEGIN | EVENT_INSTANT))
			status = resolve_label(job, event);
	}
	return status;
}

uint64_t event_device(const struct event *event)
{
	static const struct {
		unsigned int dev, instance;
	} columns[TRACE_KIND_COUNT] = {
		[TRACE_REQUEST] = { REQUEST_DEV, REQUEST_INSTANCE },
		[TRACE_REMOTE] = { REMOTE_DEV, REMOTE_INSTANCE },
		[TRACE_BIO] = { BIO_DEV, BIO_INSTANCE },
		[TRACE_DEVICE] = { DEVICE_DEV, DEVICE_INSTANCE },
	};
	const enum trace_kind kind = event_kind(event);

	return device_of(event_value(event, columns[kind].dev),
			 event_value(event, columns[kind].instance));
}
