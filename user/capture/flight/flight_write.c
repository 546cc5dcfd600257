/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a trace of the flight recorder's events. Closed segments do not change and stay as long
 * as they are used: recording continues during the write.
 */
#include "capture/flight/flight_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/flight/flight_dump.h"
#include "capture/host/host.h"
#include "collections/compare.h"
#include "collections/grow.h"
#include "base/log.h"
#include "base/number.h"
#include "base/units.h"

#define DRAINS_WAIT_NS 2000000000ull
#define LOOK_AGAIN_NS 5000000ull

/* Caller holds the lock. Waits until a drain has begun and ended: everything sent before is then in
 * a closed segment. Returns -ETIMEDOUT if that takes too long. */
static int await_cut(struct flight *flight)
{
	uint64_t until = flight->drains + 2, end_ns = host_now_ns() + DRAINS_WAIT_NS;

	flight->cut_after = until;
	while (flight->drains < until && host_now_ns() < end_ns) {
		struct timespec deadline = host_after_ns(LOOK_AGAIN_NS);

		session_wake(flight->session);
		pthread_cond_clockwait(&flight->changed, &flight->lock, CLOCK_MONOTONIC, &deadline);
	}
	return flight->drains < until ? -ETIMEDOUT : 0;
}

struct past_order {
	struct flight_past *past;
	uint64_t from_ns;
	uint64_t before; /* events */
};

/* An older record may come after kept ones, if its ring was drained later: it belongs to the past,
 * too. The past takes it again when it is evicted, which changes nothing. */
static void sort_record(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct past_order *sorting = context;

	if (header->time_ns >= sorting->from_ns || flight_record_is_identity(header))
		return;
	sorting->before += flight_record_is_event(header);
	flight_past_take(sorting->past, ring, record, size);
}

/* Caller holds the lock. */
static int take_segments(struct flight *flight, struct flight_snapshot *snapshot)
{
	struct past_order sorting = { &flight->ring.past, flight->ring.from_ns, 0 };

	for (struct flight_segment *segment = flight->ring.first; segment;
	     segment = segment->next) {
		if (!GROW(snapshot->segments, snapshot->room, snapshot->count + 1))
			return -ENOMEM;
		segment->users++;
		snapshot->segments[snapshot->count++] = segment;
		flight_records_walk(&segment->records, sort_record, &sorting);
	}
	snapshot->from_ns = flight->ring.from_ns;
	snapshot->before = flight->ring.evicted + sorting.before;
	return 0;
}

/* Caller holds the lock. */
static int copy_state(struct flight *flight, struct flight_snapshot *snapshot)
{
	struct flight_names *names = &flight->ring.names;
	const struct flight_past *past = &flight->ring.past;
	/* Segments are numbered from 1, and one is left at least once there was one. */
	uint64_t oldest = snapshot->count ? snapshot->segments[0]->number : 1;
	uint64_t missing;

	for (size_t i = 0; i < snapshot->in_flight.count; i++) {
		const uint64_t file = snapshot->in_flight.rows[i].file;

		if (snapshot->in_flight.rows[i].flags & IN_FLIGHT_KEPT)
			flight_names_use(names, &file, 1, oldest);
	}
	flight_names_emit(names, oldest, &snapshot->names);
	flight_past_emit(past, snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns,
			 flight_records_add, &snapshot->past);
	missing = flight_names_missing(names);
	if (missing)
		log_warning(
			"flight recorder: %llu file references have no name: out of room for names",
			(unsigned long long)missing);
	if (past->refused)
		log_warning("flight recorder: %llu earlier processes, command lines, spans or "
			    "devices did not fit in memory and may be missing",
			    (unsigned long long)past->refused);
	snapshot->unfollowed = flight->unfollowed;
	return snapshot->names.incomplete || snapshot->past.incomplete ? -ENOMEM : 0;
}

COMPARE_BY(compare_operations, struct event_in_flight, COMPARE(a->tid, b->tid))

COMPARE_BY(compare_threads, struct event_thread_now,
	   COMPARE(a->time.header.tid, b->time.header.tid))

/* Reads what is in flight. */
static void take_in_flight(struct flight *flight, struct flight_snapshot *snapshot)
{
	struct in_flight_list *operations = &snapshot->in_flight;
	struct thread_list *threads = &snapshot->threads;
	int err = session_read_in_flight(flight->session, operations);
	uint64_t unlisted = 0;

	for (size_t i = 0; i < operations->count; i++)
		if (operations->rows[i].flags & IN_FLIGHT_KEPT)
			unlisted += operations->rows[i].count - 1;
	if (unlisted)
		log_warning("flight recorder: the trace lacks %" PRIu64
			    " asynchronous operations in flight: only %d of a process are listed",
			    unlisted, IN_FLIGHT_ASYNC_MAX + 1);
	if (err)
		log_warning("flight recorder: the trace lacks operations in flight: %s",
			    strerror(-err));
	err = session_read_threads(flight->session, threads);
	if (err && err != -ENOENT)
		log_warning("flight recorder: the trace lacks waits in flight: %s", strerror(-err));
	if (operations->count)
		qsort(operations->rows, operations->count, sizeof(*operations->rows),
		      compare_operations);
	if (threads->count)
		qsort(threads->rows, threads->count, sizeof(*threads->rows), compare_threads);
}

static int take_snapshot(struct flight *flight, struct flight_snapshot *snapshot)
{
	int err, late;

	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->to_ns = host_now_ns();
	take_in_flight(flight, snapshot);
	snapshot->live = flight->options.live;
	snapshot->stacks = session_choice(flight->session)->on[LAYER_STACK];
	snapshot->start_ns = session_attached_ns(flight->session);
	if (!snapshot->start_ns)
		snapshot->start_ns = flight->start_ns;
	snapshot->lanes = session_lane_count(flight->session);
	pthread_mutex_lock(&flight->lock);
	late = await_cut(flight);
	err = take_segments(flight, snapshot);
	if (!err)
		err = copy_state(flight, snapshot);
	pthread_mutex_unlock(&flight->lock);
	if (late)
		log_warning("flight recorder: the latest events were not read within 2 s; the "
			    "trace lacks them");
	return err;
}

static void free_snapshot(struct flight *flight, struct flight_snapshot *snapshot)
{
	pthread_mutex_lock(&flight->lock);
	for (size_t i = 0; i < snapshot->count; i++)
		flight_segment_release(snapshot->segments[i]);
	pthread_mutex_unlock(&flight->lock);
	free(snapshot->segments);
	free(snapshot->in_flight.rows);
	free(snapshot->threads.rows);
	free(snapshot->names.memory);
	free(snapshot->past.memory);
}

static void count_trace(struct flight *flight, const char *path, int err)
{
	pthread_mutex_lock(&flight->lock);
	if (err) {
		flight->status.failed++;
	} else {
		flight->status.written++;
		flight->status.last_unix_ns = host_unix_now_ns();
		strcpy(flight->status.path, path);
	}
	pthread_mutex_unlock(&flight->lock);
}

static void say_written(const struct flight_snapshot *snapshot,
			const struct flight_written *written, const char *path, const char *reason)
{
	char time[UNITS_TEXT], events[UNITS_TEXT], lost[UNITS_TEXT], size[UNITS_TEXT];
	uint64_t from_ns = snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns;

	log_line(written->lost ? LOG_WARNING : LOG_INFO,
		 "flight recorder (%s): the last %s, %s events, %s lost; %s in %s", reason,
		 units_ns(time, number_sub(snapshot->to_ns, from_ns)),
		 units_count(events, written->events),
		 written->lost ? units_count(lost, written->lost) : "none",
		 units_bytes(size, written->bytes), path);
}

/* Flushes a file to disk before it is reported as written. */
static int sync_file(int fd)
{
	return fdatasync(fd) && errno != EINVAL && errno != EROFS && errno != ENOTSUP ? -errno : 0;
}

void flight_write(struct flight *flight, const char *reason)
{
	struct trace_header header = flight->options.header;
	struct flight_snapshot snapshot;
	struct flight_written written = { 0 };
	char path[PATH_MAX] = "";
	int err = take_snapshot(flight, &snapshot), fd = -1;

	if (err) {
		log_error("flight recorder (%s): cannot copy the recorded data: %s", reason,
			  strerror(-err));
		goto out;
	}
	fd = flight_files_create(&flight->files, path);
	if (fd < 0) {
		err = fd;
		log_error("flight recorder (%s): nothing written; recording continues", reason);
		goto out;
	}
	host_describe(&header); /* clocks drift apart */
	err = flight_dump(&snapshot, &header, reason, fd, &written);
	if (err)
		unlink(path); /* without its end it cannot report losses */
	else
		flight_files_made(&flight->files, path, written.bytes);
	if (!err)
		err = written.error ? written.error : sync_file(fd);
	if (close(fd) && !err)
		err = -errno;
	if (err)
		log_error("flight recorder (%s): cannot write all of %s: %s; recording continues",
			  reason, path, strerror(-err));
	else
		say_written(&snapshot, &written, path, reason);
out:
	count_trace(flight, path, err);
	free_snapshot(flight, &snapshot);
}
