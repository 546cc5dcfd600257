/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What pictures of a run are drawn from: bounded, whatever the traces. Made by a second pass, which
 * knows from the first what matters. Knows nothing of how it is drawn.
 */
#ifndef FAULTLINE_PICTURES_H
#define FAULTLINE_PICTURES_H

#include "analysis/picture/picture_course.h"
#include "analysis/picture/picture_grids.h"
#include "analysis/picture/picture_samples.h"
#include "analysis/picture/picture_spans.h"
#include "analysis/picture/picture_sums.h"
#include "arena.h"
#include "units.h"

/* What a series or a lane is called; texts are NULL and numbers 0 where there is none. */
struct picture_name {
	struct table_text text; /* operation, path, comm, name of a span or device */
	struct table_text more; /* layer, category */
	uint32_t pid;
	uint64_t ino, start_ns; /* the start since that of the run */
	int64_t rank;		/* -1 for none */
	char dev[UNITS_TEXT];
};

struct pictures {
	struct picture_axis axis;
	unsigned int layers;	 /* JOB_* that were recorded */
	bool lost;		 /* events are missing */
	bool summed, all_summed; /* operations are: those of some traces, or of all (struct job) */
	struct picture_course course;
	struct picture_sums sums;
	struct picture_samples samples;
	struct picture_grids grids;
	struct picture_spans spans;
	struct picture_name *names[PICTURE_KEYS];      /* of each series */
	struct picture_name map_names[PICTURE_MAPS];   /* of the files with a map */
	uint64_t map_sizes[PICTURE_MAPS];	       /* bytes */
	struct picture_name lane_names[PICTURE_LANES]; /* of the lanes that are told of */
	struct picture_name *labels;		       /* of spans that are kept */
	size_t label_count;
	struct arena arena; /* of texts */
};

struct pictures_options {
	const struct filter *filter; /* NULL: all events */
	void (*progress)(void *context, double done);
	void *context;
};

/*
 * Reads the job again, with spans and activities as new. The pictures outlive the job. Returns 0,
 * -ENOMEM, or the reader's error; then `error` says which trace and what.
 */
int pictures_make(struct pictures **pictures, struct job *job, const struct measured *measured,
		  const struct pictures_options *options, struct trace_error *error);
void pictures_free(struct pictures *pictures); /* NULL is fine */

#endif
