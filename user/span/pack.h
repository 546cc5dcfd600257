/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes msgpack into a buffer of fixed size, for the few types that span arguments need.
 *
 * Data that does not fit is not written; `used` stays above `size` from then on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct args_pack {
	unsigned char *bytes;
	size_t used;
	size_t size;
};

static inline bool pack_overflowed(const struct args_pack *pack)
{
	return pack->used > pack->size;
}

static inline void pack_raw(struct args_pack *pack, const void *bytes, size_t count)
{
	if (pack_overflowed(pack) || count > pack->size - pack->used) {
		pack->used = pack->size + 1;
		return;
	}
	if (count)
		memcpy(pack->bytes + pack->used, bytes, count);
	pack->used += count;
}

/* A type byte, then a number of `width` bytes, big endian. */
static inline void pack_head(struct args_pack *pack, unsigned char kind, uint64_t value,
			     size_t width)
{
	unsigned char head[9] = { kind };
	size_t i;

	for (i = 0; i < width; i++)
		head[1 + i] = value >> 8 * (width - 1 - i);
	pack_raw(pack, head, 1 + width);
}

static inline void pack_nil(struct args_pack *pack)
{
	pack_head(pack, 0xc0, 0, 0);
}

static inline void pack_bool(struct args_pack *pack, bool value)
{
	pack_head(pack, value ? 0xc3 : 0xc2, 0, 0);
}

static inline void pack_uint(struct args_pack *pack, uint64_t value)
{
	if (value < 0x80)
		pack_head(pack, value, 0, 0);
	else if (value <= UINT8_MAX)
		pack_head(pack, 0xcc, value, 1);
	else if (value <= UINT16_MAX)
		pack_head(pack, 0xcd, value, 2);
	else if (value <= UINT32_MAX)
		pack_head(pack, 0xce, value, 4);
	else
		pack_head(pack, 0xcf, value, 8);
}

static inline void pack_int(struct args_pack *pack, int64_t value)
{
	if (value >= 0)
		pack_uint(pack, value);
	else if (value >= -32)
		pack_head(pack, value, 0, 0);
	else if (value >= INT8_MIN)
		pack_head(pack, 0xd0, value, 1);
	else if (value >= INT16_MIN)
		pack_head(pack, 0xd1, value, 2);
	else if (value >= INT32_MIN)
		pack_head(pack, 0xd2, value, 4);
	else
		pack_head(pack, 0xd3, value, 8);
}

static inline void pack_double(struct args_pack *pack, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	pack_head(pack, 0xcb, bits, 8);
}

static inline void pack_text(struct args_pack *pack, const char *text, size_t length)
{
	if (length < 32)
		pack_head(pack, 0xa0 | length, 0, 0);
	else if (length <= UINT8_MAX)
		pack_head(pack, 0xd9, length, 1);
	else
		pack_head(pack, 0xda, length, 2); /* longer ones cannot fit in an argument buffer */
	pack_raw(pack, text, length);
}

static inline void pack_binary(struct args_pack *pack, const void *bytes, size_t length)
{
	if (length <= UINT8_MAX)
		pack_head(pack, 0xc4, length, 1);
	else
		pack_head(pack, 0xc5, length, 2);
	pack_raw(pack, bytes, length);
}

static inline void pack_array(struct args_pack *pack, size_t count)
{
	pack_head(pack, 0xdc, count, 2);
}

/* Always three bytes, so that the count can be set again once it is known. */
static inline void pack_map(struct args_pack *pack, size_t count)
{
	pack_head(pack, 0xde, count, 2);
}
