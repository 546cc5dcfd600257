/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of the report as tables that are exported. Private to the exports.
 */
#ifndef FAULTLINE_RELATION_REPORT_H
#define FAULTLINE_RELATION_REPORT_H

#include "output/relations.h"

/* The columns of a table of the report, dots in their names as _. The table must outlive it. */
void relation_make_report(struct relation *relation, const struct table *table);
/* Its rows; `made` is where texts are made. Returns 0, -ENOMEM, or what the writer returned. */
int relation_report_rows(const struct relation *relation, const struct relation_writer *writer,
			 void *to, unsigned int number, struct sink *made);

struct relation_meta {
	const char *key, *text; /* NULL: a number */
	uint64_t value;
};

/* The one row of the report's table "trace" as rows of key and value. */
void relation_make_meta(struct relation *relation, const struct table *table);
/* ... with more of them in front. */
int relation_meta_rows(const struct relation *relation, const struct relation_writer *writer,
		       void *to, unsigned int number, struct sink *made,
		       const struct relation_meta *more, size_t count);

#endif
