/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tracks of processes and threads, and of what overlaps on them. Field numbers are those of
 * tests/unit/perfetto.proto.
 *
 * Viewers sort packets by time, those of the same time in file order, and an end closes the latest
 * slice of its track. So slices of a lane must nest, and one that begins with another and ends
 * later must come first.
 */
#include "output/timeline/perfetto_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/grow.h"
#include "output/timeline/perfetto_message.h"
#include "base/units.h"

#define PID_STEP 10000000
#define BIN_MAX 1000 /* counter bins in a run */
#define BIN_NS_MIN 1000000

void perfetto_tracks_init(struct perfetto_tracks *tracks, struct job *job,
			  struct perfetto_pack *pack, uint64_t length_ns)
{
	*tracks = (struct perfetto_tracks) { .job = job, .pack = pack };
	tracks->bin_ns = length_ns / BIN_MAX;
	if (tracks->bin_ns < BIN_NS_MIN)
		tracks->bin_ns = BIN_NS_MIN;
	map_init(&tracks->numbers, 3, 1);
	map_init(&tracks->pids, 1, 1);
	map_init(&tracks->words, 3, 1);
	sink_open_memory(&tracks->made);
	tracks->iids = PERFETTO_ARG_COUNT;
}

void perfetto_tracks_free(struct perfetto_tracks *tracks)
{
	for (size_t i = 0; i < tracks->count; i++)
		free(tracks->groups[i].lanes);
	free(tracks->groups);
	free(tracks->processes);
	map_free(&tracks->numbers);
	map_free(&tracks->pids);
	map_free(&tracks->words);
	for (size_t i = 0; i < PERFETTO_NUMBERED; i++)
		free(tracks->numbered[i].iids);
	sink_close(&tracks->made);
}

static void put_clock(struct sink *snapshot, unsigned int clock, uint64_t time_ns)
{
	struct sink inner;

	sink_open_memory(&inner);
	perfetto_put_uint(&inner, 1, clock);
	perfetto_put_uint(&inner, 2, time_ns);
	perfetto_put_message(snapshot, 1, &inner);
}

int perfetto_tracks_begin(struct perfetto_tracks *tracks, uint64_t start_unix_ns)
{
	struct sink snapshot;

	/* Ties time 0 of the trace's clock (6, since boot) to the wall clock (1). */
	sink_open_memory(&snapshot);
	put_clock(&snapshot, 6, 0);
	put_clock(&snapshot, 1, start_unix_ns);
	perfetto_put_uint(&snapshot, 2, 6);
	perfetto_add_packet(tracks, PACKET_CLOCK_SNAPSHOT, &snapshot, 0);
	perfetto_intern_args(tracks);
	return tracks->error;
}

void perfetto_emit_track(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			 struct trace_string name, unsigned int field, struct sink *of)
{
	struct sink track;

	sink_open_memory(&track);
	perfetto_put_uint(&track, 1, uuid);
	if (name.length)
		perfetto_put_text(&track, 2, name);
	if (of)
		perfetto_put_message(&track, field, of);
	if (parent)
		perfetto_put_uint(&track, 5, parent);
	perfetto_add_packet(tracks, PACKET_TRACK_DESCRIPTOR, &track, 0);
}

static void name_process(struct perfetto_tracks *tracks, uint32_t number,
			 const struct perfetto_process *known)
{
	const struct process *process = &tracks->job->processes.processes[number];
	const struct trace_reader *reader = tracks->job->traces[process->trace].reader;
	struct trace_string command = trace_reader_string(reader, process->command);
	struct trace_string comm = trace_reader_string(reader, process->comm);
	struct sink inner, name;

	sink_open_memory(&inner);
	sink_open_memory(&name);
	perfetto_put_uint(&inner, 1, known->pid);
	for (size_t at = 0; at < command.length;) {
		size_t length = strnlen(command.bytes + at, command.length - at);

		perfetto_put_text(&inner, 2, (struct trace_string) { command.bytes + at, length });
		at += length + 1;
	}
	if (process->rank >= 0)
		sink_format(&name, "rank %lld: ", (long long)process->rank);
	sink_bytes(&name, comm.bytes, comm.length);
	if (tracks->job->many_hosts)
		sink_format(&name, " (%s)", tracks->job->traces[process->trace].header->host);
	if (!name.used)
		sink_text(&name, number == PROCESS_UNKNOWN ? "(unknown)" : "process");
	perfetto_put_text(&inner, 6, (struct trace_string) { name.buffer, name.used });
	perfetto_fail(tracks, name.error);
	sink_close(&name);
	perfetto_emit_track(tracks, known->uuid, 0, perfetto_literal(""), 3, &inner);
}

struct perfetto_process *perfetto_find_process(struct perfetto_tracks *tracks, uint32_t number)
{
	uint64_t pid = tracks->job->processes.processes[number].pid;
	struct perfetto_process *process;
	uint64_t *had;
	bool added;

	if (!GROW(tracks->processes, tracks->process_room, (size_t)number + 1)) {
		perfetto_fail(tracks, -ENOMEM);
		return NULL;
	}
	process = &tracks->processes[number];
	if (process->uuid)
		return process;
	had = map_add(&tracks->pids, &pid, &added);
	if (!had) {
		perfetto_fail(tracks, -ENOMEM);
		return NULL;
	}
	process->uuid = ++tracks->uuids;
	process->moved = *had * PID_STEP % INT32_MAX;
	process->pid = (pid + process->moved) % INT32_MAX;
	++*had;
	name_process(tracks, number, process);
	return process;
}

static void emit_thread(struct perfetto_tracks *tracks, const struct perfetto_group *group,
			uint64_t uuid, struct trace_string name)
{
	const struct perfetto_process *process = &tracks->processes[group->process];
	struct sink inner;

	sink_open_memory(&inner);
	perfetto_put_uint(&inner, 1, process->pid);
	perfetto_put_uint(&inner, 2, (group->key + process->moved) % INT32_MAX);
	if (name.length)
		perfetto_put_text(&inner, 5, name);
	perfetto_emit_track(tracks, uuid, process->uuid, perfetto_literal(""), 4, &inner);
}

/* Names a group's first lane after its contents, and the others as overlapping. */
static void emit_lane(struct perfetto_tracks *tracks, uint32_t number, size_t lane)
{
	const struct perfetto_group *group = &tracks->groups[number];
	uint64_t uuid = group->lanes[lane].uuid, parent = 0;
	enum perfetto_kind kind = group->kind;
	char name[DEVICE_TITLE_BYTES] = "overlapping";

	if (kind == PERFETTO_THREAD && !lane) {
		emit_thread(tracks, group, uuid, perfetto_literal(""));
		return;
	}
	if (kind == PERFETTO_THREAD)
		parent = group->lanes[0].uuid;
	if (kind == PERFETTO_SPANS) {
		uint64_t key = group->key;
		uint32_t process = group->process;

		snprintf(name, sizeof(name), lane ? "spans, overlapping" : "spans");
		parent = perfetto_lane(tracks,
				       perfetto_group(tracks, PERFETTO_THREAD, process, key), 0);
	}
	if (kind == PERFETTO_ASYNC) {
		snprintf(name, sizeof(name), "asynchronous");
		parent = tracks->processes[group->process].uuid;
	}
	if (kind == PERFETTO_DEVICE)
		device_names_title(&tracks->devices, tracks->job->traces[group->process].host,
				   group->key, name);
	perfetto_emit_track(tracks, uuid, parent, perfetto_literal(name), 0, NULL);
}

static struct perfetto_lane *add_lane(struct perfetto_tracks *tracks, uint32_t number)
{
	struct perfetto_group *group = &tracks->groups[number];
	size_t lane = group->count;

	if (!GROW(group->lanes, group->room, lane + 1)) {
		perfetto_fail(tracks, -ENOMEM);
		return NULL;
	}
	group->lanes[lane].uuid = ++tracks->uuids;
	group->count++;
	emit_lane(tracks, number, lane);
	return &tracks->groups[number].lanes[lane];
}

uint32_t perfetto_group(struct perfetto_tracks *tracks, enum perfetto_kind kind, uint32_t process,
			uint64_t key)
{
	const uint64_t words[] = { kind, process, key };
	bool added;
	uint64_t *number = map_add(&tracks->numbers, words, &added);

	if (!number || (added && !GROW(tracks->groups, tracks->room, tracks->count + 1)) ||
	    (added && kind != PERFETTO_DEVICE && !perfetto_find_process(tracks, process))) {
		perfetto_fail(tracks, -ENOMEM);
		return PERFETTO_NO_GROUP;
	}
	if (added) {
		*number = tracks->count;
		tracks->groups[tracks->count++] = (struct perfetto_group) {
			.kind = kind,
			.process = process,
			.key = key,
			.newest = UINT32_MAX,
		};
	}
	return *number;
}

uint64_t perfetto_lane(struct perfetto_tracks *tracks, uint32_t number, size_t lane)
{
	if (number == PERFETTO_NO_GROUP)
		return 0;
	while (tracks->groups[number].count <= lane)
		if (!add_lane(tracks, number))
			return 0;
	return tracks->groups[number].lanes[lane].uuid;
}

uint64_t perfetto_place(struct perfetto_tracks *tracks, uint32_t number, uint64_t start_ns,
			uint64_t end_ns, bool nest)
{
	struct perfetto_group *group;
	struct perfetto_lane *lane;

	if (number == PERFETTO_NO_GROUP)
		return 0;
	group = &tracks->groups[number];
	for (size_t i = 0;; i++) {
		lane = i < group->count ? &group->lanes[i] : add_lane(tracks, number);
		group = &tracks->groups[number];
		if (!lane)
			return 0;
		while (lane->depth && lane->ends[lane->depth - 1] <= start_ns)
			lane->depth--;
		if (!lane->depth ||
		    (nest && lane->depth < PERFETTO_DEPTH && end_ns <= lane->ends[lane->depth - 1]))
			break;
	}
	lane->ends[lane->depth++] = end_ns;
	return lane->uuid;
}

void perfetto_name_thread(struct perfetto_tracks *tracks, uint32_t process, uint64_t tid,
			  struct trace_string name)
{
	const uint64_t words[] = { PERFETTO_THREAD, process, tid };
	const uint64_t *number = map_find(&tracks->numbers, words);

	if (number && tracks->groups[*number].count && name.length)
		emit_thread(tracks, &tracks->groups[*number], tracks->groups[*number].lanes[0].uuid,
			    name);
}
