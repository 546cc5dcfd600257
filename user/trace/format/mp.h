/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A pull parser for msgpack.
 *
 * Why not msgpack-c: its unpacker builds a tree, allocating for every array and map by counts that
 * the input claims, and copies or pins what it reads. A trace is hostile input made of a few large
 * byte strings, so this parser allocates nothing, copies nothing, and trusts no count beyond the
 * bytes present.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A position in a buffer. Copy it to look ahead. */
struct mp {
	const uint8_t *at, *end;
};

enum mp_type {
	MP_NIL,
	MP_BOOL,
	MP_UINT, /* any integer >= 0 */
	MP_INT,	 /* an integer < 0 */
	MP_REAL,
	MP_STR,
	MP_BIN,
	MP_EXT,
	MP_ARRAY,
	MP_MAP,
};

struct mp_value {
	enum mp_type type;
	uint32_t length; /* bytes of MP_STR, MP_BIN, MP_EXT; items of MP_ARRAY; pairs of MP_MAP */
	union {
		bool flag;
		uint64_t uint;
		int64_t sint;
		double real;
		const uint8_t *bytes; /* in the buffer */
	};
};

/*
 * Functions return 0, or -EINVAL for input that is not msgpack, runs past the end of the buffer or
 * is not of the requested type; the position is then undefined.
 */

/* Reads one value; for an array or a map only its head, and its items follow. */
int mp_next(struct mp *mp, struct mp_value *value);
/* Skips one value with everything in it. Depth costs nothing. */
int mp_skip(struct mp *mp);

/* Reads one value of the given type. mp_int takes MP_UINT below 2^63 as well. */
int mp_uint(struct mp *mp, uint64_t *value);
int mp_int(struct mp *mp, int64_t *value);
int mp_array(struct mp *mp, uint32_t *items);
int mp_map(struct mp *mp, uint32_t *pairs);
/* A str or a bin: the difference only shows whether the bytes are UTF-8. */
int mp_bytes(struct mp *mp, const uint8_t **bytes, uint32_t *length);

/* True if a str or bin holds exactly this text. */
bool mp_is(const struct mp_value *value, const char *text);
/* Looks up a text key in the map that starts at `map`. Returns 1 and the position of its value, 0
 * if there is none, or -EINVAL. */
int mp_find(struct mp map, const char *key, struct mp *value);
