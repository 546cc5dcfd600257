/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Values out of records that lie one behind the other, all laid out alike. Knows nothing of where
 * they come from, nor of blocks.
 */
#ifndef FAULTLINE_RECORDS_H
#define FAULTLINE_RECORDS_H

#include "writer.h"

#define LINE_VALUES (64 / sizeof(uint64_t)) /* of a cache line */

/* A field of a record. */
uint64_t records_value(const char *record, const struct trace_field *field);
/* The same field of all of them, one value behind the other. */
void records_copy(uint64_t *out, const char *record, size_t stride, size_t count,
		  const struct trace_field *field);
/* How many of them last so long at the most, and start so long after the one before. */
size_t records_tight(uint64_t last_ns, uint64_t most_ns, const char *record, size_t stride,
		     size_t count, const struct trace_field *time,
		     const struct trace_field *duration);

#endif
