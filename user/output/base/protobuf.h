/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Encodes the fields of protobuf messages. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "output/base/sink.h"

/* Tags and wire types. */
#define PROTOBUF_TAG(field, type) ((field) << 3 | (type))
#define PROTOBUF_VARINT 0
#define PROTOBUF_FIXED64 1
#define PROTOBUF_BYTES 2

static inline uint8_t *protobuf_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = value | 0x80;
		value >>= 7;
	}
	*at++ = value;
	return at;
}

static inline uint8_t *protobuf_uint(uint8_t *at, unsigned int field, uint64_t value)
{
	at = protobuf_varint(at, PROTOBUF_TAG(field, PROTOBUF_VARINT));
	return protobuf_varint(at, value);
}

/* Writes the tag and length that precede a message or bytes. */
static inline uint8_t *protobuf_head(uint8_t *at, unsigned int field, size_t length)
{
	at = protobuf_varint(at, PROTOBUF_TAG(field, PROTOBUF_BYTES));
	return protobuf_varint(at, length);
}

#define PROTOBUF_NUMBER_BYTES 20 /* a number or a length, with its tag */

/* Append a field to a message. */
static inline void protobuf_put_uint(struct sink *out, unsigned int field, uint64_t value)
{
	uint8_t bytes[PROTOBUF_NUMBER_BYTES];

	sink_bytes(out, bytes, protobuf_uint(bytes, field, value) - bytes);
}

static inline void protobuf_put_bytes(struct sink *out, unsigned int field, const char *bytes,
				      size_t length)
{
	uint8_t head[PROTOBUF_NUMBER_BYTES];

	sink_bytes(out, head, protobuf_head(head, field, length) - head);
	sink_bytes(out, bytes, length);
}
