/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Column getters for texts from the headers of a job's traces. */
#pragma once

#include "analysis/job/job.h"
#include "analysis/table/table.h"

/* Must start a row whose columns use these getters. */
struct header_texts {
	const struct job *job;
};

/* Column key. */
enum header_source {
	HEADER_NAME,
	HEADER_HOST,
	HEADER_KERNEL,
	HEADER_MODE,
	HEADER_START,
	HEADER_INCOMPLETE,
	HEADER_FLIGHT
};

/* The distinct texts of the traces: as a list, and joined with commas. */
void header_get_list(struct table *table, struct cell *cell, const void *row,
		     const struct table_column *column);
void header_get_joined(struct table *table, struct cell *cell, const void *row,
		       const struct table_column *column);
/* From the first trace: ranks of one job run one command. */
void header_get_command(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column);
void header_get_targets(struct table *table, struct cell *cell, const void *row,
			const struct table_column *column);
/* Programs that were not followed, each as "su (1234)". */
void header_get_not_followed(struct table *table, struct cell *cell, const void *row,
			     const struct table_column *column);
