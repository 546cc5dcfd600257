/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracks of a timeline: their ids, names and lanes. */
#include "output/timeline/timeline_model.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/order/walk.h"
#include "collections/grow.h"
#include "base/utf8.h"

#define TID_SHARED 0   /* tid of the thread that shares a track; no real thread has it */
#define NAME_BYTES 160 /* longer command lines are cut: viewers show one line */
#define ELLIPSIS "\u2026"

/* Viewers append the unit to the counter's name. */
static const char *const counter_names[COUNTER_COUNT] = {
	[COUNTER_READ] = "read",
	[COUNTER_WRITTEN] = "written",
	[COUNTER_FETCHED] = "from storage",
	[COUNTER_CREATED] = "newly cached by writes",
};

static void free_lanes(struct timeline_lanes *lanes);

void tracks_init(struct model *model)
{
	map_init(&model->track_numbers, 2, 1);
	map_init(&model->pids, 1, 1);
	sink_open_memory(&model->made);
}

void tracks_free(struct model *model)
{
	for (uint32_t i = 0; i < model->track_count; i++)
		free_lanes(model->tracks[i].lanes);
	free(model->tracks);
	map_free(&model->track_numbers);
	map_free(&model->pids);
	sink_close(&model->made);
}

/* --- finding --- */

static uint32_t add_track(struct model *model, enum timeline_kind kind, uint32_t process,
			  uint64_t key, uint32_t parent)
{
	if (!GROW(model->tracks, model->track_room, model->track_count + 1)) {
		timeline_fail(&model->timeline, -ENOMEM);
		return TIMELINE_NONE;
	}
	model->tracks[model->track_count] = (struct timeline_track) {
		.kind = kind,
		.number = model->track_count,
		.parent = parent,
		.process = process,
		.key = key,
		.top = TIMELINE_NONE,
		.aside = TIMELINE_NONE,
	};
	return model->track_count++;
}

uint32_t track_find(struct model *model, enum timeline_kind kind, uint32_t process, uint64_t key,
		    uint32_t parent)
{
	const uint64_t words[] = { (uint64_t)kind << 32 | process, key };
	bool added;
	uint64_t *number = map_add(&model->track_numbers, words, &added);

	if (!number) {
		timeline_fail(&model->timeline, -ENOMEM);
		return TIMELINE_NONE;
	}
	if (added)
		*number = add_track(model, kind, process, key, parent);
	return *number;
}

uint32_t track_of_process(struct model *model, uint32_t process)
{
	return track_find(model, TIMELINE_PROCESS, process, 0, TIMELINE_NONE);
}

uint32_t track_of_thread(struct model *model, uint32_t process, uint64_t tid)
{
	const uint64_t words[] = { (uint64_t)TIMELINE_THREAD << 32 | process, tid };
	uint32_t *recent = &model->recent_threads[(tid + 7 * process) % THREADS_RECENT];
	const uint64_t *known;
	uint32_t number;

	if (*recent < model->track_count && model->tracks[*recent].kind == TIMELINE_THREAD &&
	    model->tracks[*recent].process == process && model->tracks[*recent].key == tid)
		return *recent;
	known = map_find(&model->track_numbers, words);
	if (known)
		return *recent = *known;
	number = track_of_process(model, process);
	if (model->thread_count < TIMELINE_THREADS_MAX) {
		model->thread_count++;
		return *recent = track_find(model, TIMELINE_THREAD, process, tid, number);
	}
	number = track_find(model, TIMELINE_THREAD, process, TID_SHARED, number);
	if (number != TIMELINE_NONE)
		model->tracks[number].shared++;
	return number;
}

/* --- lanes --- */

/*
 * The lanes of a track, in a tree of their ends, so that the first free one is found without a look
 * at the others. Lanes that do not exist yet are free.
 */
struct timeline_lanes {
	size_t count, room; /* room: a power of two */
	uint32_t *tracks;
	/* [1, room): the earlier one of nodes 2 * i and 2 * i + 1; then the lanes'. */
	uint64_t *ends;
};

#define LANES_FIRST 4

static void free_lanes(struct timeline_lanes *lanes)
{
	if (!lanes)
		return;
	free(lanes->tracks);
	free(lanes->ends);
	free(lanes);
}

static void set_end(struct timeline_lanes *lanes, size_t lane, uint64_t end_ns)
{
	uint64_t *ends = lanes->ends;
	size_t node = lanes->room + lane;

	ends[node] = end_ns;
	while (node > 1) {
		node /= 2;
		ends[node] =
			ends[2 * node] < ends[2 * node + 1] ? ends[2 * node] : ends[2 * node + 1];
	}
}

static size_t first_free(const struct timeline_lanes *lanes, uint64_t start_ns)
{
	size_t node = 1;

	while (node < lanes->room)
		node = 2 * node + (lanes->ends[2 * node] > start_ns);
	return node - lanes->room;
}

/* Returns NULL if out of memory. */
static struct timeline_lanes *with_room(const struct timeline_lanes *old)
{
	struct timeline_lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return NULL;
	lanes->room = old ? 2 * old->room : LANES_FIRST;
	lanes->tracks = calloc(lanes->room, sizeof(*lanes->tracks));
	lanes->ends = calloc(2 * lanes->room, sizeof(*lanes->ends));
	if (!lanes->tracks || !lanes->ends) {
		free_lanes(lanes);
		return NULL;
	}
	for (; old && lanes->count < old->count; lanes->count++) {
		lanes->tracks[lanes->count] = old->tracks[lanes->count];
		set_end(lanes, lanes->count, old->ends[old->room + lanes->count]);
	}
	return lanes;
}

/* Returns the lanes of a track with one that is free at `start_ns`; NULL if out of memory. */
static struct timeline_lanes *lanes_of(struct timeline_track *track, uint64_t start_ns)
{
	struct timeline_lanes *lanes;

	if (track->lanes && track->lanes->ends[1] <= start_ns)
		return track->lanes;
	lanes = with_room(track->lanes);
	if (!lanes)
		return NULL;
	free_lanes(track->lanes);
	track->lanes = lanes;
	return lanes;
}

uint32_t track_lane(struct model *model, enum timeline_kind kind, uint32_t parent,
		    uint64_t start_ns, uint64_t end_ns)
{
	struct timeline_lanes *lanes;
	size_t lane;
	uint32_t number;

	if (parent == TIMELINE_NONE)
		return TIMELINE_NONE;
	lanes = lanes_of(&model->tracks[parent], start_ns);
	if (!lanes) {
		timeline_fail(&model->timeline, -ENOMEM);
		return TIMELINE_NONE;
	}
	lane = first_free(lanes, start_ns);
	if (lane == lanes->count) {
		number = add_track(model, kind, model->tracks[parent].process, lane, parent);
		if (number == TIMELINE_NONE)
			return TIMELINE_NONE;
		lanes->tracks[lanes->count++] = number;
	}
	set_end(lanes, lane, end_ns);
	return lanes->tracks[lane];
}

/* --- names --- */

/* Writes a command line with spaces between arguments, cut at a character boundary. */
static void write_command(struct sink *text, struct trace_string command)
{
	size_t used = 0;

	while (command.length && !command.bytes[command.length - 1])
		command.length--;
	while (used < command.length) {
		struct glyph glyph = utf8_glyph(command.bytes + used, command.length - used);

		if (used + glyph.bytes > NAME_BYTES) {
			sink_text(text, ELLIPSIS);
			return;
		}
		if (command.bytes[used])
			sink_bytes(text, command.bytes + used, glyph.bytes);
		else
			sink_char(text, ' ');
		used += glyph.bytes;
	}
}

/* "rank 3: python3 train.py", "rank 3: python3 train.py (forked by 100) (node1)" */
static void write_process_name(struct sink *text, const struct job *job, uint32_t number)
{
	const struct process *process = &job->processes.processes[number];
	struct trace_reader *reader = job->traces[process->trace].reader;
	struct trace_string command = trace_reader_string(reader, process->command);

	if (process->rank >= 0)
		sink_format(text, "rank %" PRId64 ": ", process->rank);
	if (!command.length)
		command = trace_reader_string(reader, process->comm);
	if (command.length)
		write_command(text, command);
	else
		sink_text(text, "unknown");
	if (!process->executed && process->ppid)
		sink_format(text, " (forked by %" PRIu32 ")", process->ppid);
	if (job->many_hosts)
		sink_format(text, " (%s)", job->traces[process->trace].header->host);
}

static struct trace_string name_of(struct model *model, const struct timeline_track *track)
{
	const struct job *job = &model->timeline.job;
	const struct process *process = &job->processes.processes[track->process];
	char title[DEVICE_TITLE_BYTES];

	model->made.used = 0;
	switch (track->kind) {
	case TIMELINE_PROCESS:
		write_process_name(&model->made, job, track->process);
		break;
	case TIMELINE_THREAD:
		/* Other threads are named when they exit. */
		if (track->key == process->pid)
			return trace_reader_string(job->traces[process->trace].reader,
						   process->comm);
		break;
	case TIMELINE_CROSSING:
		return timeline_literal("overlapping");
	case TIMELINE_ASYNC:
		return timeline_literal("asynchronous");
	case TIMELINE_DEVICE:
		device_names_title(&model->devices, job->traces[track->process].host, track->key,
				   title);
		sink_text(&model->made, title);
		break;
	case TIMELINE_REQUESTS:
		sink_format(&model->made, "requests %" PRIu64, track->key + 1);
		break;
	case TIMELINE_COUNTER:
		return timeline_literal(counter_names[track->key]);
	}
	timeline_fail(&model->timeline, model->made.error);
	return (struct trace_string) { model->made.buffer, model->made.used };
}

static void emit(struct model *model, uint32_t number, struct trace_string name)
{
	struct timeline_track *track = &model->tracks[number];

	track->name = name;
	if (model->encoder->track)
		model->encoder->track(&model->timeline, track);
	if (track->kind != TIMELINE_COUNTER)
		track->name.length = 0;
}

/* The first process with a pid keeps it; the others are moved. */
static void set_ids(struct model *model, struct timeline_track *track)
{
	const struct timeline_track *parent =
		track->parent == TIMELINE_NONE ? NULL : &model->tracks[track->parent];
	uint64_t pid, *before;
	bool added;

	if (track->kind == TIMELINE_DEVICE) {
		track->pid = model->device_count++;
	} else if (track->kind == TIMELINE_PROCESS) {
		pid = model->timeline.job.processes.processes[track->process].pid;
		before = map_add(&model->pids, &pid, &added);
		if (!before)
			timeline_fail(&model->timeline, -ENOMEM);
		track->tid = track->pid = pid + (before ? TIMELINE_PID_STEP * (*before)++ : 0);
	} else if (parent) {
		track->pid = parent->pid;
		track->tid = parent->tid;
	}
	if (track->kind == TIMELINE_THREAD) {
		pid = model->timeline.job.processes.processes[track->process].pid;
		track->tid = track->key + (track->pid - pid);
	}
}

const struct timeline_track *track_use(struct model *model, uint32_t number)
{
	struct timeline_track *track = &model->tracks[number];

	if (!track->used) {
		if (track->parent != TIMELINE_NONE)
			track_use(model, track->parent);
		track->used = true;
		set_ids(model, track);
		emit(model, number, name_of(model, track));
	}
	return track;
}

/* --- names of threads --- */

static int name_threads(void *state, const struct event *events, size_t count)
{
	struct model *model = state;
	struct job *job = &model->timeline.job;

	for (const struct event *event = events; event < events + count; event++) {
		struct trace_string comm = trace_reader_string(
			job->traces[event->block->trace].reader, event_value(event, EXIT_COMM));
		uint64_t pid = event_value(event, EXIT_PID), tid = event_value(event, EXIT_TID);
		uint64_t words[2] = { 0, tid };
		const uint64_t *number;
		uint32_t process;
		int status = process_table_find(&job->processes, event->block->trace, pid,
						event->start, &process);

		if (status)
			return status;
		words[0] = (uint64_t)TIMELINE_THREAD << 32 | process;
		number = map_find(&model->track_numbers, words);
		if (number && model->tracks[*number].used && comm.length && tid != pid)
			emit(model, *number, comm);
	}
	return model->timeline.error;
}

static void name_shared(struct model *model)
{
	for (uint32_t i = TIMELINE_THREADS_MAX; i < model->track_count; i++) {
		char name[64];

		if (!model->tracks[i].shared || !model->tracks[i].used)
			continue;
		snprintf(name, sizeof(name), "%" PRIu64 " events of further threads",
			 model->tracks[i].shared);
		emit(model, i, timeline_literal(name));
	}
}

int tracks_name_threads(struct model *model, struct trace_error *error)
{
	static const struct walk_calls calls = { .events = name_threads };
	const struct walk_consumer consumer = { &calls, model };
	const struct walk walk = {
		.cursor = { .kinds = 1ull << TRACE_EXIT, .whole_rows = true },
		.turns = true,
		.consumers = &consumer,
		.consumer_count = 1,
	};
	int status = model->encoder->track ? walk_run(&model->timeline.job, &walk, error) : 0;

	if (!status)
		name_shared(model);
	return status;
}
