/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Writes an event as a line of text or JSON, by the names and types of its kind's columns. New
 * kinds need no change here.
 */
#pragma once

#include "analysis/events/resolve.h"
#include "output/base/sink.h"

/*
 * {"layer": ..., "kind": ..., "time_ns": ..., ...}: the columns of trace_schemas[kind] by name,
 * `dts` as "time_ns" on the trace's clock, `dur` as "dur_ns", `op` and strings as text, "command"
 * as a list of arguments, flags as a number, "program" if requested. "path" and "path2" are
 * absolute; if the row itself named a path, "given_path" and "given_path2" hold it. Bytes that are
 * not UTF-8: as in json.h.
 */
void row_json(struct sink *out, const struct resolved_row *row);

/*
 *     0.001234567 1234/1235 pread64 "/data/x.bin" offset 4096 asked 512 = 512 <1.2 us>
 * Seconds since `start_ns`, pid/tid (and the program, if requested), the operation and its paths,
 * then the columns with information: no zeros, no -1. Flags by name in brackets, durations in angle
 * brackets.
 */
void row_text(struct sink *out, uint64_t start_ns, const struct resolved_row *row);
