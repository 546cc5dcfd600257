/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Columns of integers: 64 bits wide in memory, as narrow as their values allow in a file, packed by
 * msgpack-numpy's convention (see format.h). Converts both ways.
 */
#pragma once

#include "trace/format/mp.h"
#include "trace/format/pack.h"

/* Returns the width in bytes, 1, 2, 4 or 8, of integers of the given range: `bits` has its highest
 * bit where the largest magnitude has, `has_sign` adds a sign bit. */
unsigned int column_width(uint64_t bits, bool has_sign);

/*
 * Packs the name and the head of a column of `count` integers. Returns where the caller writes the
 * data, valid as long as further packing fits the room that pack_reserve made; NULL if out of
 * memory.
 */
uint8_t *column_pack(struct pack *pack, const char *name, unsigned int width, bool has_sign,
		     size_t count);
/* Maximum bytes packed besides the name and the data. */
#define COLUMN_PACK_BYTES 64

/* Stores values that are `stride` apart. Returns the end of what it stored. */
uint8_t *column_store(uint8_t *to, unsigned int width, const uint64_t *from, size_t stride,
		      size_t count);
/* Stores the same value `count` times. */
void column_fill(uint8_t *to, unsigned int width, uint64_t value, size_t count);

/* Packs a whole column of unsigned values, `stride` apart. */
void column_pack_values(struct pack *pack, const char *name, const uint64_t *from, size_t stride,
			size_t count);

/* A column in a buffer. Width 0: no column. */
struct column_view {
	const uint8_t *data;
	unsigned int width;
	bool is_signed;
};

/* Parses the value of a column's key. -EINVAL unless it is a column of exactly `count` integers. */
int column_parse(struct mp *mp, size_t count, struct column_view *view);
/* Widens to `count` values of 64 bits, signed ones in two's complement; zeros if there is no
 * column. */
void column_widen(const struct column_view *view, uint64_t *to, size_t count);
/* True if any of `count` values is at least `limit`, which is 1 or more. */
bool column_reaches(const struct column_view *view, uint64_t limit, size_t count);
