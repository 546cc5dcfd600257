/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What rows of tables came to in each coarse stretch of a run where that does not follow from
 * single events: numbers that only grow, taken at the end of each. Of a table the first rows as it
 * is shown. Knows nothing of how it is shown.
 */
#ifndef FAULTLINE_PICTURE_SAMPLES_H
#define FAULTLINE_PICTURE_SAMPLES_H

#include "analysis/measured.h"
#include "analysis/picture/picture_axis.h"

#define PICTURE_SAMPLED 7	/* tables */
#define PICTURE_SAMPLED_ROWS 64 /* of each */

extern const struct analysis *const picture_sampled[PICTURE_SAMPLED];

/* More in each stretch than in those before. */
struct picture_sample {
	uint64_t number, before[SAMPLED_MOST];
	uint64_t more[SAMPLED_MOST][PICTURE_COARSE];
};

/* Who is told events, for one table or more. */
struct picture_sampling {
	const struct sampled *how; /* of one of them */
	void *state;
	struct walk_calls calls;
	struct picture_samples *all;
	unsigned int at; /* the stretch that is told */
};

struct picture_samples {
	const struct job *job;
	struct picture_axis axis;
	struct picture_sampled {
		const void *filled;
		size_t told; /* who is told for it */
		struct picture_sample *rows;
		size_t count; /* 0: there is nothing to tell */
	} tables[PICTURE_SAMPLED];
	struct picture_sampling told[PICTURE_SAMPLED];
	size_t told_count;
};

/* Returns 0 or -ENOMEM; is to be freed after an error, too, before the job is. The samples stay
 * where they are. */
int picture_samples_init(struct picture_samples *samples, const struct measured *measured,
			 const struct picture_axis *axis);
/* Adds who is to be told to a walk: kinds, columns and consumers, at most PICTURE_SAMPLED. */
void picture_samples_join(struct picture_samples *samples, struct cursor_options *cursor,
			  struct walk_consumer *consumers, size_t *count);
/* All events were told: the job may go, what was taken stays. Returns 0 or -ENOMEM. */
int picture_samples_finish(struct picture_samples *samples);
void picture_samples_free(struct picture_samples *samples);

#endif
