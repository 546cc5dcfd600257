/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Converts a span's arguments, a msgpack map from the program, to JSON. The input is untrusted. */
#pragma once

#include <stdbool.h>

#include "output/base/sink.h"
#include "trace/read/reader.h"

/* Maps and arrays nested deeper than this become null. */
#define ARGS_DEPTH 16

/*
 * Writes the map's pairs as members of an object, each with a comma in front unless it is the first
 * and !*any; sets *any once there is one. Omits names in `taken` (NULL-terminated). Input that is
 * not a msgpack map becomes a single member, "args_hex". Numbers that JSON lacks (NaN, infinity)
 * become null; bytes that are not UTF-8 become \xHH.
 */
void args_json_members(struct sink *out, struct trace_string args, const char *const *taken,
		       bool *any);
/* Replaces a memory sink's contents with all arguments as an object; empty if there are none. */
struct trace_string args_json(struct sink *made, struct trace_string args);
