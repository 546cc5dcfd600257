/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The thread between the rings and the trace. Knows nothing of records or columns.
 */
#include "capture/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "capture/calls.h"
#include "capture/decode.h"
#include "capture/host.h"
#include "capture/markers.h"
#include "log.h"

/* How long to sleep between drains: short while records come fast, so that the rings stay small in
 * the cache; longer when idle, but a ring must not fill up meanwhile. */
#define SLEEP_MIN_NS 2000000
#define SLEEP_MAX_NS 20000000
#define BUSY_RECORDS 256

struct recorder {
	struct session *session;
	struct trace_writer *writer;
	struct decoder *decoder;
	pthread_t thread;
	bool started;
	atomic_bool stop;
	_Atomic uint64_t written_bytes;
	_Atomic int write_error;
};

static void look_at_writer(struct recorder *recorder, int status)
{
	atomic_store(&recorder->written_bytes, trace_writer_bytes(recorder->writer));
	if (!status || atomic_load(&recorder->write_error))
		return;
	atomic_store(&recorder->write_error, status);
	log_error("cannot write the trace any further: %s; the command goes on, what comes now is "
		  "counted but not kept",
		  strerror(-status));
}

static void *drain(void *context)
{
	struct recorder *recorder = context;
	long sleep_ns = SLEEP_MIN_NS;

	while (!atomic_load(&recorder->stop)) {
		size_t records = session_drain(recorder->session, decoder_take, recorder->decoder);
		struct timespec pause = { 0 };

		look_at_writer(recorder, trace_writer_tick(recorder->writer, host_now_ns()));
		if (records >= BUSY_RECORDS)
			sleep_ns = SLEEP_MIN_NS;
		else if (sleep_ns < SLEEP_MAX_NS)
			sleep_ns += SLEEP_MIN_NS;
		pause.tv_nsec = sleep_ns;
		nanosleep(&pause, NULL);
	}
	while (session_drain(recorder->session, decoder_take, recorder->decoder))
		;
	return NULL;
}

int recorder_start(struct recorder **out, struct session *session, struct trace_writer *writer,
		   struct markers *markers)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err = -ENOMEM;

	if (!recorder)
		goto fail;
	recorder->session = session;
	recorder->writer = writer;
	err = decoder_open(&recorder->decoder, writer, session_lane_count(session),
			   sysconf(_SC_PAGESIZE));
	if (err)
		goto fail;
	if (markers)
		decoder_tell_code(recorder->decoder, markers_look, markers);
	err = -pthread_create(&recorder->thread, NULL, drain, recorder);
	if (err)
		goto fail;
	recorder->started = true;
	*out = recorder;
	return 0;
fail:
	log_error("cannot start recording: %s", strerror(-err));
	recorder_close(recorder);
	return err;
}

/* --- totals --- */

struct counts {
	struct op_total operations[OP_TABLE_SIZE];
	struct kind_total kinds[EVENT_KIND_COUNT];
	uint64_t notes[NOTE_COUNT];
	struct trace_operation_total totals[OP_TABLE_SIZE];
	struct trace_kind_total kind_totals[EVENT_KIND_COUNT + LAYER_COUNT];
};

static void sum_status(struct recorder *recorder, const struct counts *counts,
		       struct recorder_status *status)
{
	memset(status, 0, sizeof(*status));
	for (int kind = EVENT_NONE + 1; kind < EVENT_KIND_COUNT; kind++) {
		status->events += counts->kinds[kind].events;
		status->lost += counts->kinds[kind].lost;
	}
	status->lost += counts->notes[NOTE_UNFOLLOWED];
	status->not_followed = counts->notes[NOTE_PRIVILEGED];
	status->written_bytes = atomic_load(&recorder->written_bytes);
	status->write_error = atomic_load(&recorder->write_error);
}

void recorder_status(struct recorder *recorder, struct recorder_status *status)
{
	struct counts *counts = calloc(1, sizeof(*counts));

	memset(status, 0, sizeof(*status));
	if (counts &&
	    !session_totals(recorder->session, counts->operations, counts->kinds, counts->notes))
		sum_status(recorder, counts, status);
	free(counts);
}

static void fill_totals(struct recorder *recorder, struct counts *counts,
			struct trace_totals *totals)
{
	unsigned int page_bytes = sysconf(_SC_PAGESIZE);
	size_t n = 0;

	calls_operations(&totals->operation_count);
	for (size_t i = 0; i < totals->operation_count; i++) {
		const struct op_total *from = &counts->operations[i];

		counts->totals[i] = (struct trace_operation_total) {
			.count = from->count,
			.errors = from->errors,
			.bytes = from->bytes,
			.thread_time_ns = from->time_ns,
			.fetched_bytes = from->fetched_pages * page_bytes,
		};
	}
	totals->operations = counts->totals;
	for (int kind = EVENT_NONE + 1; kind < EVENT_KIND_COUNT; kind++) {
		enum trace_kind rows = decoder_kind(kind);
		uint64_t discarded = 0;

		if (rows != TRACE_KIND_COUNT)
			discarded = trace_writer_discarded(recorder->writer, rows);
		counts->kind_totals[n++] = (struct trace_kind_total) {
			.kind = decoder_kind_name(kind),
			.layer = decoder_kind_layer(kind),
			.events = counts->kinds[kind].events,
			.written =
				counts->kinds[kind].events - counts->kinds[kind].lost - discarded,
			.lost = counts->kinds[kind].lost + discarded,
		};
	}
	for (int layer = 0; layer < LAYER_COUNT; layer++) {
		uint64_t missed = session_missed(recorder->session, layer);

		if (missed)
			counts->kind_totals[n++] = (struct trace_kind_total) {
				.kind = "missed",
				.layer = layer_names[layer],
				.events = missed,
				.lost = missed,
			};
	}
	totals->kinds = counts->kind_totals;
	totals->kind_count = n;
}

int recorder_finish(struct recorder *recorder, uint64_t end_ns, int exit_code,
		    const uint64_t *survivors, size_t survivor_count,
		    struct recorder_status *status)
{
	struct trace_totals totals = { .end_ns = end_ns,
				       .exit_code = exit_code,
				       .survivors = survivors,
				       .survivor_count = survivor_count };
	struct counts *counts = calloc(1, sizeof(*counts));
	int err = -ENOMEM;

	atomic_store(&recorder->stop, true);
	pthread_join(recorder->thread, NULL);
	recorder->started = false;
	if (!counts)
		goto out;
	look_at_writer(recorder, trace_writer_flush(recorder->writer));
	err = session_totals(recorder->session, counts->operations, counts->kinds, counts->notes);
	if (err) {
		log_error("cannot read the kernel's totals: %s", strerror(-err));
		goto out;
	}
	totals.start_ns = decoder_start_ns(recorder->decoder);
	fill_totals(recorder, counts, &totals);
	err = trace_writer_finish(recorder->writer, &totals);
	look_at_writer(recorder, err);
	sum_status(recorder, counts, status);
	status->lost = counts->notes[NOTE_UNFOLLOWED];
	for (size_t i = 0; i < totals.kind_count; i++)
		status->lost += totals.kinds[i].lost;
	log_debug(
		"counters: %llu children not followed, %llu faults without a start, %llu mappings "
		"not found",
		(unsigned long long)counts->notes[NOTE_UNFOLLOWED],
		(unsigned long long)counts->notes[NOTE_FAULT_UNPAIRED],
		(unsigned long long)counts->notes[NOTE_VMA_MISSED]);
out:
	free(counts);
	return err;
}

void recorder_close(struct recorder *recorder)
{
	if (!recorder)
		return;
	if (recorder->started) {
		atomic_store(&recorder->stop, true);
		pthread_join(recorder->thread, NULL);
	}
	decoder_close(recorder->decoder);
	free(recorder);
}
