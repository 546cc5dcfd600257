/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Numbers of table rows in each coarse stretch of a run, as struct sampled describes: of the first
 * rows of each table as it is shown.
 */
#pragma once

#include "analysis/shared/results.h"
#include "analysis/picture/picture_axis.h"

#define PICTURE_SAMPLED 9	/* tables */
#define PICTURE_SAMPLED_ROWS 64 /* of each */

extern const struct analysis *const picture_sampled[PICTURE_SAMPLED];

/* The increase in each stretch. */
struct picture_sample {
	uint64_t number, before[SAMPLED_MAX];
	uint64_t more[SAMPLED_MAX][PICTURE_COARSE];
};

/* A consumer of events, for one table or more. */
struct picture_sampling {
	const struct sampled *how; /* of one of these tables */
	void *state;
	struct arena arena; /* of the state */
	struct walk_calls calls;
	struct picture_samples *all;
	unsigned int at;	       /* the current stretch */
	struct picture_sampled *table; /* the only one, if events add to it */
};

struct picture_samples {
	const struct job *job;
	struct picture_axis axis;
	struct picture_sampled {
		void *filled;
		size_t reported; /* index of its consumer */
		struct picture_sample *rows;
		size_t count; /* 0: no rows */
	} tables[PICTURE_SAMPLED];
	struct picture_sampling reported[PICTURE_SAMPLED];
	size_t reported_count;
};

/* Returns 0 or -ENOMEM; must be freed after an error, too, before the job is. The samples must not
 * be moved. */
int picture_samples_init(struct picture_samples *samples, const struct results *results,
			 const struct picture_axis *axis);
/* Adds the consumers to a walk: kinds, columns and consumers, at most PICTURE_SAMPLED. */
void picture_samples_join(struct picture_samples *samples, struct cursor_options *cursor,
			  struct walk_consumer *consumers, size_t *count);
/* All events have passed: the job may be freed, the samples stay. Returns 0 or -ENOMEM. */
int picture_samples_finish(struct picture_samples *samples);
void picture_samples_free(struct picture_samples *samples);
