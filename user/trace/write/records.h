/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads values from adjacent records of the same layout. */
#pragma once

#include "trace/write/writer.h"

#define LINE_VALUES (64 / sizeof(uint64_t)) /* per cache line */

/* Returns a field of a record. */
uint64_t records_value(const char *record, const struct trace_field *field);
/* Copies the same field of all records to adjacent values. */
void records_copy(uint64_t *out, const char *record, size_t stride, size_t count,
		  const struct trace_field *field);
/* Returns how many records last at most `max_ns` and start at most `max_ns` after the previous
 * one. */
size_t records_tight(uint64_t last_ns, uint64_t max_ns, const char *record, size_t stride,
		     size_t count, const struct trace_field *time,
		     const struct trace_field *duration);
