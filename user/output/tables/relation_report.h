/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Exports tables of the report. Private to the exports. */
#pragma once

#include "output/tables/relations.h"

/* Adds the columns of a report table, with _ for dots in their names. The table must outlive the
 * relation. */
void relation_make_report(struct relation *relation, const struct table *table);
/* Writes its rows; `made` is scratch space for texts. Returns 0, -ENOMEM, or the writer's
 * status. */
int relation_report_rows(const struct relation *relation, const struct relation_writer *writer,
			 void *to, unsigned int number, struct sink *made);

struct relation_meta {
	const char *key, *text; /* NULL: a number */
	uint64_t value;
};

/* The single row of the report's table "trace" as rows of key and value. */
void relation_make_meta(struct relation *relation, const struct table *table);
/* Writes them, preceded by `more`. */
int relation_meta_rows(const struct relation *relation, const struct relation_writer *writer,
		       void *to, unsigned int number, struct sink *made,
		       const struct relation_meta *more, size_t count);
