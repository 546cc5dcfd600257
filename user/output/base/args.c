/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Converts msgpack to JSON. */
#include "output/base/args.h"

#include <inttypes.h>
#include <math.h>

#include "output/base/json.h"
#include "trace/format/mp.h"

static void write_value(struct sink *out, struct mp *mp, unsigned int depth);

/* JSON member names are strings; msgpack keys may be numbers. */
static void write_key(struct sink *out, const struct mp_value *key)
{
	switch (key->type) {
	case MP_STR:
	case MP_BIN:
		json_text(out, (const char *)key->bytes, key->length);
		return;
	case MP_UINT:
		sink_format(out, "\"%" PRIu64 "\"", key->uint);
		return;
	case MP_INT:
		sink_format(out, "\"%" PRId64 "\"", key->sint);
		return;
	default:
		sink_text(out, "\"?\"");
	}
}

/* Reads a key of any type, and skips its contents. */
static void take_key(struct mp *mp, struct mp_value *key)
{
	struct mp ahead = *mp;

	mp_next(&ahead, key);
	mp_skip(mp);
}

static void write_items(struct sink *out, struct mp *mp, const struct mp_value *value,
			unsigned int depth)
{
	bool map = value->type == MP_MAP;
	struct mp_value key;

	sink_char(out, map ? '{' : '[');
	for (uint32_t i = 0; i < value->length; i++) {
		if (i)
			sink_char(out, ',');
		if (map) {
			take_key(mp, &key);
			write_key(out, &key);
			sink_char(out, ':');
		}
		write_value(out, mp, depth + 1);
	}
	sink_char(out, map ? '}' : ']');
}

static void write_real(struct sink *out, double real)
{
	if (isfinite(real))
		sink_format(out, "%.17g", real);
	else
		sink_text(out, "null");
}

/* The whole value was validated before, so only the sink can fail. */
static void write_value(struct sink *out, struct mp *mp, unsigned int depth)
{
	struct mp whole = *mp;
	struct mp_value value;

	mp_next(mp, &value);
	switch (value.type) {
	case MP_NIL:
		sink_text(out, "null");
		return;
	case MP_BOOL:
		sink_text(out, value.flag ? "true" : "false");
		return;
	case MP_UINT:
		sink_uint(out, value.uint);
		return;
	case MP_INT:
		sink_int(out, value.sint);
		return;
	case MP_REAL:
		write_real(out, value.real);
		return;
	case MP_STR:
	case MP_BIN:
		json_text(out, (const char *)value.bytes, value.length);
		return;
	case MP_EXT:
		json_hex(out, (const char *)value.bytes, value.length);
		return;
	case MP_ARRAY:
	case MP_MAP:
		if (depth < ARGS_DEPTH) {
			write_items(out, mp, &value, depth);
			return;
		}
		mp_skip(&whole);
		*mp = whole;
		sink_text(out, "null");
		return;
	}
}

static bool is_taken(const struct mp_value *key, const char *const *taken)
{
	for (; *taken; taken++)
		if (mp_is(key, *taken))
			return true;
	return false;
}

static void begin_member(struct sink *out, bool *any)
{
	if (*any)
		sink_char(out, ',');
	*any = true;
}

void args_json_members(struct sink *out, struct trace_string args, const char *const *taken,
		       bool *any)
{
	const uint8_t *bytes = (const uint8_t *)args.bytes;
	struct mp mp = { bytes, bytes + args.length }, whole = mp;
	struct mp_value key;
	uint32_t pairs;

	if (!args.length)
		return;
	if (mp_skip(&whole) || whole.at != whole.end || mp_map(&mp, &pairs)) {
		begin_member(out, any);
		sink_text(out, "\"args_hex\":");
		json_hex(out, args.bytes, args.length);
		return;
	}
	while (pairs--) {
		take_key(&mp, &key);
		if (is_taken(&key, taken)) {
			mp_skip(&mp);
			continue;
		}
		begin_member(out, any);
		write_key(out, &key);
		sink_char(out, ':');
		write_value(out, &mp, 0);
	}
}

struct trace_string args_json(struct sink *made, struct trace_string args)
{
	bool any = false;

	made->used = 0;
	if (args.length) {
		sink_char(made, '{');
		args_json_members(made, args, (const char *const[]) { NULL }, &any);
		sink_char(made, '}');
	}
	return (struct trace_string) { made->buffer, made->used };
}
