/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What pictures of a run are drawn from, bounded for any trace. Made in a second pass, which knows
 * from the first one what matters.
 */
#pragma once

#include "analysis/picture/picture_timeline.h"
#include "analysis/picture/picture_flame.h"
#include "analysis/picture/picture_grids.h"
#include "analysis/picture/picture_keys.h"
#include "analysis/picture/picture_samples.h"
#include "analysis/picture/picture_spans.h"
#include "analysis/picture/picture_sums.h"

struct pictures {
	const struct job *job; /* valid while they are made */
	struct picture_axis axis;
	unsigned int layers;		 /* JOB_* that were recorded */
	bool lost;			 /* events are missing */
	bool aggregated, all_aggregated; /* operations were aggregated: in some traces, or in all
					    (struct job) */
	struct picture_timeline timeline;
	struct picture_sums sums;
	struct picture_samples samples;
	struct picture_grids grids;
	struct picture_spans spans;
	struct picture_flame flame;
	struct picture_name *names[PICTURE_KEYS];      /* of each series */
	struct picture_name map_names[PICTURE_MAPS];   /* of the files with a map */
	uint64_t map_sizes[PICTURE_MAPS];	       /* bytes */
	struct picture_name lane_names[PICTURE_LANES]; /* of the lanes shown */
	struct picture_name *labels;		       /* of the spans kept */
	size_t label_count;
	struct arena arena; /* for texts */
};

struct pictures_options {
	const struct filter *filter; /* NULL: all events */
	void (*progress)(void *context, double done);
	void *context;
};

/*
 * Reads the job again, with spans and activities reset. The pictures outlive the job. Returns 0,
 * -ENOMEM, or the reader's error; then `error` says which trace and what.
 */
int pictures_make(struct pictures **pictures, struct job *job, const struct results *results,
		  const struct pictures_options *options, struct trace_error *error);
void pictures_free(struct pictures *pictures); /* NULL is fine */
