/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Texts of the headers of a job's traces, as cells of a table: getters of columns. Knows nothing of
 * which table that is.
 */
#ifndef FAULTLINE_HEADER_TEXTS_H
#define FAULTLINE_HEADER_TEXTS_H

#include "analysis/model/job.h"
#include "analysis/table/table.h"

/* What a row begins with whose columns have these getters. */
struct header_texts {
	const struct job *job;
};

/* The key of such a column: where its texts come from. */
enum {
	HEADER_NAME,
	HEADER_HOST,
	HEADER_KERNEL,
	HEADER_MODE,
	HEADER_START,
	HEADER_INCOMPLETE,
	HEADER_FLIGHT
};

/* What the traces say, each text once: as a list, and as one text with commas between. */
int header_get_list(struct table *table, struct cell *cell, const void *row,
		    const struct table_column *column);
int header_get_joined(struct table *table, struct cell *cell, const void *row,
		      const struct table_column *column);
/* Of the first trace: ranks of one job run one command. */
int header_get_command(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column);
int header_get_targets(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column);
/* Programs that were not followed into, each as "su (1234)". */
int header_get_not_followed(struct table *table, struct cell *cell, const void *row,
			    const struct table_column *column);

#endif
