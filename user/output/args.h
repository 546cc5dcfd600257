/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a program said of a span, a msgpack map of its making, as JSON. Trusts nothing in it.
 */
#ifndef FAULTLINE_ARGS_H
#define FAULTLINE_ARGS_H

#include <stdbool.h>

#include "output/sink.h"
#include "trace/reader.h"

/* Maps and arrays that lie deeper in each other are null. */
#define ARGS_DEPTH 16

/*
 * Writes the pairs of the map as members of an object, each with a comma in front, but the first if
 * not *any, which is set once there is one; those whose name is one of `taken` (NULL-terminated)
 * are left out. What is no map of msgpack becomes one member, "args_hex". Numbers that JSON has not
 * (NaN, infinity) are null; bytes that are not UTF-8 are \xHH.
 */
void args_json_members(struct sink *out, struct trace_string args, const char *const *taken,
		       bool *any);
/* All of it as an object, in place of what was in the sink in memory; empty if there is nothing. */
struct trace_string args_json(struct sink *made, struct trace_string args);

#endif
