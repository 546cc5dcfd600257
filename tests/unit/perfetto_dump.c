/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Decodes a Perfetto trace with generated code and prints one JSON object per packet; unknown
 * fields are an error. Independent of the exporter except for its JSON writer.
 *
 * usage: perfetto_dump <FILE
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "output/base/json.h"
#include "tests/unit/perfetto.pb-c.h"

static void fail(const char *what)
{
	fprintf(stderr, "perfetto_dump: %s\n", what);
	exit(1);
}

/* The generated code collects unknown fields. */
static void check(const ProtobufCMessage *message)
{
	if (message->n_unknown_fields)
		fail("a field that no message has");
}

static void text(struct sink *out, const char *bytes, size_t length)
{
	if (!json_text(out, bytes, length))
		fail("a text that is not UTF-8");
}

static void member(struct sink *out, const char *name, bool has, uint64_t value)
{
	if (has)
		sink_format(out, ", \"%s\": %llu", name, (unsigned long long)value);
}

static void text_member(struct sink *out, const char *name, const char *value)
{
	if (!value)
		return;
	sink_format(out, ", \"%s\": ", name);
	text(out, value, strlen(value));
}

static void numbers(struct sink *out, const char *name, const uint64_t *values, size_t count)
{
	sink_format(out, ", \"%s\": [", name);
	for (size_t i = 0; i < count; i++)
		sink_format(out, "%s%llu", i ? ", " : "", (unsigned long long)values[i]);
	sink_char(out, ']');
}

static void event(struct sink *out, const Perfetto__TrackEvent *of)
{
	check(&of->base);
	sink_format(out, ", \"type\": %d", of->type);
	member(out, "name", of->has_name_iid, of->name_iid);
	member(out, "track", of->has_track_uuid, of->track_uuid);
	member(out, "value", of->has_counter_value, of->counter_value);
	numbers(out, "categories", of->category_iids, of->n_category_iids);
	numbers(out, "flows", of->flow_ids, of->n_flow_ids);
	numbers(out, "ends", of->terminating_flow_ids, of->n_terminating_flow_ids);
	sink_text(out, ", \"args\": [");
	for (size_t i = 0; i < of->n_debug_annotations; i++) {
		const Perfetto__DebugAnnotation *arg = of->debug_annotations[i];

		check(&arg->base);
		sink_format(out, "%s{\"id\": %llu", i ? ", " : "",
			    (unsigned long long)arg->name_iid);
		member(out, "uint", arg->has_uint_value, arg->uint_value);
		member(out, "iid", arg->has_string_value_iid, arg->string_value_iid);
		text_member(out, "text", arg->string_value);
		sink_char(out, '}');
	}
	sink_char(out, ']');
}

static void track(struct sink *out, const Perfetto__TrackDescriptor *of)
{
	check(&of->base);
	member(out, "uuid", of->has_uuid, of->uuid);
	member(out, "parent", of->has_parent_uuid, of->parent_uuid);
	text_member(out, "track_name", of->name);
	member(out, "counter", of->counter != NULL, 1);
	if (of->process) {
		check(&of->process->base);
		member(out, "pid", of->process->has_pid, of->process->pid);
		text_member(out, "process", of->process->process_name);
		member(out, "words", true, of->process->n_cmdline);
	}
	if (of->thread) {
		check(&of->thread->base);
		member(out, "pid", of->thread->has_pid, of->thread->pid);
		member(out, "tid", of->thread->has_tid, of->thread->tid);
		text_member(out, "thread", of->thread->thread_name);
	}
}

static void words(struct sink *out, const char *name, Perfetto__InternedData__Text **of,
		  size_t count)
{
	sink_format(out, ", \"%s\": {", name);
	for (size_t i = 0; i < count; i++) {
		check(&of[i]->base);
		sink_format(out, "%s\"%llu\": ", i ? ", " : "", (unsigned long long)of[i]->iid);
		text(out, (char *)of[i]->str.data, of[i]->str.len);
	}
	sink_char(out, '}');
}

static void interned(struct sink *out, const Perfetto__InternedData *of)
{
	check(&of->base);
	words(out, "categories", of->event_categories, of->n_event_categories);
	words(out, "names", of->event_names, of->n_event_names);
	words(out, "arguments", of->debug_annotation_names, of->n_debug_annotation_names);
	words(out, "strings", of->debug_annotation_string_values,
	      of->n_debug_annotation_string_values);
}

static void clocks(struct sink *out, const Perfetto__ClockSnapshot *of)
{
	check(&of->base);
	member(out, "primary", of->has_primary_trace_clock, of->primary_trace_clock);
	for (size_t i = 0; i < of->n_clocks; i++) {
		char name[32];

		snprintf(name, sizeof(name), "clock%u", of->clocks[i]->clock_id);
		member(out, name, of->clocks[i]->has_timestamp, of->clocks[i]->timestamp);
	}
}

static void dump(struct sink *out, const uint8_t *bytes, size_t length, bool inner);

static void unpack(struct sink *out, const ProtobufCBinaryData *packed)
{
	uLongf length = 64u << 20;
	uint8_t *bytes = malloc(length);

	if (!bytes || uncompress(bytes, &length, packed->data, packed->len) != Z_OK)
		fail("packets that zlib cannot read");
	dump(out, bytes, length, true);
	free(bytes);
}

static void packet(struct sink *out, const Perfetto__TracePacket *of, bool inner)
{
	check(&of->base);
	if (of->has_compressed_packets) {
		if (inner)
			fail("compressed packets in compressed packets");
		unpack(out, &of->compressed_packets);
		return;
	}
	sink_format(out, "{\"kind\": \"%s\"",
		    of->track_event	   ? "event"
		    : of->track_descriptor ? "track"
		    : of->interned_data	   ? "interned"
		    : of->clock_snapshot   ? "clock"
					   : "nothing");
	member(out, "time", of->has_timestamp, of->timestamp);
	member(out, "sequence", of->has_trusted_packet_sequence_id, of->trusted_packet_sequence_id);
	member(out, "state", of->has_sequence_flags, of->sequence_flags);
	if (of->track_event)
		event(out, of->track_event);
	if (of->track_descriptor)
		track(out, of->track_descriptor);
	if (of->interned_data)
		interned(out, of->interned_data);
	if (of->clock_snapshot)
		clocks(out, of->clock_snapshot);
	sink_text(out, "}\n");
}

static void dump(struct sink *out, const uint8_t *bytes, size_t length, bool inner)
{
	Perfetto__Trace *trace = perfetto__trace__unpack(NULL, length, bytes);

	if (!trace)
		fail("no trace of Perfetto");
	check(&trace->base);
	for (size_t i = 0; i < trace->n_packet; i++)
		packet(out, trace->packet[i], inner);
	perfetto__trace__free_unpacked(trace, NULL);
}

int main(void)
{
	size_t room = 64u << 20, used = 0;
	uint8_t *bytes = malloc(room);
	struct sink out;
	ssize_t got;

	if (!bytes || sink_open(&out, STDOUT_FILENO))
		fail("out of memory");
	while ((got = read(STDIN_FILENO, bytes + used, room - used)) > 0)
		used += got;
	dump(&out, bytes, used, false);
	if (sink_flush(&out))
		fail("cannot write");
	sink_close(&out);
	free(bytes);
	return 0;
}
