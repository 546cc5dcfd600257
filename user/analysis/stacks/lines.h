/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Where in the program threads spent their time, estimated from samples of their stacks. */
#pragma once

#include "analysis/shared/sites.h"
#include "analysis/shared/sampled.h"
#include "analysis/stacks/line_sums.h"
#include "analysis/table/table.h"

struct report;
struct results;

/* All samples with the same keys. Tables have some of the keys; texts belong to the analysis or are
 * static. */
struct lines_row {
	struct table_text file, function; /* none if the line is unknown */
	struct table_text shown;	  /* the end of `file` that tells it from others */
	struct table_text library;
	const char *reason; /* why the line is unknown; NULL: it is known */
	const char *state, *kind;
	int64_t rank;
	uint64_t line;
	uint32_t site;	 /* without its library; SITE_NONE: the line is unknown */
	uint32_t number; /* of the first of these in the analysis */
	struct line_sums sums;
	/* Set by lines_add_rows, from the other members: */
	struct table_text location;
	uint64_t time_ns, uncertainty_ns, samples, estimated_ns, estimated_samples, count,
		fetched_bytes;
	double share;
};

/* Makes a row for each line, to be freed. Returns NULL if out of memory. To be called in
 * conclude(). */
struct lines_row *lines_rows(const struct results *results, size_t *count);

/* Gets the part of a sample in the row of its line, by the `number` of struct lines_row: see struct
 * sampled, which has these columns. `lines` is the analysis' state. */
bool lines_add_to_row(void *lines, const struct event *event, struct sampled_sum *sum);
#define LINES_SAMPLED                                                                              \
	{                                                                                          \
		"time_ns", "fetched_bytes", "estimated_ns", "estimated_samples", "samples",        \
			"count"                                                                    \
	}
#define LINES_SPREAD 3

/* The time of operations of a class at a line, on a file, by threads of a kind. */
struct line_use {
	uint32_t site;	  /* without its library; SITE_NONE: the line is unknown */
	uint32_t file;	  /* number in the job's table, or FILE_NONE */
	uint8_t class;	  /* enum io_class */
	const char *kind; /* of the threads, a static text: see thread_kind */
	struct line_sums sums;
};

/* Returns all of them, in no order; none if there are too many to keep. `sites`: one above the
 * highest number of a site. To be called in conclude(). */
const struct line_use *lines_uses(const struct results *results, size_t *count, size_t *sites);
/* Returns the site of a sampled stack, as in struct line_use. */
uint32_t lines_site(const struct results *results, uint32_t trace, uint64_t stack, bool cut);
/* Writes "loader.py:42 in TokenDataset.__getitem__". */
void lines_locate(const struct results *results, uint32_t site, char text[LOCATION_BYTES]);

/* Writes the line at which a thread's operation had not ended when the recording did, if that is
 * the longest of those. Returns the length; 0: unknown. */
size_t lines_locate_unfinished(const struct results *results, uint32_t process, uint32_t thread,
			       char text[LOCATION_BYTES]);

/* Marks a table as absent, and returns true, if there are no samples. */
bool lines_absent(struct table *table, const struct job *job);
/* Adds the columns after those of a table's own keys. */
void lines_add_columns(struct table *table);
/* Adds rows, those with the longest times first, and sums up the rest for which there is no
 * room. */
void lines_add_rows(struct table *table, const struct job *job, struct lines_row *rows,
		    size_t count);
/* Computes what follows from sums again: see struct analysis. */
void lines_remake(const struct report *report, struct table *table);
