/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Takes records and requests; flight_write.c writes the traces.
 *
 * Records go into a ring of segments, and names of files into a table of their own. Evicted records
 * update the past.
 */
#include "capture/flight/flight_state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/calls/calls.h"
#include "capture/names/cgroups.h"
#include "capture/host/host.h"
#include "capture/host/privileges.h"
#include "capture/host/proc.h"
#include "base/log.h"
#include "base/units.h"
#include "base/thread.h"
#include "trace/write/redact.h"

#define LOOK_EVERY_NS 1000000000ull
#define CGROUP_SHOWN 180 /* bytes of a path */
#define SAID_BYTES (2 * FLIGHT_REASON_BYTES)
#define WHO_ALL UINT64_MAX
#define WHO_CGROUP (1ull << 63) /* combined with its id; otherwise a pid */

/* --- requests --- */

const char *const flight_causes[FLIGHT_CAUSES] = {
	[FLIGHT_REQUEST] = "request",
	[FLIGHT_SLOWER] = "slower",
	[FLIGHT_WHEN] = "when",
};

/* Skips repeated requests of a trigger silently; status.passed_over counts them. */
static enum flight_answer request(struct flight *flight, enum flight_cause cause,
				  const struct flight_reason *reason)
{
	enum flight_answer answer = FLIGHT_WILL;
	uint64_t now_ns = host_now_ns();

	pthread_mutex_lock(&flight->lock);
	flight->status.requested[cause]++;
	if (flight->requested)
		answer = FLIGHT_WAITS;
	else if (flight->requested_ns && now_ns - flight->requested_ns < flight->options.every_ns)
		answer = FLIGHT_TOO_SOON;
	if (answer == FLIGHT_WILL) {
		flight->requested = true;
		flight->requested_ns = now_ns;
		flight->reason = *reason;
		pthread_cond_broadcast(&flight->changed);
	} else {
		flight->status.passed_over++;
	}
	pthread_mutex_unlock(&flight->lock);
	return answer;
}

enum flight_answer flight_ask(struct flight *flight, enum flight_cause cause, const char *why)
{
	struct flight_reason reason = { 0 };

	snprintf(reason.why, sizeof(reason.why), "%s", why);
	return request(flight, cause, &reason);
}

void flight_status(struct flight *flight, struct flight_status *status)
{
	pthread_mutex_lock(&flight->lock);
	*status = flight->status;
	status->names = flight_names_count(&flight->ring.names);
	pthread_mutex_unlock(&flight->lock);
}

/* Returns the length of a cgroup's path, which is empty if it is unknown. */
static size_t name_cgroup(const struct flight *flight, uint64_t cgroup, char path[PATH_MAX])
{
	const struct redaction *redaction = flight->options.header.redaction;
	char hashed[TRACE_STRING_BYTES_MAX];
	size_t length;

	path[0] = 0;
	cgroups_path(flight->cgroups, cgroup, true, path);
	length = strlen(path);
	if (redaction && length) {
		length = redact_name(redaction, TRACE_NAME_PATH, path, length, hashed);
		length = length < PATH_MAX ? length : PATH_MAX - 1;
		memcpy(path, hashed, length);
		path[length] = 0;
	}
	return length;
}

/* Formats a reason. Long paths keep their end, which is the most specific part. */
static void say_reason(const struct flight *flight, const struct flight_reason *reason, char *out)
{
	char path[PATH_MAX] = "";
	size_t length = reason->cgroup ? name_cgroup(flight, reason->cgroup, path) : 0;

	if (length)
		snprintf(out, SAID_BYTES, "cgroup %s%s: %s", length > CGROUP_SHOWN ? "..." : "",
			 path + (length > CGROUP_SHOWN ? length - CGROUP_SHOWN : 0), reason->why);
	else
		snprintf(out, SAID_BYTES, "%s%s%s", reason->who, reason->who[0] ? ": " : "",
			 reason->why);
}

static void *write_thread(void *context)
{
	struct flight *flight = context;
	int err = privileges_keep_writing(flight->options.uid, flight->options.gid);

	if (err)
		log_warning("the writer thread cannot drop privileges: %s", strerror(-err));
	flight_files_find(&flight->files, &flight->options.header);
	pthread_mutex_lock(&flight->lock);
	while (flight->requested || !flight->stop) {
		struct flight_reason reason;
		char text[SAID_BYTES];

		if (!flight->requested) {
			pthread_cond_wait(&flight->changed, &flight->lock);
			continue;
		}
		reason = flight->reason;
		flight->requested = false;
		pthread_mutex_unlock(&flight->lock);
		say_reason(flight, &reason, text);
		flight_write(flight, text);
		pthread_mutex_lock(&flight->lock);
	}
	pthread_mutex_unlock(&flight->lock);
	return NULL;
}

/* --- records --- */

static void emit_code(struct flight *flight, const struct event_header *header)
{
	const struct code_mapping mapping = code_mapping_of(header);

	if (flight->emit_code &&
	    (header->kind == RECORD_CODE || !(((const struct event_exec *)header)->flags &
					      (TRACE_EXEC_NOT_FOLLOWED | TRACE_EXEC_PRESENT))))
		flight->emit_code(flight->emit_context, &mapping);
}

void flight_take(void *context, unsigned int ring, const void *record, size_t size)
{
	const struct event_header *header = record;
	struct flight *flight = context;

	if (size < sizeof(*header) || header->kind >= RECORD_KIND_COUNT)
		return;
	if (header->size > size || !decoder_is_whole(record, header->size)) {
		flight_ring_lose(&flight->ring, header->kind, 1);
		return;
	}
	if (header->kind == RECORD_EXEC || header->kind == RECORD_CODE)
		emit_code(flight, header);
	if (flight_record_is_identity(header))
		flight_past_take(&flight->present, ring, record, header->size);
	if (header->kind == RECORD_FILE)
		flight_ring_name(&flight->ring, record);
	else if (header->kind != RECORD_CODE)
		flight_ring_take(&flight->ring, ring, header);
}

void flight_take_slots(void *context, unsigned int lane, const struct lane_slot *slots,
		       size_t count)
{
	struct flight *flight = context;

	flight_ring_take_slots(&flight->ring, lane, slots, count);
}

void flight_emit_code(struct flight *flight, decoder_code_fn emit, void *context)
{
	flight->emit_code = emit;
	flight->emit_context = context;
}

/* --- losses --- */

/* Counts what was lost since the last check. */
static void note_loss(struct flight *flight, uint32_t kind, uint64_t lost)
{
	if (lost > flight->reported_lost[kind]) {
		flight_ring_lose(&flight->ring, kind, lost - flight->reported_lost[kind]);
		flight->reported_lost[kind] = lost;
	}
}

static void look_at_losses(struct flight *flight, uint64_t now_ns)
{
	struct kind_total kinds[RECORD_KIND_COUNT];
	uint64_t notes[NOTE_COUNT];

	if (session_totals(flight->session, NULL, kinds, notes))
		return;
	for (int kind = RECORD_NONE + 1; kind < RECORD_KIND_COUNT; kind++)
		note_loss(flight, kind, kinds[kind].lost);
	for (int layer = 0; layer < LAYER_COUNT; layer++)
		note_loss(flight, FLIGHT_LOSS_LAYER + layer,
			  session_missed(flight->session, layer));
	for (int note = 0; note < NOTE_COUNT; note++)
		note_loss(flight, FLIGHT_LOSS_NOTE + note, notes[note]);
	flight->looked_ns = now_ns;
}

/* --- slow operations --- */

/* Names a process by its command line, or by `comm` (NULL: unknown) if it has exited; if names
 * are redacted, only by its PID. */
static void name_process(const struct flight *flight, uint32_t pid, const char *comm, char *out,
			 size_t size)
{
	const bool hidden = flight->options.header.redaction;
	char command[64] = "";

	if (!hidden && proc_is_of_kernel_side())
		proc_command(pid, command, sizeof(command));
	if (!hidden && !command[0] && comm)
		snprintf(command, sizeof(command), "%.*s", EVENT_COMM_BYTES, comm);
	snprintf(out, size, "process %" PRIu32 "%s%s%s", pid, command[0] ? " (" : "", command,
		 command[0] ? ")" : "");
}

static void ask_for_slow(struct flight *flight, uint32_t op, uint32_t pid, const char *comm,
			 const char *verb, uint64_t ns)
{
	char reason[FLIGHT_REASON_BYTES], who[128], time[UNITS_TEXT];
	const struct trace_operation *operations;
	size_t count;

	operations = calls_operations(&count);
	name_process(flight, pid, comm, who, sizeof(who));
	snprintf(reason, sizeof(reason), "%s by %s %s %s",
		 op < count ? operations[op].name : "an operation", who, verb, units_ns(time, ns));
	flight_ask(flight, FLIGHT_SLOWER, reason);
}

static void look_at_slow(struct flight *flight)
{
	struct flight_slow slow;

	if (session_take_slow(flight->session, &slow))
		ask_for_slow(flight, slow.op, slow.pid, slow.comm, "took", slow.duration_ns);
}

/* Reports the oldest operation that is newly slow. reported_slow_ns prevents repeats. */
void flight_look_at_in_flight(struct flight *flight, const struct in_flight_list *list,
			      uint64_t now_ns)
{
	uint64_t slower_ns = flight->options.slower_ns, reported_ns = flight->reported_slow_ns;
	const struct event_in_flight *oldest = NULL;

	for (size_t i = 0; slower_ns && i < list->count; i++) {
		const struct event_in_flight *row = &list->rows[i];

		if (!(row->flags & IN_FLIGHT_KEPT) || now_ns < row->start_ns + slower_ns ||
		    row->start_ns <= reported_ns)
			continue;
		if (!oldest || row->start_ns < oldest->start_ns)
			oldest = row;
		if (row->start_ns > flight->reported_slow_ns)
			flight->reported_slow_ns = row->start_ns;
	}
	if (oldest)
		ask_for_slow(flight, oldest->op, oldest->pid, NULL, "has not returned for",
			     now_ns - oldest->start_ns);
}

/* --- segments --- */

/* Drops unused names. The segment has just been closed: all its files are known. */
static void sweep_names(struct flight *flight)
{
	struct flight_ring *ring = &flight->ring;
	uint64_t dropped = ring->names.dropped;
	char room[UNITS_TEXT];

	/* Without these, the oldest names are dropped: memory stays bounded. */
	if (session_each_file_id(flight->session, flight_names_live, &ring->names))
		log_debug("cannot list the files in use");
	if (flight_names_sweep(&ring->names, ring->first ? ring->first->number : UINT64_MAX))
		log_debug("out of memory while sweeping file names");
	if (ring->names.dropped && !dropped)
		log_warning(
			"flight recorder: names of files in use exceed %s; traces will lack some",
			units_bytes(room, FLIGHT_NAMES_BYTES));
}

static void cut(struct flight *flight)
{
	struct flight_segment *segment = flight_ring_cut(&flight->ring);

	if (!segment)
		return;
	pthread_mutex_lock(&flight->lock);
	flight_ring_add(&flight->ring, segment);
	pthread_mutex_unlock(&flight->lock);
}

void flight_look(struct flight *flight, uint64_t now_ns)
{
	bool full = flight_names_full(&flight->ring.names), awaited;

	look_at_slow(flight);
	pthread_mutex_lock(&flight->lock);
	awaited = flight->cut_after && flight->drains + 1 >= flight->cut_after;
	pthread_mutex_unlock(&flight->lock);
	if (awaited || now_ns >= flight->looked_ns + LOOK_EVERY_NS)
		look_at_losses(flight, now_ns);
	if (flight_ring_look(&flight->ring, now_ns) || full || awaited)
		cut(flight);
	if (full)
		sweep_names(flight);
	pthread_mutex_lock(&flight->lock);
	flight->drains++;
	flight->unfollowed = flight->reported_lost[FLIGHT_LOSS_NOTE + NOTE_UNFOLLOWED];
	if (flight->cut_after <= flight->drains) /* not one that was set since */
		flight->cut_after = 0;
	pthread_cond_broadcast(&flight->changed);
	pthread_mutex_unlock(&flight->lock);
}

/* --- triggers --- */

/* Whether the operation makes its thread wait. */
static bool stalls(const struct profile_key *key)
{
	const struct trace_operation *operations;
	size_t count;

	operations = calls_operations(&count);
	if (key->op >= count || key->flags & TRACE_PROFILE_UNTIMED)
		return false;
	switch (operations[key->op].family) {
	case TRACE_READ:
	case TRACE_WRITE:
	case TRACE_METADATA:
	case TRACE_SYNC:
	case TRACE_MAP:
	case TRACE_TRANSFER:
	case TRACE_ADVICE:
	case TRACE_FILEFAULT:
		return strcmp(operations[key->op].layer, "async") != 0;
	default:
		return false;
	}
}

/* Returns the current cgroup of a process, which may have moved since it started; 0: not known. */
static uint64_t cgroup_of(struct flight *flight, uint32_t pid)
{
	uint64_t moves = session_moves(flight->session), cgroup;

	if (flight_past_looks(&flight->present, pid, moves, host_now_ns())) {
		cgroup = cgroups_of_process(flight->cgroups, pid);
		if (cgroup)
			flight_past_move(&flight->present, pid, cgroup);
	}
	return flight_past_cgroup(&flight->present, pid);
}

void flight_take_sums(void *context, const struct profile_slot *added)
{
	struct flight *flight = context;
	uint64_t stall_ns, cgroup;

	if (!flight->options.trigger_count)
		return;
	stall_ns = stalls(&added->key) ? added->sums.time_ns : 0;
	cgroup = cgroup_of(flight, added->key.pid);
	if (!cgroup && added->who.started_ns) /* it has exited, or is unknown */
		cgroup = added->who.cgroup_id;
	if (cgroup)
		flight_triggers_add(flight->triggers, WHO_CGROUP | cgroup, added->sums.major_faults,
				    stall_ns);
	flight_triggers_add(flight->triggers, added->key.pid, added->sums.major_faults, stall_ns);
	flight_triggers_add(flight->triggers, WHO_ALL, added->sums.major_faults, stall_ns);
}

void flight_end_sums(struct flight *flight, uint64_t now_ns)
{
	struct flight_reason reason = { 0 };
	char name[128] = "exited processes";
	uint32_t member;
	uint64_t who;

	if (!flight_triggers_end(flight->triggers, now_ns, &who, reason.why))
		return;
	if (who == WHO_ALL) {
		strcpy(reason.who, "all processes");
	} else if (who & WHO_CGROUP) {
		reason.cgroup = who & ~WHO_CGROUP;
		member = flight_past_member(&flight->present, reason.cgroup);
		if (member)
			name_process(flight, member, NULL, name, sizeof(name));
		snprintf(reason.who, sizeof(reason.who), "the cgroup of %s", name);
	} else {
		name_process(flight, who, NULL, reason.who, sizeof(reason.who));
	}
	request(flight, FLIGHT_WHEN, &reason);
}

/* --- open and close --- */

int flight_open(struct flight **out, struct session *session, const struct flight_options *options)
{
	struct flight *flight = calloc(1, sizeof(*flight));
	int err = -ENOMEM;

	if (!flight)
		goto fail;
	flight->session = session;
	flight->options = *options;
	flight->files = (struct flight_files) { .pattern = options->pattern,
						.pid = options->pid,
						.keep = options->keep };
	flight->start_ns = flight->looked_ns = host_now_ns();
	pthread_mutex_init(&flight->lock, NULL);
	pthread_cond_init(&flight->changed, NULL);
	flight->triggers = flight_triggers_open(options->triggers, options->trigger_count);
	if (!flight->triggers)
		goto fail;
	err = options->trigger_count ? cgroups_open(&flight->cgroups, NULL) : 0;
	if (err)
		goto fail;
	flight_ring_open(&flight->ring, options->bytes, session_lane_count(session),
			 &options->header, session_stack_generation(session));
	err = thread_start(&flight->thread, write_thread, flight);
	if (err)
		goto fail;
	flight->started = true;
	*out = flight;
	return 0;
fail:
	log_error("cannot start the flight recorder: %s", strerror(-err));
	flight_close(flight);
	return err;
}

void flight_end(struct flight *flight)
{
	if (!flight || !flight->started)
		return;
	pthread_mutex_lock(&flight->lock);
	flight->stop = true;
	pthread_cond_broadcast(&flight->changed);
	pthread_mutex_unlock(&flight->lock);
	pthread_join(flight->thread, NULL);
	flight->started = false;
}

void flight_close(struct flight *flight)
{
	if (!flight)
		return;
	flight_end(flight);
	cgroups_close(flight->cgroups);
	flight_triggers_close(flight->triggers);
	flight_ring_close(&flight->ring);
	flight_past_free(&flight->present);
	flight_files_free(&flight->files);
	pthread_cond_destroy(&flight->changed);
	pthread_mutex_destroy(&flight->lock);
	free(flight);
}
