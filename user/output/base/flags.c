/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of flags, by bit as in trace/format/flags.h. */
#include "output/base/flags.h"

#define NAME(id, bit, name) [bit] = name,
#define LIST(id, name, layer, duration, names, numbers, flags, meaning)                            \
	[TRACE_##id] = { TRACE_##flags##_FLAGS(NAME) },

static const char *const lists[TRACE_KIND_COUNT][32] = { TRACE_KINDS(LIST) };

const char *flags_name(enum trace_kind kind, unsigned int bit)
{
	return bit < 32 ? lists[kind][bit] : NULL;
}
