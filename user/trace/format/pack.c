/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Packs msgpack into a growing buffer. */
#include "trace/format/pack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

void pack_free(struct pack *pack)
{
	free(pack->bytes);
	memset(pack, 0, sizeof(*pack));
}

void pack_clear(struct pack *pack)
{
	pack->length = 0;
	pack->error = 0;
}

int pack_reserve(struct pack *pack, size_t bytes)
{
	size_t capacity = pack->capacity ? pack->capacity : 4096;
	uint8_t *grown;

	if (pack->error || pack->capacity - pack->length >= bytes)
		return pack->error;
	while (capacity - pack->length < bytes)
		capacity *= 2;
	grown = realloc(pack->bytes, capacity);
	if (!grown)
		return pack->error = -ENOMEM;
	pack->bytes = grown;
	pack->capacity = capacity;
	return 0;
}

void pack_raw(struct pack *pack, const void *bytes, size_t length)
{
	if (!length || pack_reserve(pack, length))
		return;
	memcpy(pack->bytes + pack->length, bytes, length);
	pack->length += length;
}

/* Called by msgpack-c to output bytes. */
static int write_bytes(void *data, const char *bytes, size_t length)
{
	struct pack *pack = data;

	pack_raw(pack, bytes, length);
	return pack->error;
}

#define PACKER(pack) (&(msgpack_packer) { .data = (pack), .callback = write_bytes })

void pack_map(struct pack *pack, size_t pairs)
{
	msgpack_pack_map(PACKER(pack), pairs);
}

void pack_array(struct pack *pack, size_t items)
{
	msgpack_pack_array(PACKER(pack), items);
}

void pack_uint(struct pack *pack, uint64_t value)
{
	msgpack_pack_uint64(PACKER(pack), value);
}

void pack_int(struct pack *pack, int64_t value)
{
	msgpack_pack_int64(PACKER(pack), value);
}

/* Returns the length of the UTF-8 sequence at `at`, 0 if it is invalid: no overlong forms, no
 * surrogates, nothing past U+10FFFF (Unicode 15, table 3-7). */
static size_t utf8_sequence(const uint8_t *at, size_t left)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t more;

	if (at[0] < 0x80)
		return 1;
	if (at[0] < 0xc2 || at[0] > 0xf4)
		return 0;
	more = at[0] < 0xe0 ? 1 : at[0] < 0xf0 ? 2 : 3;
	if (left <= more)
		return 0;
	if (at[0] == 0xe0)
		low = 0xa0;
	if (at[0] == 0xed)
		high = 0x9f;
	if (at[0] == 0xf0)
		low = 0x90;
	if (at[0] == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i <= more; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

static bool is_utf8(const uint8_t *bytes, size_t length)
{
	for (size_t at = 0, step; at < length; at += step) {
		step = utf8_sequence(bytes + at, length - at);
		if (!step)
			return false;
	}
	return true;
}

void pack_text(struct pack *pack, const void *bytes, size_t length)
{
	if (is_utf8(bytes, length))
		msgpack_pack_str_with_body(PACKER(pack), bytes, length);
	else
		msgpack_pack_bin_with_body(PACKER(pack), bytes, length);
}

void pack_cstring(struct pack *pack, const char *text)
{
	if (text)
		pack_text(pack, text, strlen(text));
	else
		msgpack_pack_nil(PACKER(pack));
}

void pack_bool(struct pack *pack, bool value)
{
	if (value)
		msgpack_pack_true(PACKER(pack));
	else
		msgpack_pack_false(PACKER(pack));
}

void pack_bin(struct pack *pack, const char *text)
{
	msgpack_pack_bin_with_body(PACKER(pack), text, strlen(text));
}

void pack_bin_head(struct pack *pack, size_t length)
{
	msgpack_pack_bin(PACKER(pack), length);
}
