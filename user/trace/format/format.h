/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The file format, shared by the writer and the reader. Private to user/trace.
 *
 * A file is a sequence of zstd frames with content checksums. Each holds one msgpack map:
 *
 *   header   {"format": "faultline", "version": 1, ...}                        the first frame
 *            and, with "block": "header", "n": 0, a copy: a second or two later or at the end
 *   string   {"block": "string", "n": N, "id": COLUMN, "text": [str or bin, ...]}
 *            with "of": "args" for the arguments of spans and instants
 *   rows     {"block": KIND, "n": N, "t0": ns, NAME: COLUMN, ...}              see schema.h
 *   flush    {"block": "flush", "n": 0, "t0": ns}
 *            about every second: everything before this time is in the file, except for what is
 *            younger than a second
 *   index    {"block": "index", "n": N, "previous": OFFSET or 0, "kinds": [KIND, ...],
 *             "kind", "offset", "rows", "start", "end", "pids", "files": COLUMN}
 *   totals   {"block": "totals", "start_ns", "end_ns", "exit_code", "operations": [...],
 *             "kinds": [...], "survivors": [pid, ...]}
 *
 * and the end is a skippable frame of fixed size, struct format_tail below. A string precedes the
 * first row that refers to it. There are about as many arguments as spans: they have separate
 * blocks of a few thousand, so that a reader need not hold them. An index describes the string and
 * row blocks since the previous index frame, so that neither side ever holds more than a part of it
 * packed.
 *
 * COLUMN is msgpack-numpy's {b"nd": true, b"type": "<u4", b"kind": b"", b"shape": [N],
 * b"data": bin}; its keys are bin because msgpack_numpy.decode looks for those.
 * Times are differences: time[i] = t0 + dts[0] + ... + dts[i], modulo 2^64.
 */
#pragma once

#include "trace/format/schema.h"

#define FORMAT_NAME "faultline"
#define FORMAT_STRING "string"
#define FORMAT_ARGS "args" /* value of "of"; in an index, the kind of such a block */
#define FORMAT_INDEX "index"
#define FORMAT_FLUSH "flush"
#define FORMAT_TOTALS "totals"
#define FORMAT_HEADER "header" /* the header's copy */

/* Numbers of string blocks in an index; row blocks have their enum trace_kind. */
#define FORMAT_KIND_STRING TRACE_KIND_COUNT
#define FORMAT_KIND_ARGS (TRACE_KIND_COUNT + 1)
#define FORMAT_KINDS (TRACE_KIND_COUNT + 2)

/* An index frame is written at least once per this many blocks. */
#define FORMAT_INDEX_ROWS 65536

/* One row of an index. `start` and `end` are times; for args, the lowest and the highest id. `pids`
 * and `files` have a bit for each pid and file in the block: see trace_key. Older traces lack these
 * columns. */
struct format_entry {
	uint64_t kind, offset, rows, start, end, pids, files;
};

enum {
	ENTRY_KIND,
	ENTRY_OFFSET,
	ENTRY_ROWS,
	ENTRY_START,
	ENTRY_END,
	ENTRY_PIDS,
	ENTRY_FILES,
	ENTRY_COLUMNS
};
#define ENTRY_COLUMNS_NEEDED ENTRY_PIDS

_Static_assert(sizeof(struct format_entry) == ENTRY_COLUMNS * sizeof(uint64_t), "an array of u64");

static const struct trace_column format_entry_columns[ENTRY_COLUMNS] = {
	[ENTRY_KIND] = { "kind", TRACE_UINT },	 [ENTRY_OFFSET] = { "offset", TRACE_UINT },
	[ENTRY_ROWS] = { "rows", TRACE_UINT },	 [ENTRY_START] = { "start", TRACE_UINT },
	[ENTRY_END] = { "end", TRACE_UINT },	 [ENTRY_PIDS] = { "pids", TRACE_UINT },
	[ENTRY_FILES] = { "files", TRACE_UINT },
};

/* The last bytes of a complete trace, little-endian: a skippable frame to zstd. */
struct format_tail {
	uint32_t skippable; /* FORMAT_TAIL_SKIPPABLE */
	uint32_t bytes;	    /* that follow */
	uint64_t magic;	    /* FORMAT_TAIL_MAGIC */
	uint64_t index;	    /* offset of the last index frame */
	uint64_t totals;    /* offset of the totals frame */
	uint64_t size;	    /* of the whole file */
};

#define FORMAT_TAIL_SKIPPABLE 0x184D2A50u
#define FORMAT_TAIL_MAGIC 0x0a444e45544c460aull /* "\nFLTEND\n" */
#define FORMAT_TAIL_BYTES (sizeof(struct format_tail) - 2 * sizeof(uint32_t))

_Static_assert(sizeof(struct format_tail) == 40, "no padding");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "columns are copied as they are");
