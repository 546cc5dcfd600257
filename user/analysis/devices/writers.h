/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Dirtied bytes by file and process, and by file and span. */
#pragma once

#include "analysis/events/event.h"
#include "analysis/table/table.h"

struct writer_sums {
	uint64_t call_bytes;	/* written by calls */
	uint64_t stored_bytes;	/* pages faulted on by stores */
	uint64_t dirtied_bytes; /* folios dirtied by those faults */
	uint64_t pauses, pause_ns;
};

/* Returns the bytes that the kernel may have to write back for this, counted once. */
static inline uint64_t writer_sums_bytes(const struct writer_sums *sums)
{
	uint64_t folio_bytes = sums->dirtied_bytes; /* 0 if unknown */

	return sums->call_bytes + (folio_bytes ? folio_bytes : sums->stored_bytes);
}

void writer_sums_add(struct writer_sums *sums, const struct writer_sums *more);

enum writers_by { WRITERS_BY_PROCESS, WRITERS_BY_SPAN, WRITERS_KEYS };

struct writer {
	uint32_t file, who; /* process number or label of the span */
	struct writer_sums sums;
};

struct writers {
	const struct job *job;
	struct map sums[WRITERS_KEYS];
};

void writers_init(struct writers *writers, struct arena *arena, const struct job *job);
/* Adds an event on a file during the walk; by span only if spans were recorded and one is open.
 * Returns 0 or -ENOMEM. */
int writers_add(struct writers *writers, const struct event *event, const struct writer_sums *sums);
/* Returns all writers ordered by file, most dirtied bytes first. NULL after an
 * error. */
struct writer *writers_list(const struct writers *writers, enum writers_by by, size_t *count);

/* The writers of one file. */
struct writer_list {
	const struct writers *writers;
	const struct writer *of;
	size_t count;
	uint64_t all_bytes;    /* dirtied by all of them */
	uint64_t device_bytes; /* written back for the file; TABLE_NO_UINT: unknown */
};

/* Getters for a column with a nested table: `key` is the offset of a struct writer_list in the
 * row. */
table_getter writers_get_processes;
table_getter writers_get_spans;
