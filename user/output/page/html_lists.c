/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Writes lists of numbers, run-length encoded. */
#include "output/page/html_data.h"

static void end_zeros(struct json *json, uint64_t *zeros)
{
	if (*zeros)
		json_int(json, NULL, *zeros == 1 ? 0 : -(int64_t)*zeros);
	*zeros = 0;
}

static void add_number(struct json *json, uint64_t *zeros, uint64_t number)
{
	if (!number) {
		++*zeros;
		return;
	}
	end_zeros(json, zeros);
	json_uint(json, NULL, number);
}

void html_list(struct json *json, const char *name, const uint64_t *numbers, size_t step,
	       size_t count)
{
	uint64_t zeros = 0;

	json_begin_list(json, name);
	for (size_t i = 0; i < count; i++)
		add_number(json, &zeros, *(const uint64_t *)((const char *)numbers + i * step));
	end_zeros(json, &zeros);
	json_end(json);
}

void html_counts(struct json *json, const char *name, const uint32_t *numbers, size_t count)
{
	uint64_t zeros = 0;

	json_begin_list(json, name);
	for (size_t i = 0; i < count; i++)
		add_number(json, &zeros, numbers[i]);
	end_zeros(json, &zeros);
	json_end(json);
}
