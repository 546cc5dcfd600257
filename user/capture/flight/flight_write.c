/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a trace of what the flight recorder holds: copies it at memory speed, then writes.
 * Recording continues during the write.
 */
#include "capture/flight/flight_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/host/host.h"
#include "base/log.h"
#include "base/units.h"

#define DRAINS_WAIT_NS 2000000000ull
#define LOOK_AGAIN_NS 5000000ull

/* Caller holds the lock. Waits until a drain has begun and ended: everything sent before is then in
 * the log. */
static void await_drain(struct flight *flight)
{
	uint64_t until = flight->drains + 2, end_ns = host_now_ns() + DRAINS_WAIT_NS;

	flight->awaited = true;
	while (flight->drains < until && host_now_ns() < end_ns) {
		struct timespec most = host_after_ns(LOOK_AGAIN_NS);

		session_wake(flight->session);
		pthread_cond_clockwait(&flight->changed, &flight->lock, CLOCK_MONOTONIC, &most);
	}
}

/* Drops slots that ended before everything else is complete. */
static void trim_slots(struct flight_slots *slots, uint64_t from_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < slots->count; i++)
		if (flight_slot_end_ns(&slots->slots[i]) >= from_ns)
			slots->slots[kept++] = slots->slots[i];
	slots->count = kept;
}

struct past_order {
	struct flight_past *past;
	uint64_t from_ns;
	uint64_t kept; /* events */
};

/* An older record may come after kept ones, if its ring was drained later: it belongs to the past,
 * too. The past takes it again when it is evicted, which changes nothing. */
static void sort_record(void *context, unsigned int lane, const struct event_header *record)
{
	struct past_order *sorting = context;

	if (flight_record_end_ns(record) >= sorting->from_ns)
		sorting->kept += flight_record_is_event(record);
	else if (!flight_record_is_identity(record))
		flight_past_take(sorting->past, lane, record);
}

/* Caller holds the lock. */
static int copy_records(struct flight *flight, struct flight_snapshot *snapshot)
{
	uint64_t log_ns = flight_log_from_ns(flight->log);
	struct past_order sorting = { .past = &flight->past };
	int err;

	snapshot->from_ns = snapshot->slots.from_ns > log_ns ? snapshot->slots.from_ns : log_ns;
	flight_log_trim(flight->log, snapshot->from_ns); /* evicted records update the past */
	trim_slots(&snapshot->slots, snapshot->from_ns);
	err = flight_log_copy(flight->log, &snapshot->records);
	sorting.from_ns = snapshot->from_ns;
	flight_records_walk(&snapshot->records, sort_record, &sorting);
	if (!err) {
		flight_names_unmark(&flight->names);
		flight_names_mark_slots(&flight->names, &snapshot->slots);
		for (size_t i = 0; i < snapshot->in_flight.count; i++)
			flight_names_mark(&flight->names, snapshot->in_flight.rows[i].file,
					  FLIGHT_NAME_RECORDED);
		flight_records_walk(&snapshot->records, flight_names_mark_record, &flight->names);
		flight_names_emit(&flight->names, &snapshot->names);
		flight_past_emit(&flight->past,
				 snapshot->from_ns ? snapshot->from_ns : snapshot->start_ns,
				 flight_records_add, &snapshot->past);
		if (snapshot->names.incomplete || snapshot->past.incomplete)
			err = -ENOMEM;
	}
	if (flight->names.unresolved && flight->names.dropped)
		log_warning(
			"flight recorder: %llu file references have no name: out of room for names",
			(unsigned long long)flight->names.unresolved);
	if (flight->past.refused)
		log_warning("flight recorder: %llu earlier processes, spans or devices did not fit "
			    "in memory and may be missing",
			    (unsigned long long)flight->past.refused);
	snapshot->before = flight->given - sorting.kept;
	snapshot->unfollowed = flight->reported_lost[FLIGHT_LOSS_NOTE + NOTE_UNFOLLOWED];
	return err;
}

static int take_snapshot(struct flight *flight, struct flight_snapshot *snapshot)
{
	uint64_t given, there;
	int err;

	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->to_ns = host_now_ns();
	err = session_read_in_flight(flight->session, &snapshot->in_flight);
	if (err)
		log_warning("flight recorder: the trace lacks operations in flight: %s",
			    strerror(-err));
	snapshot->start_ns = session_attached_ns(flight->session);
	if (!snapshot->start_ns)
		snapshot->start_ns = flight->start_ns;
	snapshot->lanes = session_lane_count(flight->session);
	err = flight_memory_copy(session_flight(flight->session), snapshot->to_ns,
				 &snapshot->slots);
	if (err)
		return err;
	pthread_mutex_lock(&flight->lock);
	await_drain(flight);
	err = copy_records(flight, snapshot);
	pthread_mutex_unlock(&flight->lock);
	given = snapshot->slots.given;
	there = snapshot->slots.count + snapshot->slots.lost;
	snapshot->before += given > there ? given - there : 0;
	return err;
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
		 units_ns(time, snapshot->to_ns > from_ns ? snapshot->to_ns - from_ns : 0),
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
	flight_snapshot_free(&snapshot);
}
