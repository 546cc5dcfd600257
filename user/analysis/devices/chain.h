/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Links operations to the block requests they waited for, as the basis of several tables. */
#pragma once

#include "analysis/shared/results.h"
#include "collections/interval.h"
#include "analysis/events/path.h"

#define CHAIN_BIOS_KEPT 16 /* per operation, for display */
#define CHAIN_SLOWEST_MAX 1000

/* A part of a request, queued by the operation's own thread; or a request to a mount. */
struct chain_bio {
	uint64_t start, end, issued; /* on the job's clock */
	uint64_t bytes, request;
	uint32_t dev, file;
	uint16_t operation;	    /* number in the job's list */
	bool remote, queue_unknown; /* its queue counts as device */
};

/* An operation, or a sum of operations: where its own requests spent the time. */
struct chain_time {
	uint64_t time_ns; /* must come first: see longest.h */
	uint64_t count;
	uint64_t queue_ns;  /* some were queued, none was at a device */
	uint64_t device_ns; /* at least one was at a device */
	uint64_t bios, bytes;
};

/* Large operations on a file, and the requests they became. */
struct chain_pieces {
	uint64_t operations, bytes, time_ns; /* time: with requests queued or at a device */
	uint64_t written_ns, mapped_ns;	     /* the parts of it in writes and in faults */
	uint64_t requests, request_bytes;
};

/* Parts of requests that read a file and that another thread queued after an operation of the run
 * had started to wait for them. */
struct chain_late {
	uint64_t parts, bytes;
	struct interval_union time; /* with no request for the file in flight, up to the queueing */
	uint64_t done; /* latest end of requests queued since the first part, by any thread */
};

/* Calls that replace or remove files, and waited for other requests than reads. */
struct chain_replacing {
	struct chain_time time;
	uint64_t written_bytes, discarded_bytes;
};

#define CHAIN_MUCH_BYTES 131072 /* the kernel's default readahead */

struct chain_operation {
	struct chain_time time; /* must come first: see longest.h */
	uint64_t start, end, bytes;
	int64_t offset;
	uint32_t process, thread, file;
	uint16_t operation;
	struct path_argument argument; /* path argument of a call without a file; path 0: none */
	bool remote;		       /* some of its requests went to a mount */
	uint64_t written_bytes, discarded_bytes; /* by its requests */
	bool overwrites;			 /* see event_overwrites */
	uint64_t requests, last_request; /* requests it became; bios of one in a row count once */
	struct chain_bio kept[CHAIN_BIOS_KEPT]; /* the first */
};

/* Must start a row that has the columns of chain_add_columns. */
struct chain_line {
	struct chain_time time;
	uint64_t other_ns; /* the rest of the time */
};

/* `queue_unknown`: if requests had none in the queue, that is unknown. */
struct chain_line chain_line(const struct chain_time *time, bool queue_unknown);
/* Returns whether requests have been taken whose time in the queue is unknown, and part of
 * device_ns: see the column queue of rows remote. */
bool chain_queue_unknown(const struct results *results);
/* Adds the columns for where the time was spent. */
void chain_add_columns(struct table *table);
/* Adds the same columns to another table, behind the time that they split: `base` is the offset of
 * struct chain_line in its rows. Requires JOB_PARTS in the table's `recorded`. */
void chain_add_group(struct table *table, size_t base);

/* Returns the slowest operations, slowest first; NULL without the block layer. */
const struct chain_operation *chain_slowest(const struct results *results, size_t *count);
/* By file number, `*count` entries. */
const struct chain_pieces *chain_pieces_of_files(const struct results *results, size_t *count);
/* By file number, `*count` entries. */
const struct chain_late *chain_late_of_files(const struct results *results, size_t *count);
/* Sums by file number, `*count` entries. */
const struct chain_time *chain_of_files(const struct results *results, size_t *count);
/* The sum of metadata calls that waited mostly for reads, except calls that allocate or free a
 * file's space. */
const struct chain_time *chain_of_names(const struct results *results);
/* Sums of calls that replace or remove a file and waited mostly for writes or discards, by
 * operation,
 * `*count` entries. */
const struct chain_replacing *chain_of_replacing(const struct results *results, size_t *count);
/* Sums by span label. */
const struct chain_time *chain_of_labels(const struct results *results, size_t *count);
