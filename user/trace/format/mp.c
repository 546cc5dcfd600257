/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A pull parser for msgpack; the format is https://github.com/msgpack/msgpack/blob/master/spec.md
 */
#include "trace/format/mp.h"

#include <errno.h>
#include <string.h>

/* Reads a big-endian integer of 1, 2, 4 or 8 bytes. */
static int take_number(struct mp *mp, unsigned int bytes, uint64_t *number)
{
	uint64_t value = 0;

	if ((size_t)(mp->end - mp->at) < bytes)
		return -EINVAL;
	while (bytes--)
		value = value << 8 | *mp->at++;
	*number = value;
	return 0;
}

static int take_bytes(struct mp *mp, enum mp_type type, uint64_t length, struct mp_value *value)
{
	if ((size_t)(mp->end - mp->at) < length)
		return -EINVAL;
	value->type = type;
	value->length = length;
	value->bytes = mp->at;
	mp->at += length;
	return 0;
}

/* Every item takes at least one byte: a count beyond the remaining bytes is false. */
static int take_items(struct mp *mp, enum mp_type type, uint64_t length, struct mp_value *value)
{
	uint64_t items = type == MP_MAP ? 2 * length : length;

	if ((size_t)(mp->end - mp->at) < items)
		return -EINVAL;
	value->type = type;
	value->length = length;
	return 0;
}

static void set_signed(struct mp_value *value, uint64_t number, unsigned int bytes)
{
	unsigned int shift = 64 - 8 * bytes;

	value->sint = (int64_t)(number << shift) >> shift;
	value->type = value->sint < 0 ? MP_INT : MP_UINT;
}

static int take_real(struct mp *mp, unsigned int bytes, struct mp_value *value)
{
	uint64_t bits;
	uint32_t half;
	float narrow;
	int err = take_number(mp, bytes, &bits);

	if (err)
		return err;
	value->type = MP_REAL;
	if (bytes == 8) {
		memcpy(&value->real, &bits, 8);
	} else {
		half = bits;
		memcpy(&narrow, &half, 4);
		value->real = narrow;
	}
	return 0;
}

/* What follows a first byte of 0xc0 to 0xdf: the type, and how many bytes hold the number (a value
 * or a length). */
enum form { INVALID, NIL, FALSE_, TRUE_, BIN, EXT, FIXEXT, REAL, UINT, INT, STR, ARRAY, MAP };

static const struct {
	uint8_t form, bytes;
} forms[32] = {
	{ NIL, 0 },	{ INVALID, 0 }, { FALSE_, 0 }, { TRUE_, 0 },  /* c0 */
	{ BIN, 1 },	{ BIN, 2 },	{ BIN, 4 },    { EXT, 1 },    /* c4 */
	{ EXT, 2 },	{ EXT, 4 },	{ REAL, 4 },   { REAL, 8 },   /* c8 */
	{ UINT, 1 },	{ UINT, 2 },	{ UINT, 4 },   { UINT, 8 },   /* cc */
	{ INT, 1 },	{ INT, 2 },	{ INT, 4 },    { INT, 8 },    /* d0 */
	{ FIXEXT, 1 },	{ FIXEXT, 2 },	{ FIXEXT, 4 }, { FIXEXT, 8 }, /* d4 */
	{ FIXEXT, 16 }, { STR, 1 },	{ STR, 2 },    { STR, 4 },    /* d8 */
	{ ARRAY, 2 },	{ ARRAY, 4 },	{ MAP, 2 },    { MAP, 4 },    /* dc */
};

static int take_form(struct mp *mp, uint8_t first, struct mp_value *value)
{
	enum form form = forms[first - 0xc0].form;
	unsigned int bytes = forms[first - 0xc0].bytes;
	uint64_t number = 0;

	if (form == REAL)
		return take_real(mp, bytes, value);
	if (form == FIXEXT) /* a byte for its type, then its bytes */
		return take_bytes(mp, MP_EXT, bytes + 1, value);
	if (take_number(mp, bytes, &number))
		return -EINVAL;
	switch (form) {
	case NIL:
		value->type = MP_NIL;
		return 0;
	case FALSE_:
	case TRUE_:
		value->type = MP_BOOL;
		value->flag = form == TRUE_;
		return 0;
	case UINT:
		value->type = MP_UINT;
		value->uint = number;
		return 0;
	case INT:
		set_signed(value, number, bytes);
		return 0;
	case BIN:
		return take_bytes(mp, MP_BIN, number, value);
	case STR:
		return take_bytes(mp, MP_STR, number, value);
	case EXT:
		if (number == UINT32_MAX)
			return -EINVAL;
		return take_bytes(mp, MP_EXT, number + 1, value);
	case ARRAY:
		return take_items(mp, MP_ARRAY, number, value);
	case MAP:
		return take_items(mp, MP_MAP, number, value);
	default:
		return -EINVAL;
	}
}

int mp_next(struct mp *mp, struct mp_value *value)
{
	uint8_t first;

	value->length = 0;
	value->uint = 0;
	if (mp->at == mp->end)
		return -EINVAL;
	first = *mp->at++;
	if (first < 0x80) {
		value->type = MP_UINT;
		value->uint = first;
		return 0;
	}
	if (first < 0x90)
		return take_items(mp, MP_MAP, first & 0x0f, value);
	if (first < 0xa0)
		return take_items(mp, MP_ARRAY, first & 0x0f, value);
	if (first < 0xc0)
		return take_bytes(mp, MP_STR, first & 0x1f, value);
	if (first < 0xe0)
		return take_form(mp, first, value);
	value->type = MP_INT;
	value->sint = (int8_t)first;
	return 0;
}

int mp_skip(struct mp *mp)
{
	struct mp_value value;
	uint64_t items = 1;

	while (items--) {
		if (mp_next(mp, &value))
			return -EINVAL;
		if (value.type == MP_ARRAY)
			items += value.length;
		else if (value.type == MP_MAP)
			items += 2 * (uint64_t)value.length;
	}
	return 0;
}

static int take_type(struct mp *mp, enum mp_type type, struct mp_value *value)
{
	return mp_next(mp, value) || value->type != type ? -EINVAL : 0;
}

int mp_uint(struct mp *mp, uint64_t *number)
{
	struct mp_value value;
	int err = take_type(mp, MP_UINT, &value);

	*number = value.uint;
	return err;
}

int mp_int(struct mp *mp, int64_t *number)
{
	struct mp_value value;

	if (mp_next(mp, &value))
		return -EINVAL;
	if (value.type != MP_INT && (value.type != MP_UINT || value.uint > INT64_MAX))
		return -EINVAL;
	*number = value.sint;
	return 0;
}

int mp_array(struct mp *mp, uint32_t *items)
{
	struct mp_value value;
	int err = take_type(mp, MP_ARRAY, &value);

	*items = value.length;
	return err;
}

int mp_map(struct mp *mp, uint32_t *pairs)
{
	struct mp_value value;
	int err = take_type(mp, MP_MAP, &value);

	*pairs = value.length;
	return err;
}

int mp_bytes(struct mp *mp, const uint8_t **bytes, uint32_t *length)
{
	struct mp_value value;

	if (mp_next(mp, &value) || (value.type != MP_STR && value.type != MP_BIN))
		return -EINVAL;
	*bytes = value.bytes;
	*length = value.length;
	return 0;
}

bool mp_is(const struct mp_value *value, const char *text)
{
	return (value->type == MP_STR || value->type == MP_BIN) && value->length == strlen(text) &&
	       !memcmp(value->bytes, text, value->length);
}

int mp_find(struct mp map, const char *key, struct mp *found)
{
	struct mp_value value;
	uint32_t pairs;

	if (mp_map(&map, &pairs))
		return -EINVAL;
	while (pairs--) {
		struct mp name = map;

		if (mp_skip(&map))
			return -EINVAL;
		if (!mp_next(&name, &value) && mp_is(&value, key)) {
			*found = map;
			return 1;
		}
		if (mp_skip(&map))
			return -EINVAL;
	}
	return 0;
}
