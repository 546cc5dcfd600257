/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Limits on the growth of a run's measures, compared with the run before. */
#ifndef FAULTLINE_ALLOWED_H
#define FAULTLINE_ALLOWED_H

#include "analysis/finding/finding.h"
#include "analysis/report/report.h"

#define ALLOWED_COLUMNS_MOST 8

/*
 * A measure is a column of a table of one row, "totals.read.bytes", or a word for the sum of
 * several; or new findings of at least some severity.
 */
struct allowed {
	const char *measure;			   /* as given; not copied */
	struct table_text table;		   /* empty: findings */
	const char *columns[ALLOWED_COLUMNS_MOST]; /* up to the first NULL */
	const char *instead_table, *instead; /* replacement if the run lacks the columns; or NULL */
	enum table_unit unit;
	/* Allowed growth: a share of the number before, plus an absolute amount. */
	double share;
	uint64_t more;
	enum finding_severity severity; /* of findings: the lowest that counts */
};

/* Words for measures, and their meanings; ends with a NULL name. */
struct allowed_word {
	const char *name, *table, *columns[ALLOWED_COLUMNS_MOST], *instead_table, *instead;
	const char *meaning;
};
extern const struct allowed_word allowed_words[];

/*
 * Sets the measure of that name, which must outlive it. `report` must have its column, but not a
 * number in it. Returns 0, -ENOENT if there is no such measure, or -EINVAL if it is not a count,
 * bytes or a time.
 */
int allowed_find(struct allowed *allowed, const struct report *report, const char *measure);

enum allowed_state { ALLOWED_WITHIN, ALLOWED_UNKNOWN, ALLOWED_WORSE };

/*
 * Makes the table "allowed", one row for each measure, in order. Without `before`, numbers before
 * are 0. *state receives the worst state. Returns 0 or -ENOMEM; the caller frees the table in any
 * case.
 */
int allowed_make(struct table **table, enum allowed_state *state, const struct allowed *list,
		 size_t count, const struct report *before, const struct report *now);

#endif
