/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads values from records. */
#include "trace/write/records.h"

#include <string.h>

/* Each load has a constant width: a copy of variable length takes four times as long. */
uint64_t records_value(const char *record, const struct trace_field *field)
{
	const void *at = record + field->offset;

	switch (field->bytes) {
	case 2:
		return (uint64_t) * (const uint16_t *)at << field->shift;
	case 4:
		return (uint64_t) * (const uint32_t *)at << field->shift;
	case 8:
		return *(const uint64_t *)at << field->shift;
	default:
		return 0;
	}
}

size_t records_tight(uint64_t last_ns, uint64_t max_ns, const char *record, size_t stride,
		     size_t count, const struct trace_field *time,
		     const struct trace_field *duration)
{
	size_t n = 0;

	for (; n < count; n++, record += stride) {
		uint64_t time_ns = records_value(record, time);

		if (time_ns - last_ns > max_ns || records_value(record, duration) > max_ns)
			break;
		last_ns = time_ns;
	}
	return n;
}

/* One loop per width, so that each is a plain copy. */
void records_copy(uint64_t *out, const char *record, size_t stride, size_t count,
		  const struct trace_field *field)
{
	const char *from = record + field->offset;

	for (size_t i = 0; i < count; i += LINE_VALUES) /* like fetch_ahead: for the next run */
		__builtin_prefetch(out + count + i, 1);
#define COPY(type)                                                                                 \
	for (size_t i = 0; i < count; i++)                                                         \
	out[i] = (uint64_t) * (const type *)(from + i * stride) << field->shift
	switch (field->bytes) {
	case 2:
		COPY(uint16_t);
		break;
	case 4:
		COPY(uint32_t);
		break;
	case 8:
		COPY(uint64_t);
		break;
	default:
		memset(out, 0, count * sizeof(*out));
	}
#undef COPY
}
