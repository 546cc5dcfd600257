/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Packets of a Perfetto trace on their way to the file: gathered, compressed on threads of their
 * own, and written in their order as packets that hold others. Knows nothing of what is in them.
 */
#ifndef FAULTLINE_PERFETTO_PACK_H
#define FAULTLINE_PERFETTO_PACK_H

#include "output/sink.h"

/* Fields that hold a message or bytes: 1 for a packet of a trace. */
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

/* What stands in front of a message or bytes. */
static inline uint8_t *perfetto_head(uint8_t *at, unsigned int field, size_t length)
{
	at = perfetto_varint(at, PERFETTO_TAG(field, PERFETTO_BYTES));
	return perfetto_varint(at, length);
}

struct perfetto_pack;

/* Returns 0 or -ENOMEM. The sink is written to by the caller's thread alone. */
int perfetto_pack_open(struct perfetto_pack **pack, struct sink *out);
/* One packet: `length` bytes of it are to be put at *at before the next one. Returns 0, -ENOMEM, or
 * the sink's error. */
int perfetto_pack_add(struct perfetto_pack *pack, size_t length, uint8_t **at);
/* Writes out what is left. Returns 0 or an error, as before. */
int perfetto_pack_finish(struct perfetto_pack *pack);
void perfetto_pack_close(struct perfetto_pack *pack); /* NULL is fine */

#endif
