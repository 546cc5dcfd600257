/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the makers of packets of a Perfetto trace share: messages with texts, put together in a
 * sink, and the numbers of a packet's fields. Knows nothing of what is told. Private to
 * perfetto_*.c.
 */
#ifndef FAULTLINE_PERFETTO_MESSAGE_H
#define FAULTLINE_PERFETTO_MESSAGE_H

#include "output/perfetto_tracks.h"

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
/* Its flags. */
#define PACKET_STATE_CLEARED 1
#define PACKET_NEEDS_STATE 2

static inline struct trace_string perfetto_literal(const char *text)
{
	return (struct trace_string) { text, strlen(text) };
}

/* Keeps the first error, 0 or negative, in tracks->error. */
void perfetto_fail(struct perfetto_tracks *tracks, int status);

/* A field of a message; errors are kept in the sink. */
void perfetto_put_uint(struct sink *out, unsigned int field, uint64_t value);
/* Texts are UTF-8: it is made that by escape_to_utf8. */
void perfetto_put_text(struct sink *out, unsigned int field, struct trace_string text);
/* What is in `inner`, a sink in memory, which it closes. */
void perfetto_put_message(struct sink *out, unsigned int field, struct sink *inner);

/* A packet of one field, of this sequence; closes `inner`. `flags`: PACKET_* or 0. Errors are kept
 * in tracks->error. */
void perfetto_add_packet(struct perfetto_tracks *tracks, unsigned int field, struct sink *inner,
			 unsigned int flags);
/* A packet as it was put together in tracks->made. */
void perfetto_add_made(struct perfetto_tracks *tracks);

/* perfetto_words.c: names of arguments, which clears what was interned before. */
void perfetto_intern_args(struct perfetto_tracks *tracks);

/* perfetto_tracks.c: a process by its number in the job's table, told of if it was not yet. Returns
 * NULL without memory; the processes may move. */
struct perfetto_process *perfetto_find_process(struct perfetto_tracks *tracks, uint32_t number);
/* Tells of a track, in another one unless `parent` is 0; what it is of, where it is of something,
 * is the message `of` (closed here), else NULL. */
void perfetto_tell_track(struct perfetto_tracks *tracks, uint64_t uuid, uint64_t parent,
			 struct trace_string name, unsigned int field, struct sink *of);

#endif
