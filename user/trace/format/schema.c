/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The tables of schema.h, header.h and layers.h: kinds of blocks, their columns, names of families
 * and layers.
 */
#include "trace/format/schema.h"

#include <string.h>

#include "trace/format/header.h"
#include "trace/format/layers.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define COLUMN(id, number, name, type, unit, source, meaning)                                      \
	[number] = { name, TRACE_##type, TRACE_UNIT_##unit, meaning },
#define COLUMNS_OF_KIND(id, name, ...)                                                             \
	static const struct trace_column name##_columns[] = { TRACE_COLUMNS(id, COLUMN) };         \
	_Static_assert(COUNT(name##_columns) == id##_COLUMNS,                                      \
		       "columns are numbered without gaps");                                       \
	_Static_assert(COUNT(name##_columns) < TRACE_COLUMNS_MAX, "a mask can name them");

TRACE_KINDS(COLUMNS_OF_KIND)

#define SCHEMA(id, name, layer_, duration_, names_, numbers, flags, meaning_)                      \
	[TRACE_##id] = {                                                                           \
		.kind = #name,                                                                     \
		.layer = (layer_),                                                                 \
		.meaning = (meaning_),                                                             \
		.columns = name##_columns,                                                         \
		.column_count = COUNT(name##_columns),                                             \
		.duration = (duration_),                                                           \
		.names = (names_),                                                                 \
	},

const struct trace_schema trace_schemas[TRACE_KIND_COUNT] = { TRACE_KINDS(SCHEMA) };

#define LAYER_NAME(id, name, ...) [LAYER_##id] = name,
const char *const layer_names[LAYER_COUNT] = { TRACE_LAYERS(LAYER_NAME) };

bool trace_kind_has_layer(enum trace_kind kind, const char *layer)
{
	for (int l = 0; kind == TRACE_REMOTE && l < LAYER_COUNT; l++)
		if (LAYERS_OF_SERVERS >> l & 1 && !strcmp(layer_names[l], layer))
			return true;
	return !strcmp(trace_schemas[kind].layer, layer);
}

const char *const trace_family_names[TRACE_FAMILY_COUNT] = {
	[TRACE_READ] = "read",
	[TRACE_WRITE] = "write",
	[TRACE_METADATA] = "metadata",
	[TRACE_SYNC] = "sync",
	[TRACE_MAP] = "map",
	[TRACE_TRANSFER] = "transfer",
	[TRACE_ADVICE] = "advice",
	[TRACE_FILEFAULT] = "fault",
	[TRACE_ANONFAULT] = "anonymous",
	[TRACE_CACHE] = "pagecache",
	[TRACE_INDIRECT] = "indirect",
	[TRACE_UNDECODED] = "undecoded",
	[TRACE_SUBMITS] = "async",
	[TRACE_STORES] = "stores",
	[TRACE_DELAY] = "delay",
	[TRACE_STORAGE] = "storage",
	[TRACE_OTHER] = "other",
	[TRACE_KERNEL_READ] = "kernel_read",
	[TRACE_KERNEL_WRITE] = "kernel_write",
	[TRACE_SPLICE_READ] = "splice_read",
	[TRACE_SPLICE_WRITE] = "splice_write",
	[TRACE_APART] = "apart",
	[TRACE_SERVED] = "remote",
};
