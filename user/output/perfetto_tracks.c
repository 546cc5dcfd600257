/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tracks, interned names and events, field by field as Perfetto's messages have them: the numbers
 * are those of tests/unit/perfetto.proto. Knows nothing of rows.
 *
 * Viewers sort packets by time, those of one time in the order of the file, and an end closes the
 * slice of its track that began last. So slices of a lane must nest, and one that begins with
 * another and ends later must not come after it.
 */
#include "output/perfetto_tracks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "grow.h"
#include "output/escape.h"

/* TracePacket */
enum { CLOCK_SNAPSHOT = 6, TIMESTAMP = 8, SEQUENCE = 10, TRACK_EVENT, INTERNED, FLAGS };
enum { TRACK_DESCRIPTOR = 60 };
/* TrackEvent */
enum { CATEGORY_IID = 3, ANNOTATION, TYPE = 9, NAME_IID, TRACK_UUID };
enum { COUNTER_VALUE = 30, FLOW_IDS = 47, FLOW_ENDS };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
/* InternedData */
enum { CATEGORIES = 1, NAMES, ANNOTATION_NAMES, ANNOTATION_STRINGS = 29 };
/* DebugAnnotation */
enum { ARG_NAME_IID = 1, ARG_UINT = 3, ARG_STRING = 6, ARG_STRING_IID = 17 };

#define STATE_CLEARED 1
#define NEEDS_STATE 2
#define PID_STEP 10000000
#define BIN_MOST 1000 /* bins of counters in a run */
#define BIN_NS_LEAST 1000000

/* What words are. */
enum { WORD_OPERATION, WORD_FAMILY, WORD_NAME, WORD_CATEGORY, WORD_FILE };

int perfetto_tracks_init(struct perfetto_tracks *tracks, struct job *job,
			 struct perfetto_pack *pack, uint64_t length_ns)
{
	*tracks = (struct perfetto_tracks) { .job = job, .pack = pack };
	tracks->bin_ns = length_ns / BIN_MOST;
	if (tracks->bin_ns < BIN_NS_LEAST)
		tracks->bin_ns = BIN_NS_LEAST;
	map_init(&tracks->numbers, 3, 1);
	map_init(&tracks->pids, 1, 1);
	map_init(&tracks->words, 3, 1);
	sink_open_memory(&tracks->made);
	tracks->iids = PERFETTO_ARG_COUNT;
	return 0;
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
	sink_close(&tracks->made);
}

static void fail(struct perfetto_tracks *tracks, int status)
{
	if (status && !tracks->error)
		tracks->error = status;
}

/* --- messages with texts, in a sink --- */

static void put_uint(struct sink *out, unsigned int field, uint64_t value)
{
	uint8_t bytes[24];

	sink_bytes(out, bytes, perfetto_uint(bytes, field, value) - bytes);
}

static void put_bytes(struct sink *out, unsigned int field, const void *bytes, size_t length)
{
	uint8_t head[24], *at = perfetto_varint(head, PERFETTO_TAG(field, PERFETTO_BYTES));

	sink_bytes(out, head, perfetto_varint(at, length) - head);
	sink_bytes(out, bytes, length);
}

/* Texts are UTF-8. */
static void put_text(struct sink *out, unsigned int field, struct trace_string text)
{
	struct sink clean;

	sink_open_memory(&clean);
	escape_to_utf8(&clean, text.bytes, text.length);
	put_bytes(out, field, clean.buffer ? clean.buffer : "", clean.used);
	if (clean.error && !out->error)
		out->error = clean.error;
	sink_close(&clean);
}

static void put_message(struct sink *out, unsigned int field, struct sink *inner)
{
	put_bytes(out, field, inner->buffer ? inner->buffer : "", inner->used);
	if (inner->error && !out->error)
		out->error = inner->error;
	sink_close(inner);
}

static struct trace_string literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

/* A packet of one field, of this sequence. */
static void add_packet(struct perfetto_tracks *tracks, unsigned int field, struct sink *inner,
		       unsigned int flags)
{
	struct sink *made = &tracks->made;

	made->used = 0;
	put_uint(made, SEQUENCE, 1);
	if (flags)
		put_uint(made, FLAGS, flags);
	put_message(made, field, inner);
	fail(tracks, made->error);
	if (!tracks->error)
		fail(tracks, perfetto_pack_add(tracks->pack, (uint8_t *)made->buffer, made->used));
}

static void put_word(struct sink *interned, unsigned int field, uint64_t iid,
		     struct trace_string text)
{
	struct sink word;

	sink_open_memory(&word);
	put_uint(&word, 1, iid);
	put_text(&word, 2, text);
	put_message(interned, field, &word);
}

static void put_clock(struct sink *snapshot, unsigned int clock, uint64_t time_ns)
{
	struct sink inner;

	sink_open_memory(&inner);
	put_uint(&inner, 1, clock);
	put_uint(&inner, 2, time_ns);
	put_message(snapshot, 1, &inner);
}

int perfetto_tracks_begin(struct perfetto_tracks *tracks, uint64_t start_unix_ns)
{
#define ARG_NAME(id, name) name,
	static const char *const names[] = { NULL, PERFETTO_ARGS(ARG_NAME) };
	struct sink snapshot, interned;

	/* Time 0 of the trace's clock (6, since boot), and what the wall clock (1) said. */
	sink_open_memory(&snapshot);
	put_clock(&snapshot, 6, 0);
	put_clock(&snapshot, 1, start_unix_ns);
	put_uint(&snapshot, 2, 6);
	add_packet(tracks, CLOCK_SNAPSHOT, &snapshot, 0);
	sink_open_memory(&interned);
	for (size_t i = 1; i < PERFETTO_ARG_COUNT; i++)
		put_word(&interned, ANNOTATION_NAMES, i, literal(names[i]));
	add_packet(tracks, INTERNED, &interned, STATE_CLEARED | NEEDS_STATE);
	return tracks->error;
}

/* --- words --- */

static uint64_t find_word(struct perfetto_tracks *tracks, uint64_t what, uint64_t trace,
			  uint64_t id, bool *added)
{
	const uint64_t key[] = { what, trace, id };
	uint64_t *iid = map_add(&tracks->words, key, added);

	if (!iid) {
		fail(tracks, -ENOMEM);
		*added = false;
		return 0;
	}
	if (*added)
		*iid = tracks->iids++;
	return *iid;
}

static void tell_word(struct perfetto_tracks *tracks, unsigned int field, uint64_t iid,
		      struct trace_string text)
{
	struct sink interned;

	sink_open_memory(&interned);
	put_word(&interned, field, iid, text);
	add_packet(tracks, INTERNED, &interned, NEEDS_STATE);
}

uint64_t perfetto_operation(struct perfetto_tracks *tracks, uint16_t operation)
{
	bool added;
	uint64_t iid = find_word(tracks, WORD_OPERATION, 0, operation, &added);

	if (added)
		tell_word(tracks, NAMES, iid, literal(tracks->job->operations[operation].name));
	return iid;
}

uint64_t perfetto_family(struct perfetto_tracks *tracks, enum trace_family family)
{
	bool added;
	uint64_t iid = find_word(tracks, WORD_FAMILY, 0, family, &added);

	if (added)
		tell_word(tracks, CATEGORIES, iid, literal(trace_family_names[family]));
	return iid;
}

static uint64_t string_word(struct perfetto_tracks *tracks, uint64_t what, unsigned int field,
			    uint32_t trace, uint64_t string, const char *none)
{
	struct trace_string text;
	bool added;
	uint64_t iid = find_word(tracks, what, trace, string, &added);

	if (!added)
		return iid;
	text = trace_reader_string(tracks->job->traces[trace].reader, string);
	tell_word(tracks, field, iid, text.length ? text : literal(none));
	return iid;
}

uint64_t perfetto_name(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string)
{
	return string_word(tracks, WORD_NAME, NAMES, trace, string, "(no name)");
}

uint64_t perfetto_category(struct perfetto_tracks *tracks, uint32_t trace, uint64_t string)
{
	return string_word(tracks, WORD_CATEGORY, CATEGORIES, trace, string, "span");
}

uint64_t perfetto_file(struct perfetto_tracks *tracks, uint32_t file)
{
	bool added;
	uint64_t iid = find_word(tracks, WORD_FILE, 0, file, &added);
	struct trace_string path;

	if (!added)
		return iid;
	path = file_table_path(&tracks->job->files, file);
	tell_word(tracks, ANNOTATION_STRINGS, iid, path.length ? path : literal("(no path)"));
	return iid;
}

/* --- tracks --- */

static void tell_track(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
		       struct trace_string name, unsigned int field, struct sink *of)
{
	struct sink track;

	sink_open_memory(&track);
	put_uint(&track, 1, uuid);
	if (name.length)
		put_text(&track, 2, name);
	if (of)
		put_message(&track, field, of);
	if (parent)
		put_uint(&track, 5, parent);
	add_packet(tracks, TRACK_DESCRIPTOR, &track, 0);
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
	put_uint(&inner, 1, known->pid);
	for (size_t at = 0; at < command.length;) {
		size_t length = strnlen(command.bytes + at, command.length - at);

		put_text(&inner, 2, (struct trace_string) { command.bytes + at, length });
		at += length + 1;
	}
	if (process->rank >= 0)
		sink_format(&name, "rank %lld: ", (long long)process->rank);
	sink_bytes(&name, comm.bytes, comm.length);
	if (tracks->job->many_hosts)
		sink_format(&name, " (%s)", tracks->job->traces[process->trace].header->host);
	if (!name.used)
		sink_text(&name, number == PROCESS_UNKNOWN ? "(unknown)" : "process");
	put_text(&inner, 6, (struct trace_string) { name.buffer, name.used });
	sink_close(&name);
	tell_track(tracks, known->uuid, 0, literal(""), 3, &inner);
}

static struct perfetto_process *find_process(struct perfetto_tracks *tracks, uint32_t number)
{
	uint64_t pid = tracks->job->processes.processes[number].pid;
	struct perfetto_process *process;
	uint64_t *had;
	bool added;

	if (!GROW(tracks->processes, tracks->process_room, (size_t)number + 1)) {
		fail(tracks, -ENOMEM);
		return NULL;
	}
	process = &tracks->processes[number];
	if (process->uuid)
		return process;
	had = map_add(&tracks->pids, &pid, &added);
	if (!had) {
		fail(tracks, -ENOMEM);
		return NULL;
	}
	process->uuid = ++tracks->uuids;
	process->moved = *had * PID_STEP % INT32_MAX;
	process->pid = (pid + process->moved) % INT32_MAX;
	++*had;
	name_process(tracks, number, process);
	return process;
}

static void tell_thread(struct perfetto_tracks *tracks, const struct perfetto_group *group,
			uint64_t uuid, struct trace_string name)
{
	const struct perfetto_process *process = &tracks->processes[group->process];
	struct sink inner;

	sink_open_memory(&inner);
	put_uint(&inner, 1, process->pid);
	put_uint(&inner, 2, (group->key + process->moved) % INT32_MAX);
	if (name.length)
		put_text(&inner, 5, name);
	tell_track(tracks, uuid, process->uuid, literal(""), 4, &inner);
}

/* The name of a group's first lane says what it is, those of others that they are aside. */
static void tell_lane(struct perfetto_tracks *tracks, uint32_t number, size_t lane)
{
	const struct perfetto_group *group = &tracks->groups[number];
	uint64_t uuid = group->lanes[lane].uuid, parent = 0;
	enum perfetto_kind kind = group->kind;
	char name[64] = "overlapping";

	if (kind == PERFETTO_THREAD && !lane) {
		tell_thread(tracks, group, uuid, literal(""));
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
		snprintf(name, sizeof(name), "requests of %llu:%llu",
			 (unsigned long long)group->key >> 20,
			 (unsigned long long)group->key & 0xfffff);
	tell_track(tracks, uuid, parent, literal(name), 0, NULL);
}

static struct perfetto_lane *add_lane(struct perfetto_tracks *tracks, uint32_t number)
{
	struct perfetto_group *group = &tracks->groups[number];
	size_t lane = group->count;

	if (!GROW(group->lanes, group->room, lane + 1)) {
		fail(tracks, -ENOMEM);
		return NULL;
	}
	group->lanes[lane].uuid = ++tracks->uuids;
	group->count++;
	tell_lane(tracks, number, lane);
	return &tracks->groups[number].lanes[lane];
}

uint32_t perfetto_group(struct perfetto_tracks *tracks, enum perfetto_kind kind, uint32_t process,
			uint64_t key)
{
	const uint64_t words[] = { kind, process, key };
	bool added;
	uint64_t *number = map_add(&tracks->numbers, words, &added);

	if (!number || (added && !GROW(tracks->groups, tracks->room, tracks->count + 1)) ||
	    (added && kind != PERFETTO_DEVICE && !find_process(tracks, process))) {
		fail(tracks, -ENOMEM);
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
		tell_thread(tracks, &tracks->groups[*number], tracks->groups[*number].lanes[0].uuid,
			    name);
}

/* --- events --- */

void perfetto_event_begin(struct perfetto_event *event)
{
	event->track = event->name = event->category = event->flow = event->flow_end = 0;
	event->end = event->args;
	event->text.length = 0;
}

/* Numbers of fields and arguments are small: their tags are a byte. */
void perfetto_arg_uint(struct perfetto_event *event, enum perfetto_arg arg, uint64_t value)
{
	uint8_t *at = event->end, *length;

	if (at + 32 > event->args + sizeof(event->args))
		return;
	at = perfetto_varint(at, PERFETTO_TAG(ANNOTATION, PERFETTO_BYTES));
	length = at++;
	at = perfetto_uint(at, ARG_NAME_IID, arg);
	at = perfetto_uint(at, ARG_UINT, value);
	*length = at - length - 1;
	event->end = at;
}

void perfetto_arg_interned(struct perfetto_event *event, enum perfetto_arg arg, uint64_t iid)
{
	uint8_t *at = event->end, *length;

	if (at + 32 > event->args + sizeof(event->args))
		return;
	at = perfetto_varint(at, PERFETTO_TAG(ANNOTATION, PERFETTO_BYTES));
	length = at++;
	at = perfetto_uint(at, ARG_NAME_IID, arg);
	at = perfetto_uint(at, ARG_STRING_IID, iid);
	*length = at - length - 1;
	event->end = at;
}

static uint8_t *put_flow(uint8_t *at, unsigned int field, uint64_t id)
{
	at = perfetto_varint(at, PERFETTO_TAG(field, PERFETTO_FIXED64));
	memcpy(at, &id, sizeof(id));
	return at + sizeof(id);
}

/* A packet up to its event. */
static uint8_t *packet_head(uint8_t *at, uint64_t time_ns, unsigned int flags)
{
	at = perfetto_uint(at, TIMESTAMP, time_ns);
	at = perfetto_uint(at, SEQUENCE, 1);
	return flags ? perfetto_uint(at, FLAGS, flags) : at;
}

static uint8_t *event_head(uint8_t *at, const struct perfetto_event *event, unsigned int type)
{
	if (event->category)
		at = perfetto_uint(at, CATEGORY_IID, event->category);
	at = perfetto_uint(at, TYPE, type);
	if (event->name)
		at = perfetto_uint(at, NAME_IID, event->name);
	at = perfetto_uint(at, TRACK_UUID, event->track);
	if (event->flow)
		at = put_flow(at, FLOW_IDS, event->flow);
	return event->flow_end ? put_flow(at, FLOW_ENDS, event->flow_end) : at;
}

/* One that has a text of any length. */
static void add_long(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		     unsigned int type, uint64_t time_ns)
{
	uint8_t head[128];
	struct sink *made = &tracks->made, inner, arg;

	sink_open_memory(&inner);
	sink_open_memory(&arg);
	sink_bytes(&inner, head, event_head(head, event, type) - head);
	sink_bytes(&inner, event->args, event->end - event->args);
	put_uint(&arg, ARG_NAME_IID, event->text_arg);
	put_text(&arg, ARG_STRING, event->text);
	put_message(&inner, ANNOTATION, &arg);
	made->used = 0;
	sink_bytes(made, head, packet_head(head, time_ns, NEEDS_STATE) - head);
	put_message(made, TRACK_EVENT, &inner);
	fail(tracks, made->error);
	if (!tracks->error)
		fail(tracks, perfetto_pack_add(tracks->pack, (uint8_t *)made->buffer, made->used));
}

static void add_event(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		      unsigned int type, uint64_t time_ns)
{
	uint8_t body[128 + PERFETTO_EVENT_BYTES], packet[64 + sizeof(body)], *at, *end;

	if (event->text.length) {
		add_long(tracks, event, type, time_ns);
		return;
	}
	end = event_head(body, event, type);
	memcpy(end, event->args, event->end - event->args);
	end += event->end - event->args;
	at = packet_head(packet, time_ns, NEEDS_STATE);
	at = perfetto_bytes(at, TRACK_EVENT, body, end - body);
	if (!tracks->error)
		fail(tracks, perfetto_pack_add(tracks->pack, packet, at - packet));
}

static void add_end(struct perfetto_tracks *tracks, uint64_t track, uint64_t time_ns)
{
	uint8_t body[32], packet[96], *at, *end;

	end = perfetto_uint(body, TYPE, TYPE_END);
	end = perfetto_uint(end, TRACK_UUID, track);
	at = packet_head(packet, time_ns, 0);
	at = perfetto_bytes(at, TRACK_EVENT, body, end - body);
	if (!tracks->error)
		fail(tracks, perfetto_pack_add(tracks->pack, packet, at - packet));
}

void perfetto_slice(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		    uint64_t start_ns, uint64_t end_ns)
{
	add_event(tracks, event, TYPE_BEGIN, start_ns);
	add_end(tracks, event->track, end_ns);
}

void perfetto_instant(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		      uint64_t time_ns)
{
	add_event(tracks, event, TYPE_INSTANT, time_ns);
}

/* --- counters --- */

static uint64_t counter_track(struct perfetto_tracks *tracks, struct perfetto_process *process,
			      enum perfetto_counter counter)
{
	static const char *const names[] = { [COUNT_READ] = "read",
					     [COUNT_WRITTEN] = "written",
					     [COUNT_FETCHED] = "brought into the cache" };
	struct sink inner;

	if (process->counters[counter].uuid)
		return process->counters[counter].uuid;
	process->counters[counter].uuid = ++tracks->uuids;
	sink_open_memory(&inner);
	put_text(&inner, 6, literal("bytes/s"));
	tell_track(tracks, process->counters[counter].uuid, process->uuid, literal(names[counter]),
		   8, &inner);
	return process->counters[counter].uuid;
}

static void add_counter(struct perfetto_tracks *tracks, uint64_t track, uint64_t value,
			uint64_t time_ns)
{
	uint8_t body[48], packet[96], *at, *end;

	end = perfetto_uint(body, TYPE, TYPE_COUNTER);
	end = perfetto_uint(end, TRACK_UUID, track);
	end = perfetto_uint(end, COUNTER_VALUE, value);
	at = packet_head(packet, time_ns, 0);
	at = perfetto_bytes(at, TRACK_EVENT, body, end - body);
	if (!tracks->error)
		fail(tracks, perfetto_pack_add(tracks->pack, packet, at - packet));
}

/* The sum of a bin as bytes a second, and 0 behind it. */
static void flush_counter(struct perfetto_tracks *tracks, uint32_t number,
			  enum perfetto_counter counter, uint64_t next_bin)
{
	struct perfetto_process *process = &tracks->processes[number];
	uint64_t bin = process->counters[counter].bin, bytes = process->counters[counter].bytes;
	uint64_t track = counter_track(tracks, process, counter);

	process = &tracks->processes[number];
	add_counter(tracks, track,
		    (double)bytes * 1e9 / tracks->bin_ns < 9e18
			    ? (double)bytes * 1e9 / tracks->bin_ns
			    : INT64_MAX,
		    bin * tracks->bin_ns);
	if (next_bin > bin + 1)
		add_counter(tracks, track, 0, (bin + 1) * tracks->bin_ns);
	process->counters[counter].bytes = 0;
}

void perfetto_count(struct perfetto_tracks *tracks, uint32_t number, enum perfetto_counter counter,
		    uint64_t bytes, uint64_t time_ns)
{
	struct perfetto_process *process = find_process(tracks, number);
	uint64_t bin = time_ns / tracks->bin_ns;

	if (!process || !bytes)
		return;
	if (process->counters[counter].any && bin > process->counters[counter].bin)
		flush_counter(tracks, number, counter, bin);
	if (!process->counters[counter].any || bin > process->counters[counter].bin)
		process->counters[counter].bin = bin;
	process->counters[counter].any = true;
	process->counters[counter].bytes = clock_add(process->counters[counter].bytes, bytes);
}

void perfetto_count_end(struct perfetto_tracks *tracks)
{
	for (size_t i = 0; i < tracks->process_room; i++)
		for (int j = 0; j < PERFETTO_COUNTERS; j++)
			if (tracks->processes[i].counters[j].any)
				flush_counter(tracks, i, j, UINT64_MAX);
}
