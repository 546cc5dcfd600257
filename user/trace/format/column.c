/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Columns of integers, narrow in a file and wide in memory. */
#include "trace/format/column.h"

#include <errno.h>
#include <string.h>

#include "trace/format/unaligned.h"

unsigned int column_width(uint64_t bits, bool has_sign)
{
	unsigned int needed = (bits ? 64 - __builtin_clzll(bits) : 0) + has_sign;

	return needed <= 8 ? 1 : needed <= 16 ? 2 : needed <= 32 ? 4 : 8;
}

uint8_t *column_pack(struct pack *pack, const char *name, unsigned int width, bool has_sign,
		     size_t count)
{
	char type[] = { '<', has_sign ? 'i' : 'u', '0' + width, '\0' };
	size_t bytes = width * count;
	uint8_t *data;

	pack_cstring(pack, name);
	pack_map(pack, 5);
	pack_bin(pack, "nd");
	pack_bool(pack, true);
	pack_bin(pack, "type");
	pack_cstring(pack, type);
	pack_bin(pack, "kind");
	pack_bin(pack, "");
	pack_bin(pack, "shape");
	pack_array(pack, 1);
	pack_uint(pack, count);
	pack_bin(pack, "data");
	pack_bin_head(pack, bytes);
	if (pack_reserve(pack, bytes))
		return NULL;
	data = pack->bytes + pack->length;
	pack->length += bytes;
	return data;
}

/* Adjacent values have their own loop, which is vectorised. */
#define STORE(type)                                                                                \
	do {                                                                                       \
		type *out = (type *)to;                                                            \
                                                                                                   \
		if (stride == 1)                                                                   \
			for (size_t i = 0; i < count; i++)                                         \
				out[i] = from[i];                                                  \
		else                                                                               \
			for (size_t i = 0; i < count; i++)                                         \
				out[i] = from[i * stride];                                         \
	} while (0)

uint8_t *column_store(uint8_t *to, unsigned int width, const uint64_t *from, size_t stride,
		      size_t count)
{
	if (width == 1)
		STORE(uint8_t);
	else if (width == 2)
		STORE(unaligned_u16);
	else if (width == 4)
		STORE(unaligned_u32);
	else
		STORE(unaligned_u64);
	return to + width * count;
}

#define FILL(type)                                                                                 \
	do {                                                                                       \
		type *out = (type *)to;                                                            \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			out[i] = value;                                                            \
	} while (0)

void column_fill(uint8_t *to, unsigned int width, uint64_t value, size_t count)
{
	if (width == 1)
		memset(to, value, count);
	else if (width == 2)
		FILL(unaligned_u16);
	else if (width == 4)
		FILL(unaligned_u32);
	else
		FILL(unaligned_u64);
}

void column_pack_values(struct pack *pack, const char *name, const uint64_t *from, size_t stride,
			size_t count)
{
	uint64_t bits = 0;
	unsigned int width;
	uint8_t *data;

	for (size_t i = 0; i < count; i++)
		bits |= from[i * stride];
	width = column_width(bits, false);
	data = column_pack(pack, name, width, false, count);
	if (data)
		column_store(data, width, from, stride, count);
}

static int parse_type(const struct mp_value *value, struct column_view *view)
{
	/* "|u1" is how numpy itself writes a byte. */
	static const struct {
		const char *name;
		unsigned int width;
		bool is_signed;
	} types[] = {
		{ "<u1", 1, false }, { "<u2", 2, false }, { "<u4", 4, false }, { "<u8", 8, false },
		{ "<i1", 1, true },  { "<i2", 2, true },  { "<i4", 4, true },  { "<i8", 8, true },
		{ "|u1", 1, false }, { "|i1", 1, true },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (mp_is(value, types[i].name)) {
			view->width = types[i].width;
			view->is_signed = types[i].is_signed;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_shape(struct mp *mp, const struct mp_value *value, size_t count)
{
	uint64_t length;

	if (value->type != MP_ARRAY || value->length != 1 || mp_uint(mp, &length))
		return -EINVAL;
	return length == count ? 0 : -EINVAL;
}

int column_parse(struct mp *mp, size_t count, struct column_view *view)
{
	enum { ND = 1, TYPE = 2, SHAPE = 4, DATA = 8, ALL = 15 };
	unsigned int seen = 0;
	size_t bytes = 0;
	uint32_t pairs;

	if (mp_map(mp, &pairs))
		return -EINVAL;
	while (pairs--) {
		struct mp_value key, value;

		if (mp_next(mp, &key) || mp_next(mp, &value))
			return -EINVAL;
		if (mp_is(&key, "nd") && value.type == MP_BOOL && value.flag) {
			seen |= ND;
		} else if (mp_is(&key, "type") && !(seen & TYPE)) {
			if (parse_type(&value, view))
				return -EINVAL;
			seen |= TYPE;
		} else if (mp_is(&key, "shape")) {
			if (parse_shape(mp, &value, count))
				return -EINVAL;
			seen |= SHAPE;
		} else if (mp_is(&key, "data") && value.type == MP_BIN && !(seen & DATA)) {
			view->data = value.bytes;
			bytes = value.length;
			seen |= DATA;
		} else if (mp_is(&key, "kind") && mp_is(&value, "")) {
			continue;
		} else {
			return -EINVAL;
		}
	}
	return seen == ALL && bytes == view->width * count ? 0 : -EINVAL;
}

#define WIDEN(type)                                                                                \
	do {                                                                                       \
		const type *from = (const type *)view->data;                                       \
                                                                                                   \
		for (size_t i = 0; i < count; i++)                                                 \
			to[i] = from[i];                                                           \
	} while (0)

void column_widen(const struct column_view *view, uint64_t *to, size_t count)
{
	switch (view->is_signed ? -(int)view->width : (int)view->width) {
	case 1:
		WIDEN(uint8_t);
		break;
	case 2:
		WIDEN(unaligned_u16);
		break;
	case 4:
		WIDEN(unaligned_u32);
		break;
	case -1:
		WIDEN(int8_t);
		break;
	case -2:
		WIDEN(unaligned_i16);
		break;
	case -4:
		WIDEN(unaligned_i32);
		break;
	case 8:
	case -8:
		memcpy(to, view->data, count * sizeof(*to));
		break;
	default:
		memset(to, 0, count * sizeof(*to));
	}
}

#define COLUMN_PIECE 512

bool column_reaches(const struct column_view *view, uint64_t limit, size_t count)
{
	struct column_view piece = *view;
	uint64_t values[COLUMN_PIECE], highest = 0;

	if (view->width == 1 && !view->is_signed && limit > UINT8_MAX)
		return false;
	for (size_t done = 0; done < count; done += COLUMN_PIECE) {
		size_t some = count - done < COLUMN_PIECE ? count - done : COLUMN_PIECE;

		if (piece.width)
			piece.data = view->data + done * view->width;
		column_widen(&piece, values, some);
		for (size_t i = 0; i < some; i++)
			highest = values[i] > highest ? values[i] : highest;
	}
	return highest >= limit;
}
