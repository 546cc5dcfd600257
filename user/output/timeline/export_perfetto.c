/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes a timeline in Perfetto's own format (protobuf), for ui.perfetto.dev and trace_processor:
 * the messages of tests/unit/perfetto.proto, which has the field numbers, on one sequence, with
 * interned names and paths and compressed packets.
 *
 * Viewers sort packets by time, those of the same time in file order, and an end closes the latest
 * slice of its track. The model's order suits that: slices of a track nest, and one that begins
 * with another and ends later comes first.
 */
#include <errno.h>

#include "collections/map.h"
#include "output/base/args.h"
#include "output/base/escape.h"
#include "output/base/flags.h"
#include "output/timeline/perfetto_pack.h"
#include "output/timeline/timeline.h"

/* TracePacket, and its flags */
enum { CLOCK_SNAPSHOT = 6, TIMESTAMP = 8, SEQUENCE = 10, TRACK_EVENT, INTERNED, PACKET_FLAGS };
enum { TRACK_DESCRIPTOR = 60 };
enum { STATE_CLEARED = 1, NEEDS_STATE };
/* TrackEvent */
enum { CATEGORY_IID = 3, ANNOTATION, TYPE = 9, NAME_IID, TRACK_UUID };
enum { COUNTER_VALUE = 30, FLOW_IDS = 47, FLOW_ENDS };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_INSTANT, TYPE_COUNTER };
/* DebugAnnotation */
enum { ARG_NAME_IID = 1, ARG_UINT = 3, ARG_STRING = 6, ARG_STRING_IID = 17 };
/* InternedData; files and flags are strings of annotations, too */
enum { CATEGORIES = 1, NAMES, ARG_NAMES, ARG_STRINGS = 29 };
#define OF_FILES (1u << 8)
#define OF_FLAGS(kind) (((kind) + 2u) << 8)
/* TrackDescriptor, ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
enum { UUID = 1, TRACK_NAME, PROCESS, THREAD, PARENT_UUID, COUNTER = 8 };
enum { PID = 1, COMMAND_LINE, PROCESS_NAME = 6, TID = 2, THREAD_NAME = 5, UNIT_NAME };

#define WORDS_RECENT 1024
#define NO_TIME UINT64_MAX
#define FIELD_BYTES 32	   /* exceeds a number with its tag */
#define NUMBERS_BYTES 2048 /* exceeds all numbers of a message */

struct word {
	uint64_t what, id, iid; /* what 0: none */
};

struct perfetto {
	struct sink *file;
	struct perfetto_pack *pack;
	struct sink body, inner, text; /* messages under construction, innermost last */
	struct map iids;	       /* what, id -> iid */
	struct word recent[WORDS_RECENT];
};

/* --- messages --- */

static struct sink *begin(struct sink *message)
{
	message->used = 0;
	sink_reserve(message, NUMBERS_BYTES);
	return message;
}

/* Writes a number. There must be room: begin() makes enough for the numbers of any message, and
 * put_bytes() makes it again. */
static inline void put_uint(struct sink *out, unsigned int field, uint64_t value)
{
	uint8_t *at = (uint8_t *)out->buffer + out->used;

	if (!out->error)
		out->used += protobuf_uint(at, field, value) - at;
}

static void put_bytes(struct sink *out, unsigned int field, const char *bytes, size_t length)
{
	uint8_t head[FIELD_BYTES];

	sink_bytes(out, head, protobuf_head(head, field, length) - head);
	sink_bytes(out, bytes, length);
	sink_reserve(out, NUMBERS_BYTES);
}

/* Writes the text as UTF-8. */
static void put_text(struct perfetto *perfetto, struct sink *out, unsigned int field,
		     struct trace_string text)
{
	perfetto->text.used = 0;
	escape_to_utf8(&perfetto->text, text.bytes, text.length);
	put_bytes(out, field, perfetto->text.buffer, perfetto->text.used);
}

/* Adds a packet with one message; `time_ns` may be NO_TIME. */
static void add_packet(struct sink *out, uint64_t time_ns, unsigned int flags, unsigned int field,
		       const struct sink *message)
{
	uint8_t head[4 * FIELD_BYTES], *end = head, *at;
	size_t length;

	if (time_ns != NO_TIME)
		end = protobuf_uint(end, TIMESTAMP, time_ns);
	end = protobuf_uint(end, SEQUENCE, 1);
	if (flags)
		end = protobuf_uint(end, PACKET_FLAGS, flags);
	end = protobuf_head(end, field, message->used);
	length = end - head;
	if (!sink_reserve(out, FIELD_BYTES + length + message->used))
		return;
	at = protobuf_head((uint8_t *)out->buffer + out->used, 1, length + message->used);
	memcpy(at, head, length);
	memcpy(at + length, message->buffer, message->used);
	out->used = (char *)at + length + message->used - out->buffer;
}

/* Ends a callback: nothing holds timeline->out, so a full chunk can be passed on. */
static void next_chunk(struct timeline *timeline)
{
	struct perfetto *perfetto = timeline->state;

	if (timeline->out->used < PERFETTO_CHUNK_BYTES)
		return;
	timeline_fail(timeline, timeline->out->error);
	timeline_fail(timeline, perfetto->body.error);
	timeline_fail(timeline, perfetto->inner.error);
	timeline_fail(timeline, perfetto->text.error);
	timeline_fail(timeline, perfetto_pack_next(perfetto->pack, &timeline->out));
}

/* --- interned texts: each is written once, before the first packet that refers to it --- */

static void put_word(struct perfetto *perfetto, struct sink *out, unsigned int field, uint64_t iid,
		     struct trace_string text)
{
	uint8_t head[FIELD_BYTES], word[2 * FIELD_BYTES], *end = protobuf_uint(word, 1, iid);

	perfetto->text.used = 0;
	escape_to_utf8(&perfetto->text, text.bytes, text.length);
	end = protobuf_head(end, 2, perfetto->text.used);
	sink_bytes(out, head, protobuf_head(head, field, end - word + perfetto->text.used) - head);
	sink_bytes(out, word, end - word);
	sink_bytes(out, perfetto->text.buffer, perfetto->text.used);
}

static struct word *recent_word(struct perfetto *perfetto, uint64_t what, uint64_t id)
{
	return &perfetto->recent[(id ^ id >> 4 ^ what) % WORDS_RECENT];
}

/* Returns the number of a text that was used recently; 0: call add_word. */
static inline uint64_t find_word(struct perfetto *perfetto, uint64_t what, uint64_t id)
{
	const struct word *recent = recent_word(perfetto, what, id);

	return recent->id == id && recent->what == what ? recent->iid : 0;
}

/* Returns the number of a text that find_word did not find. `what` is a field of InternedData, and
 * the kind of the ids. */
static uint64_t add_word(struct timeline *timeline, uint64_t what, uint64_t id,
			 struct trace_string text)
{
	struct perfetto *perfetto = timeline->state;
	const uint64_t key[] = { what, id };
	bool added;
	uint64_t *iid = map_add(&perfetto->iids, key, &added);

	if (!iid) {
		timeline_fail(timeline, -ENOMEM);
		return 0;
	}
	if (added) {
		*iid = TIMELINE_ARG_COUNT + perfetto->iids.count;
		put_word(perfetto, begin(&perfetto->inner), what & 0xff, *iid, text);
		add_packet(timeline->out, NO_TIME, NEEDS_STATE, INTERNED, &perfetto->inner);
	}
	*recent_word(perfetto, what, id) = (struct word) { what, id, *iid };
	return *iid;
}

static uint64_t name_iid(struct timeline *timeline, unsigned int field,
			 const struct timeline_name *name)
{
	uint64_t iid = find_word(timeline->state, field, name->id);

	return iid ? iid : add_word(timeline, field, name->id, name->text);
}

static uint64_t file_iid(struct timeline *timeline, const struct timeline_arg *arg)
{
	uint64_t iid = find_word(timeline->state, ARG_STRINGS | OF_FILES, arg->value);
	struct trace_string path;

	if (iid)
		return iid;
	path = timeline_text(timeline, arg);
	return add_word(timeline, ARG_STRINGS | OF_FILES, arg->value,
			path.length ? path : timeline_literal("(no path)"));
}

/* "nowait, direct" */
static uint64_t flags_iid(struct timeline *timeline, enum trace_kind kind, uint64_t flags)
{
	uint64_t iid = find_word(timeline->state, ARG_STRINGS | OF_FLAGS(kind), flags);
	struct sink names;

	if (iid)
		return iid;
	sink_open_memory(&names);
	for (uint64_t left = flags; left; left &= left - 1) {
		unsigned int bit = __builtin_ctzll(left);

		sink_text(&names, names.used ? ", " : "");
		if (flags_name(kind, bit))
			sink_text(&names, flags_name(kind, bit));
		else
			sink_format(&names, "bit %u", bit);
	}
	timeline_fail(timeline, names.error);
	iid = add_word(timeline, ARG_STRINGS | OF_FLAGS(kind), flags,
		       (struct trace_string) { names.buffer, names.used });
	sink_close(&names);
	return iid;
}

/* --- arguments --- */

static inline void put_arg(struct sink *event, enum timeline_arg_id id, unsigned int field,
			   uint64_t value)
{
	uint8_t *at = (uint8_t *)event->buffer + event->used, *length;

	if (event->error)
		return;
	at = protobuf_varint(at, PROTOBUF_TAG(ANNOTATION, PROTOBUF_BYTES));
	length = at++; /* an annotation without a text is shorter than 128 bytes */
	at = protobuf_uint(at, ARG_NAME_IID, id + 1);
	at = protobuf_uint(at, field, value);
	*length = at - length - 1;
	event->used = (char *)at - event->buffer;
}

static void put_text_arg(struct perfetto *perfetto, enum timeline_arg_id id,
			 struct trace_string text)
{
	struct sink *inner = begin(&perfetto->inner);

	put_uint(inner, ARG_NAME_IID, id + 1);
	put_text(perfetto, inner, ARG_STRING, text);
	put_bytes(&perfetto->body, ANNOTATION, inner->buffer, inner->used);
}

/* Returns whether other arguments say the same: omitting it keeps packets small. */
static bool is_redundant(const struct timeline_item *item, const struct timeline_arg *arg)
{
	const struct timeline_arg *bytes;

	if (arg->id == TIMELINE_ASKED) {
		bytes = timeline_find_arg(item, TIMELINE_BYTES);
		return bytes && bytes->value == arg->value;
	}
	return arg->id == TIMELINE_RESULT || (arg->id == TIMELINE_FETCHED && !arg->value);
}

static void add_arg(struct timeline *timeline, const struct timeline_item *item,
		    const struct timeline_arg *arg)
{
	struct perfetto *perfetto = timeline->state;
	struct sink *body = &perfetto->body, given;

	switch (arg->type) {
	case TIMELINE_PATH:
		put_arg(body, arg->id, ARG_STRING_IID, file_iid(timeline, arg));
		break;
	case TIMELINE_BITS:
		put_arg(body, arg->id, ARG_STRING_IID, flags_iid(timeline, item->kind, arg->value));
		break;
	case TIMELINE_TEXT:
	case TIMELINE_WORDS:
		put_text_arg(perfetto, arg->id, arg->text);
		break;
	case TIMELINE_MSGPACK:
		if (!arg->text.length)
			break;
		sink_open_memory(&given);
		put_text_arg(perfetto, arg->id, args_json(&given, arg->text));
		timeline_fail(timeline, given.error);
		sink_close(&given);
		break;
	default:
		put_arg(body, arg->id, ARG_UINT, arg->value);
	}
}

/* --- events --- */

static void put_flow(struct sink *event, unsigned int field, uint64_t id)
{
	uint8_t bytes[FIELD_BYTES], *end;

	end = protobuf_varint(bytes, PROTOBUF_TAG(field, PROTOBUF_FIXED64));
	memcpy(end, &id, sizeof(id));
	sink_bytes(event, bytes, end + sizeof(id) - bytes);
	sink_reserve(event, NUMBERS_BYTES);
}

static void build_event(struct timeline *timeline, const struct timeline_item *item,
			unsigned int type)
{
	struct perfetto *perfetto = timeline->state;
	uint64_t category = name_iid(timeline, CATEGORIES, &item->category);
	uint64_t name = name_iid(timeline, NAMES, &item->name);
	struct sink *body = begin(&perfetto->body);

	put_uint(body, CATEGORY_IID, category);
	put_uint(body, TYPE, type);
	put_uint(body, NAME_IID, name);
	put_uint(body, TRACK_UUID, item->track->number + 1);
	if (item->flow)
		put_flow(body, item->kind == TRACE_BIO ? FLOW_IDS : FLOW_ENDS, item->flow);
	for (size_t i = 0; i < item->arg_count; i++)
		if (!is_redundant(item, &item->args[i]))
			add_arg(timeline, item, &item->args[i]);
}

static void write_slice(struct timeline *timeline, struct sink *out,
			const struct timeline_item *item)
{
	struct perfetto *perfetto = timeline->state;
	uint8_t event[2 * FIELD_BYTES], *end;
	struct sink message;

	build_event(timeline, item, TYPE_BEGIN);
	add_packet(out, item->start_ns, NEEDS_STATE, TRACK_EVENT, &perfetto->body);
	end = protobuf_uint(event, TYPE, TYPE_END);
	end = protobuf_uint(end, TRACK_UUID, item->track->number + 1);
	message = (struct sink) { .buffer = (char *)event, .used = end - event };
	add_packet(out, item->end_ns, 0, TRACK_EVENT, &message);
	next_chunk(timeline);
}

static void write_instant(struct timeline *timeline, const struct timeline_item *item)
{
	struct perfetto *perfetto = timeline->state;

	build_event(timeline, item, TYPE_INSTANT);
	add_packet(timeline->out, item->start_ns, NEEDS_STATE, TRACK_EVENT, &perfetto->body);
	next_chunk(timeline);
}

static void write_counter(struct timeline *timeline, const struct timeline_track *track,
			  uint64_t time_ns, double value)
{
	struct perfetto *perfetto = timeline->state;
	struct sink *body = begin(&perfetto->body);

	put_uint(body, TYPE, TYPE_COUNTER);
	put_uint(body, TRACK_UUID, track->number + 1);
	put_uint(body, COUNTER_VALUE, value < 9e18 ? (uint64_t)value : INT64_MAX);
	add_packet(timeline->out, time_ns, 0, TRACK_EVENT, body);
	next_chunk(timeline);
}

/* --- tracks --- */

static void describe_process(struct timeline *timeline, const struct timeline_track *track)
{
	struct perfetto *perfetto = timeline->state;
	const struct process *process = &timeline->job.processes.processes[track->process];
	const struct trace_reader *reader = timeline->job.traces[process->trace].reader;
	struct trace_string command = trace_reader_string(reader, process->command);
	struct sink *inner = begin(&perfetto->inner);

	put_uint(inner, PID, track->pid % INT32_MAX);
	for (size_t at = 0; at < command.length;) {
		size_t length = strnlen(command.bytes + at, command.length - at);

		put_text(perfetto, inner, COMMAND_LINE,
			 (struct trace_string) { command.bytes + at, length });
		at += length + 1;
	}
	put_text(perfetto, inner, PROCESS_NAME, track->name);
	put_bytes(&perfetto->body, PROCESS, inner->buffer, inner->used);
}

static void describe_thread(struct perfetto *perfetto, const struct timeline_track *track)
{
	struct sink *inner = begin(&perfetto->inner);

	put_uint(inner, PID, track->pid % INT32_MAX);
	put_uint(inner, TID, track->tid % INT32_MAX);
	if (track->name.length)
		put_text(perfetto, inner, THREAD_NAME, track->name);
	put_bytes(&perfetto->body, THREAD, inner->buffer, inner->used);
}

static void write_track(struct timeline *timeline, const struct timeline_track *track)
{
	struct perfetto *perfetto = timeline->state;
	struct sink *body = begin(&perfetto->body), *inner = &perfetto->inner;

	put_uint(body, UUID, track->number + 1);
	if (track->kind == TIMELINE_PROCESS) {
		describe_process(timeline, track);
	} else if (track->kind == TIMELINE_THREAD) {
		describe_thread(perfetto, track);
	} else {
		/* Viewers merge lanes of the same name. */
		put_text(perfetto, body, TRACK_NAME,
			 track->kind == TIMELINE_REQUESTS ? timeline_literal("requests")
							  : track->name);
	}
	if (track->kind == TIMELINE_COUNTER) {
		put_text(perfetto, begin(inner), UNIT_NAME, timeline_literal("bytes/s"));
		put_bytes(body, COUNTER, inner->buffer, inner->used);
	}
	if (track->parent != TIMELINE_NONE)
		put_uint(body, PARENT_UUID, track->parent + 1);
	add_packet(timeline->out, NO_TIME, 0, TRACK_DESCRIPTOR, body);
	next_chunk(timeline);
}

/* --- the trace --- */

static void put_clock(struct perfetto *perfetto, unsigned int clock, uint64_t time_ns)
{
	struct sink *inner = begin(&perfetto->inner);

	put_uint(inner, 1, clock);
	put_uint(inner, 2, time_ns);
	put_bytes(&perfetto->body, 1, inner->buffer, inner->used);
}

/* Starts with the clocks and the names of arguments. */
static int begin_trace(struct timeline *timeline)
{
	struct perfetto *perfetto = timeline->state;
	struct sink *body = &perfetto->body;
	int status = perfetto_pack_open(&perfetto->pack, timeline->out);

	sink_open_memory(&perfetto->body);
	sink_open_memory(&perfetto->inner);
	sink_open_memory(&perfetto->text);
	map_init(&perfetto->iids, 2, 1);
	begin(body);
	if (!status)
		status = perfetto_pack_next(perfetto->pack, &timeline->out);
	if (status)
		return status;
	/* Ties time 0 of the trace's clock (6, since boot) to the wall clock (1). */
	put_clock(perfetto, 6, 0);
	put_clock(perfetto, 1, timeline->base_ns);
	put_uint(body, 2, 6);
	add_packet(timeline->out, NO_TIME, 0, CLOCK_SNAPSHOT, body);
	begin(body);
	for (size_t i = 0; i < TIMELINE_ARG_COUNT; i++)
		put_word(perfetto, body, ARG_NAMES, i + 1, timeline_literal(timeline_arg_names[i]));
	add_packet(timeline->out, NO_TIME, STATE_CLEARED | NEEDS_STATE, INTERNED, body);
	return body->error;
}

static int finish_trace(struct timeline *timeline)
{
	struct perfetto *perfetto = timeline->state;

	if (perfetto->body.error || perfetto->inner.error || perfetto->text.error)
		return -ENOMEM;
	return perfetto_pack_finish(perfetto->pack);
}

static void close_trace(struct timeline *timeline)
{
	struct perfetto *perfetto = timeline->state;

	perfetto_pack_close(perfetto->pack);
	sink_close(&perfetto->body);
	sink_close(&perfetto->inner);
	sink_close(&perfetto->text);
	map_free(&perfetto->iids);
}

static const struct timeline_encoder perfetto = {
	.stacks = true,
	.state_bytes = sizeof(struct perfetto),
	.begin = begin_trace,
	.track = write_track,
	.slice = write_slice,
	.instant = write_instant,
	.counter = write_counter,
	.finish = finish_trace,
	.close = close_trace,
};

const struct export_format export_perfetto = {
	.name = "perfetto",
	.stream = timeline_export,
	.timeline = &perfetto,
	.about =
		"Perfetto's Trace (protobuf), packets compressed with deflate. Times are in ns\n"
		"since the start; the clock snapshot has its wall-clock time.\n\n"
		"  tracks    one per process (rank, command), its threads below it;\n"
		"            \"overlapping\" below threads for slices that cross others;\n"
		"            \"asynchronous\" (io_uring, libaio) below processes; \"requests\" "
		"below\n"
		"            \"device NAME (MAJOR:MINOR)\"\n"
		"  slices    calls, faults, waits, spans, requests: name, category, and\n"
		"            annotations as in format chrome, without result, and asked only if "
		"it\n"
		"            differs from bytes; error is the errno, flags are one text, args has\n"
		"            the span's own arguments (JSON); stack: all lines of the\n"
		"            stack, from the innermost out\n"
		"  instants  marked instants, fork, exec, exit, unattributed page-cache fill; "
		"bios\n"
		"            where threads queue them, with flows to their requests; samples of\n"
		"            time on a CPU, by their line\n"
		"  counters  bytes per second read, written and brought into the cache, by\n"
		"            process\n",
};
