/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each method, operation, file, process, rank, span and device did in each coarse stretch of a
 * run, and the same for rows of other tables, for tables narrowed to a part of the run. Files,
 * processes and the like with the most time are kept individually, the others summed up; of other
 * tables the first rows are kept.
 */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/files/files.h"
#include "analysis/picture/picture_event.h"
#include "analysis/picture/picture_keys.h"

extern const struct analysis *const picture_tables[PICTURE_TABLES];

struct picture_sum {
	uint64_t of[PICTURE_MEMBERS];
};

struct picture_series {
	uint64_t number;	 /* see enum picture_key */
	uint64_t open, begun_ns; /* open spans, and since when any is open */
	bool others;		 /* all without a series of their own */
	uint64_t of;		 /* if so: how many */
	uint64_t ends_ns[USES]; /* of its merged time: by use for files, otherwise only the first */
	struct picture_sum sums[PICTURE_COARSE];
};

struct picture_sums {
	const struct job *job;
	void *states[PICTURE_TABLES]; /* NULL: the table has no rows */
	struct picture_axis axis;
	struct picture_device {
		uint64_t device; /* see event_device */
		uint32_t host;
	} devices[PICTURE_DEVICES]; /* by number of the series */
	struct picture_set {
		struct picture_series *series; /* the others' is last; of rows by first use */
		size_t count, room;
		uint32_t *slots; /* series of each number; NULL: searched linearly */
		size_t slot_count;
	} sets[PICTURE_KEYS];
};

/* Chooses series by what was measured. Returns 0 or -ENOMEM; must be freed after an error, too. */
int picture_sums_init(struct picture_sums *sums, const struct results *results,
		      const struct picture_axis *axis);
void picture_sums_free(struct picture_sums *sums);
/* Returns 0 or -ENOMEM. */
int picture_sums_add(struct picture_sums *sums, const struct picture_event *at);
/* Updates the rows of a span when it begins or has ended. Returns 0 or -ENOMEM. */
int picture_sums_span(struct picture_sums *sums, uint32_t slot, bool begins);
void picture_sums_end(struct picture_sums *sums, const struct span *span,
		      const struct picture_stretches *over);
/* Columns of requests that it reads. */
#define PICTURE_REQUEST_COLUMNS (DEVICE_OF_REQUEST | 1ull << REQUEST_BYTES)
#define PICTURE_REMOTE_COLUMNS (DEVICE_OF_REMOTE | 1ull << REMOTE_BYTES)
