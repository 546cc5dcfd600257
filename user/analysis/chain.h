/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * From operations to the requests that they waited for, for the tables made of it.
 */
#ifndef FAULTLINE_CHAIN_H
#define FAULTLINE_CHAIN_H

#include "analysis/measured.h"
#include "analysis/base/interval.h"
#include "analysis/model/path.h"

#define CHAIN_BIOS_KEPT 16 /* of an operation, to be shown */
#define CHAIN_SLOWEST_MOST 1000

/* A part of a request that the operation's own thread has queued. */
struct chain_bio {
	uint64_t start, end, issued; /* on the job's clock */
	uint64_t bytes, request;
	uint32_t dev, file;
	uint16_t operation; /* number in the job's list */
};

/* An operation, or many: how much of its time its own requests were where. */
struct chain_time {
	uint64_t time_ns; /* first: see longest.h */
	uint64_t count;
	uint64_t queue_ns;  /* some were waiting, none at a device */
	uint64_t device_ns; /* one at least was with a device's driver */
	uint64_t bios, bytes;
};

/* Operations on a file that move much, and the requests that they became. */
struct chain_pieces {
	uint64_t operations, bytes, time_ns; /* time: with their requests in queue or at a device */
	uint64_t requests, request_bytes;
};

/* Parts of requests that read a file, which an operation of the run waited for before somebody else
 * queued them. */
struct chain_late {
	uint64_t parts, bytes;
	struct interval_union time; /* with none of the file's under way, up to the queueing */
	uint64_t done; /* the last end of those that were queued since the first, by anybody */
};

#define CHAIN_MUCH_BYTES 131072 /* the kernel's default readahead */

struct chain_operation {
	struct chain_time time; /* first: see longest.h */
	uint64_t start, end, bytes;
	int64_t offset;
	uint32_t process, thread, file;
	uint16_t operation;
	struct path_asked asked;	 /* what a call named that has no file; path 0: nothing */
	uint64_t requests, last_request; /* that its parts are of, those of one in a row */
	struct chain_bio kept[CHAIN_BIOS_KEPT]; /* the first */
};

/* What a row of a table begins with to have the columns of chain_add_columns. */
struct chain_line {
	struct chain_time time;
	uint64_t other_ns; /* the rest of it */
};

struct chain_line chain_line(const struct chain_time *time);
/* Where the time was. Returns 0 or -ENOMEM. */
int chain_add_columns(struct table *table);
/* The same within a table of something else, behind the time of which it is part: `base` is where
 * its rows have a struct chain_line. Needs JOB_PARTS of what the table has recorded. */
int chain_add_group(struct table *table, size_t base);

/* The slowest operations, the slowest first; NULL without the block layer. */
const struct chain_operation *chain_slowest(const struct measured *measured, size_t *count);
/* By number of the file, `*count` of them. */
const struct chain_pieces *chain_pieces_of_files(const struct measured *measured, size_t *count);
/* By number of the file, `*count` of them. */
const struct chain_late *chain_late_of_files(const struct measured *measured, size_t *count);
/* Sums by number of the file, `*count` of them. */
const struct chain_time *chain_of_files(const struct measured *measured, size_t *count);
/* The sum of metadata calls, but for those that give a file room or take it away. */
const struct chain_time *chain_of_names(const struct measured *measured);
/* Sums by span's label. */
const struct chain_time *chain_of_labels(const struct measured *measured, size_t *count);

#endif
