/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Builds messages with texts in a sink, and packets from them. Field numbers are those of
 * tests/unit/perfetto.proto.
 */
#include "output/timeline/perfetto_message.h"

#include "output/base/escape.h"

void perfetto_fail(struct perfetto_tracks *tracks, int status)
{
	if (status && !tracks->error)
		tracks->error = status;
}

void perfetto_put_uint(struct sink *out, unsigned int field, uint64_t value)
{
	uint8_t bytes[24];

	sink_bytes(out, bytes, perfetto_uint(bytes, field, value) - bytes);
}

static void put_bytes(struct sink *out, unsigned int field, const void *bytes, size_t length)
{
	uint8_t head[24];

	sink_bytes(out, head, perfetto_head(head, field, length) - head);
	sink_bytes(out, bytes, length);
}

void perfetto_put_text(struct sink *out, unsigned int field, struct trace_string text)
{
	struct sink clean;

	sink_open_memory(&clean);
	escape_to_utf8(&clean, text.bytes, text.length);
	put_bytes(out, field, clean.buffer ? clean.buffer : "", clean.used);
	if (clean.error && !out->error)
		out->error = clean.error;
	sink_close(&clean);
}

void perfetto_put_message(struct sink *out, unsigned int field, struct sink *inner)
{
	put_bytes(out, field, inner->buffer ? inner->buffer : "", inner->used);
	if (inner->error && !out->error)
		out->error = inner->error;
	sink_close(inner);
}

void perfetto_add_made(struct perfetto_tracks *tracks)
{
	struct sink *made = &tracks->made;
	uint8_t *at;

	perfetto_fail(tracks, made->error);
	if (!tracks->error)
		perfetto_fail(tracks, perfetto_pack_add(tracks->pack, made->used, &at));
	if (!tracks->error)
		memcpy(at, made->buffer, made->used);
}

void perfetto_add_packet(struct perfetto_tracks *tracks, unsigned int field, struct sink *inner,
			 unsigned int flags)
{
	struct sink *made = &tracks->made;

	made->used = 0;
	perfetto_put_uint(made, PACKET_SEQUENCE, 1);
	if (flags)
		perfetto_put_uint(made, PACKET_FLAGS, flags);
	perfetto_put_message(made, field, inner);
	perfetto_add_made(tracks);
}
