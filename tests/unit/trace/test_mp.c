/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The msgpack parser: every encoding, from msgpack-c's packer and by hand; every truncation; lying
 * counts.
 */
#include "unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <msgpack.h>

#include "trace/format/mp.h"

static struct mp open_bytes(const void *bytes, size_t length)
{
	return (struct mp) { bytes, (const uint8_t *)bytes + length };
}

#define OPEN(literal) open_bytes("" literal, sizeof(literal) - 1)

/* Encodings that packers choose as the narrowest, and those they never choose. */
TEST(test_integers)
{
	static const struct {
		const char *bytes;
		size_t length;
		uint64_t value;
		bool is_negative;
	} rows[] = {
		{ "\x00", 1, 0, false },
		{ "\x7f", 1, 127, false },
		{ "\xe0", 1, (uint64_t)-32, true },
		{ "\xff", 1, (uint64_t)-1, true },
		{ "\xcc\x05", 2, 5, false },
		{ "\xcc\xff", 2, 255, false },
		{ "\xcd\xff\xfe", 3, 65534, false },
		{ "\xce\xff\xff\xff\xff", 5, UINT32_MAX, false },
		{ "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, UINT64_MAX, false },
		{ "\xd0\x80", 2, (uint64_t)-128, true },
		{ "\xd0\x7f", 2, 127, false },
		{ "\xd1\x80\x00", 3, (uint64_t)-32768, true },
		{ "\xd2\x80\x00\x00\x00", 5, (uint64_t)INT32_MIN, true },
		{ "\xd3\x80\x00\x00\x00\x00\x00\x00\x00", 9, (uint64_t)INT64_MIN, true },
		{ "\xd3\x7f\xff\xff\xff\xff\xff\xff\xff", 9, INT64_MAX, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mp mp = open_bytes(rows[i].bytes, rows[i].length);
		struct mp_value value;
		int64_t number;

		assert_int_equal(mp_next(&mp, &value), 0);
		assert_int_equal(value.type, rows[i].is_negative ? MP_INT : MP_UINT);
		assert_true(value.uint == rows[i].value);
		assert_ptr_equal(mp.at, mp.end);

		mp = open_bytes(rows[i].bytes, rows[i].length);
		assert_int_equal(mp_uint(&mp, &value.uint), rows[i].is_negative ? -EINVAL : 0);
		mp = open_bytes(rows[i].bytes, rows[i].length);
		if (!rows[i].is_negative && rows[i].value > INT64_MAX) {
			assert_int_equal(mp_int(&mp, &number), -EINVAL);
		} else {
			assert_int_equal(mp_int(&mp, &number), 0);
			assert_true((uint64_t)number == rows[i].value);
		}
	}
}

TEST(test_other_scalars)
{
	struct mp_value value;
	struct mp mp = OPEN("\xc0\xc2\xc3\xca\x3f\x80\x00\x00\xcb\xbf\xf8\x00\x00\x00\x00\x00\x00");

	assert_int_equal(mp_next(&mp, &value), 0);
	assert_int_equal(value.type, MP_NIL);
	assert_int_equal(mp_next(&mp, &value), 0);
	assert_true(value.type == MP_BOOL && !value.flag);
	assert_int_equal(mp_next(&mp, &value), 0);
	assert_true(value.type == MP_BOOL && value.flag);
	assert_int_equal(mp_next(&mp, &value), 0);
	assert_true(value.type == MP_REAL && value.real == 1.0);
	assert_int_equal(mp_next(&mp, &value), 0);
	assert_true(value.type == MP_REAL && value.real == -1.5);
	assert_int_equal(mp_next(&mp, &value), -EINVAL);

	mp = OPEN("\xc1"); /* the one byte that msgpack never uses */
	assert_int_equal(mp_next(&mp, &value), -EINVAL);
}

/* One nested object that contains everything. */
static void pack_everything(msgpack_sbuffer *buffer)
{
	static char long_text[70000];
	msgpack_packer packer;

	msgpack_packer_init(&packer, buffer, msgpack_sbuffer_write);
	msgpack_pack_map(&packer, 20);
	for (int i = 0; i < 17; i++) {
		msgpack_pack_int(&packer, i);
		msgpack_pack_array(&packer, i);
		for (int j = 0; j < i; j++)
			msgpack_pack_nil(&packer);
	}
	msgpack_pack_str_with_body(&packer, long_text, sizeof(long_text));
	msgpack_pack_bin_with_body(&packer, long_text, 300);
	msgpack_pack_ext_with_body(&packer, long_text, 16, 5);
	msgpack_pack_ext_with_body(&packer, long_text, 17, 5);
	msgpack_pack_str_with_body(&packer, "key", 3);
	msgpack_pack_double(&packer, 0.5);
}

TEST(test_skip_and_every_cut)
{
	msgpack_sbuffer buffer;
	struct mp mp;

	msgpack_sbuffer_init(&buffer);
	pack_everything(&buffer);
	mp = open_bytes(buffer.data, buffer.size);
	assert_int_equal(mp_skip(&mp), 0);
	assert_ptr_equal(mp.at, mp.end);
	for (size_t cut = 0; cut < buffer.size; cut += cut < 500 ? 1 : 997) {
		uint8_t *copy = malloc(cut + 1); /* exact size, so that the sanitizer catches
						  * overreads */

		memcpy(copy, buffer.data, cut);
		mp = open_bytes(copy, cut);
		assert_int_equal(mp_skip(&mp), -EINVAL);
		free(copy);
	}
	msgpack_sbuffer_destroy(&buffer);
}

TEST(test_find)
{
	msgpack_sbuffer buffer;
	struct mp_value value;
	struct mp mp, found;

	msgpack_sbuffer_init(&buffer);
	pack_everything(&buffer);
	mp = open_bytes(buffer.data, buffer.size);
	assert_int_equal(mp_find(mp, "key", &found), 1);
	assert_int_equal(mp_next(&found, &value), 0);
	assert_true(value.type == MP_REAL && value.real == 0.5);
	assert_int_equal(mp_find(mp, "ke", &found), 0);
	assert_int_equal(mp_find(OPEN("\x91\x01"), "key", &found), -EINVAL);
	assert_int_equal(mp_find(OPEN("\x82\x01\x02\x03"), "key", &found), -EINVAL);
	/* a bin key is as good as a str */
	assert_int_equal(mp_find(OPEN("\x81\xc4\x02nd\xc3"), "nd", &found), 1);
	msgpack_sbuffer_destroy(&buffer);
}

TEST(test_lying_counts)
{
	struct mp_value value;
	struct mp mp;

	mp = OPEN("\xdd\xff\xff\xff\xff\x01"); /* an array of four billion */
	assert_int_equal(mp_next(&mp, &value), -EINVAL);
	mp = OPEN("\xdf\xff\xff\xff\xff\x01\x01"); /* a map */
	assert_int_equal(mp_skip(&mp), -EINVAL);
	mp = OPEN("\xc6\xff\xff\xff\xff\x01"); /* a bin */
	assert_int_equal(mp_next(&mp, &value), -EINVAL);
	mp = OPEN("\xc9\xff\xff\xff\xff\x01"); /* an ext, whose length plus one wraps */
	assert_int_equal(mp_next(&mp, &value), -EINVAL);
	mp = OPEN("\x82\x01"); /* one key, no value, no second pair */
	assert_int_equal(mp_next(&mp, &value), -EINVAL);
}

/* Nesting uses no recursion: a million nested arrays are only a count. */
TEST(test_depth)
{
	size_t depth = 1000000;
	uint8_t *bytes = malloc(depth + 1);
	struct mp mp;

	memset(bytes, 0x91, depth);
	bytes[depth] = 0x00;
	mp = open_bytes(bytes, depth + 1);
	assert_int_equal(mp_skip(&mp), 0);
	assert_ptr_equal(mp.at, mp.end);
	mp = open_bytes(bytes, depth);
	assert_int_equal(mp_skip(&mp), -EINVAL);
	free(bytes);
}

/* Whatever two bytes followed by zeros mean, nothing is read past the end. */
TEST(test_all_first_bytes)
{
	for (unsigned int first = 0; first < 65536; first++) {
		for (size_t length = 0; length <= 20; length += 5) {
			uint8_t *bytes = calloc(1, length + 1);
			struct mp mp = open_bytes(bytes, length);

			if (length) {
				bytes[0] = first >> 8;
				bytes[1] = first;
			}
			if (!mp_skip(&mp))
				assert_true(mp.at <= mp.end);
			free(bytes);
		}
	}
}
