/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What each path of access, operation, file, process, rank, span and device did in each coarse
 * stretch of a run, for tables that are narrowed to a part of it. Of files, processes and the like
 * those that took the most; what the others did is summed up. Knows nothing of how it is shown.
 */
#ifndef FAULTLINE_PICTURE_SUMS_H
#define FAULTLINE_PICTURE_SUMS_H

#include "analysis/analysis.h"
#include "analysis/picture_axis.h"
#include "analysis/picture_parts.h"

enum picture_key {
	PICTURE_BY_PART,      /* number: enum picture_part */
	PICTURE_BY_OPERATION, /* number in the job's operations */
	PICTURE_BY_FILE,      /* ... files */
	PICTURE_BY_PROCESS,   /* ... processes */
	PICTURE_BY_RANK,      /* the rank itself */
	PICTURE_BY_SPAN,      /* ... labels */
	PICTURE_BY_DEVICE,    /* (host << 32 | device number) */
	PICTURE_KEYS,
};

/* How many are told one by one. */
extern const size_t picture_sums_most[PICTURE_KEYS];

/* Of operations: calls and faults, what they moved, what came from storage. Of spans: how often
 * they began, their time. Of devices: requests, what these moved (`bytes` read, `fetched_bytes`
 * written), their time. Counted where they began; all else is spread evenly over them. */
struct picture_sum {
	uint64_t count, bytes, fetched_bytes, time_ns; /* time is summed over threads */
};

struct picture_series {
	uint64_t number; /* see enum picture_key */
	bool others;	 /* all that are not told one by one */
	uint64_t of;	 /* then: how many */
	struct picture_sum sums[PICTURE_COARSE];
};

struct picture_sums {
	const struct job *job;
	struct picture_axis axis;
	struct picture_set {
		struct picture_series *series; /* the last one is that of the others */
		size_t count, room;
		uint32_t *slots; /* of each number: its series; NULL: found one by one */
		size_t slot_count;
	} sets[PICTURE_KEYS];
};

/* Chooses by what was measured. Returns 0 or -ENOMEM; is to be freed after an error, too. */
int picture_sums_init(struct picture_sums *sums, const struct measured *measured,
		      const struct picture_axis *axis);
void picture_sums_free(struct picture_sums *sums);
/* Its state is a struct picture_sums. */
extern const struct walk_calls picture_sums_calls;
/* Columns of requests that it asks for. */
#define PICTURE_REQUEST_COLUMNS (1ull << REQUEST_DEV | 1ull << REQUEST_BYTES)

#endif
