/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Shared by the writers of Perfetto packets: messages with texts, built in a sink, and the field
 * numbers of a packet. Private to perfetto_*.c.
 */
#ifndef FAULTLINE_PERFETTO_MESSAGE_H
#define FAULTLINE_PERFETTO_MESSAGE_H

#include "output/timeline/perfetto_tracks.h"

/* TracePacket */
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT,
	PACKET_INTERNED,
	PACKET_FLAGS,
	PACKET_TRACK_DESCRIPTOR = 60,
};
/* Flags of a TracePacket. */
#define PACKET_STATE_CLEARED 1
#define PACKET_NEEDS_STATE 2

static inline struct trace_string perfetto_literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

/* Keeps the first error (`status` is 0 or negative) in tracks->error. */
void perfetto_fail(struct perfetto_tracks *tracks, int status);

/* Writes a field of a message; errors are kept in the sink. */
void perfetto_put_uint(struct sink *out, unsigned int field, uint64_t value);
/* Converts the text to UTF-8 with escape_to_utf8. */
void perfetto_put_text(struct sink *out, unsigned int field, struct trace_string text);
/* Writes the contents of `inner`, a memory sink, and closes it. */
void perfetto_put_message(struct sink *out, unsigned int field, struct sink *inner);

/* Adds a packet with one field to the sequence, and closes `inner`. `flags`: PACKET_* or 0. Errors
 * are kept in tracks->error. */
void perfetto_add_packet(struct perfetto_tracks *tracks, unsigned int field, struct sink *inner,
			 unsigned int flags);
/* Adds the packet that was built in tracks->made. */
void perfetto_add_made(struct perfetto_tracks *tracks);

/* perfetto_words.c: interns the argument names, which clears all earlier interned data. */
void perfetto_intern_args(struct perfetto_tracks *tracks);

/* perfetto_tracks.c: finds a process by its number in the job's table, and writes its track if it
 * is new. Returns NULL if out of memory; `processes` may move. */
struct perfetto_process *perfetto_find_process(struct perfetto_tracks *tracks, uint32_t number);
/* Writes a track, below `parent` unless that is 0. `of`, if not NULL, describes what the track
 * belongs to; it is closed. */
void perfetto_emit_track(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			 struct trace_string name, unsigned int field, struct sink *of);

#endif
