/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Collects packets of a Perfetto trace, compresses them on threads of its own, and writes them in
 * order as packets that contain others.
 */
#ifndef FAULTLINE_PERFETTO_PACK_H
#define FAULTLINE_PERFETTO_PACK_H

#include "output/base/sink.h"

/* Protobuf tags and wire types. Field 1 of a trace is a packet. */
#define PERFETTO_TAG(field, type) ((field) << 3 | (type))
#define PERFETTO_VARINT 0
#define PERFETTO_FIXED64 1
#define PERFETTO_BYTES 2

static inline uint8_t *perfetto_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = value | 0x80;
		value >>= 7;
	}
	*at++ = value;
	return at;
}

static inline uint8_t *perfetto_uint(uint8_t *at, unsigned int field, uint64_t value)
{
	at = perfetto_varint(at, PERFETTO_TAG(field, PERFETTO_VARINT));
	return perfetto_varint(at, value);
}

/* Writes the tag and length that precede a message or bytes. */
static inline uint8_t *perfetto_head(uint8_t *at, unsigned int field, size_t length)
{
	at = perfetto_varint(at, PERFETTO_TAG(field, PERFETTO_BYTES));
	return perfetto_varint(at, length);
}

#define PERFETTO_CHUNK_BYTES (256u << 10) /* are compressed at once */

struct perfetto_pack;

/* Returns 0 or -ENOMEM. Only the caller's thread writes to the sink. */
int perfetto_pack_open(struct perfetto_pack **pack, struct sink *out);
/* Sets *raw to the sink for packets, until the next call. Passes on the packets written before if
 * they fill a chunk. Returns 0, -ENOMEM, or the sink's error. */
int perfetto_pack_next(struct perfetto_pack *pack, struct sink **raw);
/* Writes the remaining packets. Returns 0 or an error as above. */
int perfetto_pack_finish(struct perfetto_pack *pack);
void perfetto_pack_close(struct perfetto_pack *pack); /* accepts NULL */

#endif
