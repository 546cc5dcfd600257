/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Who made which file dirty: sums by file and process, and by file and span of the application.
 * Knows nothing of when it was written back.
 */
#ifndef FAULTLINE_WRITERS_H
#define FAULTLINE_WRITERS_H

#include "analysis/model/event.h"
#include "analysis/table/table.h"

struct writer_sums {
	uint64_t call_bytes;	/* written by calls */
	uint64_t stored_bytes;	/* pages that were faulted on to be stored to */
	uint64_t dirtied_bytes; /* folios that this made dirty */
	uint64_t pauses, pause_ns;
};

/* The bytes that the kernel may write back, once, on their account. */
static inline uint64_t writer_sums_bytes(const struct writer_sums *sums)
{
	uint64_t folio_bytes = sums->dirtied_bytes; /* 0 where it is not known */

	return sums->call_bytes + (folio_bytes ? folio_bytes : sums->stored_bytes);
}

void writer_sums_add(struct writer_sums *sums, const struct writer_sums *more);

enum writers_by { WRITERS_BY_PROCESS, WRITERS_BY_SPAN, WRITERS_KEYS };

struct writer {
	uint32_t file, who; /* number of the process, or of the span's label */
	struct writer_sums sums;
};

struct writers {
	const struct job *job;
	struct map sums[WRITERS_KEYS];
};

void writers_init(struct writers *writers, const struct job *job);
void writers_free(struct writers *writers);
/* In passing, for an event on a file; by span only where spans were recorded and one is open.
 * Returns 0 or -ENOMEM. */
int writers_add(struct writers *writers, const struct event *event, const struct writer_sums *sums);
/* All of them, by file, and of a file whoever dirtied most first; to be freed. NULL when memory is
 * out. */
struct writer *writers_list(const struct writers *writers, enum writers_by by, size_t *count);

/* Those of one file. */
struct writer_list {
	const struct writers *writers;
	const struct writer *of;
	size_t count;
	uint64_t all_bytes;    /* that all of them dirtied, */
	uint64_t device_bytes; /* and that were written of the file; TABLE_NO_UINT: not known */
};

/* Getters of a column with a table within: `key` is where a row has a struct writer_list. */
table_getter writers_get_processes;
table_getter writers_get_spans;

#endif
