/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Events on tracks: slices, instants and counters. Field numbers are those of
 * tests/unit/perfetto.proto.
 */
#include "output/timeline/perfetto_message.h"

/* TrackEvent */
enum { CATEGORY_IID = 3, ANNOTATION, TYPE = 9, NAME_IID, TRACK_UUID };
enum { COUNTER_VALUE = 30, FLOW_IDS = 47, FLOW_ENDS };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
/* DebugAnnotation */
enum { ARG_NAME_IID = 1, ARG_UINT = 3, ARG_STRING = 6, ARG_STRING_IID = 17 };

#define HEAD_BYTES                                                                                 \
	128 /* exceeds a packet's fields before its event, and an event's before its arguments */

void perfetto_event_begin(struct perfetto_event *event)
{
	event->track = event->name = event->category = event->flow = event->flow_end = 0;
	event->end = event->args;
	event->text.length = 0;
}

/* An annotation is shorter than 128 bytes, so its length takes one byte. */
static void put_arg(struct perfetto_event *event, enum perfetto_arg arg, unsigned int field,
		    uint64_t value)
{
	uint8_t *at = event->end, *length;

	if (at + 32 > event->args + sizeof(event->args))
		return;
	at = perfetto_varint(at, PERFETTO_TAG(ANNOTATION, PERFETTO_BYTES));
	length = at++;
	at = perfetto_uint(at, ARG_NAME_IID, arg);
	at = perfetto_uint(at, field, value);
	*length = at - length - 1;
	event->end = at;
}

void perfetto_arg_uint(struct perfetto_event *event, enum perfetto_arg arg, uint64_t value)
{
	put_arg(event, arg, ARG_UINT, value);
}

void perfetto_arg_interned(struct perfetto_event *event, enum perfetto_arg arg, uint64_t iid)
{
	put_arg(event, arg, ARG_STRING_IID, iid);
}

static uint8_t *put_flow(uint8_t *at, unsigned int field, uint64_t id)
{
	at = perfetto_varint(at, PERFETTO_TAG(field, PERFETTO_FIXED64));
	memcpy(at, &id, sizeof(id));
	return at + sizeof(id);
}

/* Writes a packet up to its event. */
static uint8_t *packet_head(uint8_t *at, uint64_t time_ns, unsigned int flags)
{
	at = perfetto_uint(at, PACKET_TIMESTAMP, time_ns);
	at = perfetto_uint(at, PACKET_SEQUENCE, 1);
	return flags ? perfetto_uint(at, PACKET_FLAGS, flags) : at;
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

/* Adds a packet for an event without texts: `event` to `end`, followed by `args`. */
static void add_short(struct perfetto_tracks *tracks, const uint8_t *event, const uint8_t *end,
		      const uint8_t *args, size_t args_length, uint64_t time_ns, unsigned int flags)
{
	size_t length = end - event;
	uint8_t head[HEAD_BYTES], *at, *to;

	at = packet_head(head, time_ns, flags);
	at = perfetto_head(at, PACKET_TRACK_EVENT, length + args_length);
	if (!tracks->error)
		perfetto_fail(tracks, perfetto_pack_add(tracks->pack,
							at - head + length + args_length, &to));
	if (tracks->error)
		return;
	memcpy(to, head, at - head);
	memcpy(to + (at - head), event, length);
	memcpy(to + (at - head) + length, args, args_length);
}

/* Adds a packet for an event with a text of any length. */
static void add_long(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		     unsigned int type, uint64_t time_ns)
{
	uint8_t head[HEAD_BYTES];
	struct sink *made = &tracks->made, inner, arg;

	sink_open_memory(&inner);
	sink_open_memory(&arg);
	sink_bytes(&inner, head, event_head(head, event, type) - head);
	sink_bytes(&inner, event->args, event->end - event->args);
	perfetto_put_uint(&arg, ARG_NAME_IID, event->text_arg);
	perfetto_put_text(&arg, ARG_STRING, event->text);
	perfetto_put_message(&inner, ANNOTATION, &arg);
	made->used = 0;
	sink_bytes(made, head, packet_head(head, time_ns, PACKET_NEEDS_STATE) - head);
	perfetto_put_message(made, PACKET_TRACK_EVENT, &inner);
	perfetto_add_made(tracks);
}

static void add_event(struct perfetto_tracks *tracks, const struct perfetto_event *event,
		      unsigned int type, uint64_t time_ns)
{
	uint8_t head[HEAD_BYTES];

	if (event->text.length)
		add_long(tracks, event, type, time_ns);
	else
		add_short(tracks, head, event_head(head, event, type), event->args,
			  event->end - event->args, time_ns, PACKET_NEEDS_STATE);
}

static void add_end(struct perfetto_tracks *tracks, uint64_t track, uint64_t time_ns)
{
	uint8_t body[32], *end;

	end = perfetto_uint(body, TYPE, TYPE_END);
	end = perfetto_uint(end, TRACK_UUID, track);
	add_short(tracks, body, end, end, 0, time_ns, 0);
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
	perfetto_put_text(&inner, 6, perfetto_literal("bytes/s"));
	perfetto_emit_track(tracks, process->counters[counter].uuid, process->uuid,
			    perfetto_literal(names[counter]), 8, &inner);
	return process->counters[counter].uuid;
}

static void add_counter(struct perfetto_tracks *tracks, uint64_t track, uint64_t value,
			uint64_t time_ns)
{
	uint8_t body[48], *end;

	end = perfetto_uint(body, TYPE, TYPE_COUNTER);
	end = perfetto_uint(end, TRACK_UUID, track);
	end = perfetto_uint(end, COUNTER_VALUE, value);
	add_short(tracks, body, end, end, 0, time_ns, 0);
}

/* Writes a bin's sum as bytes per second, and a 0 after it unless the next bin follows. */
static void flush_counter(struct perfetto_tracks *tracks, uint32_t number,
			  enum perfetto_counter counter, uint64_t next_bin)
{
	struct perfetto_process *process = &tracks->processes[number];
	uint64_t bin = process->counters[counter].bin;
	uint64_t track = counter_track(tracks, process, counter);
	double rate = (double)process->counters[counter].bytes * 1e9 / tracks->bin_ns;

	add_counter(tracks, track, rate < 9e18 ? rate : INT64_MAX, bin * tracks->bin_ns);
	if (next_bin > bin + 1)
		add_counter(tracks, track, 0, (bin + 1) * tracks->bin_ns);
	process->counters[counter].bytes = 0;
}

void perfetto_count(struct perfetto_tracks *tracks, uint32_t number, enum perfetto_counter counter,
		    uint64_t bytes, uint64_t time_ns)
{
	struct perfetto_process *process = perfetto_find_process(tracks, number);
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
