/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Limits on the growth of a run's measures, compared with the run before. */
#pragma once

#include "analysis/finding/finding.h"
#include "analysis/report/report.h"

#define LIMIT_COLUMNS_MAX 8

/*
 * A measure is a column of a table of one row, "totals.read.bytes", or a word for the sum of
 * several; or new findings of at least some severity.
 */
struct limits {
	const char *measure;			/* as given; not copied */
	struct table_text table;		/* empty: findings */
	const char *columns[LIMIT_COLUMNS_MAX]; /* up to the first NULL */
	const char *instead_table, *instead; /* replacement if the run lacks the columns; or NULL */
	enum table_unit unit;
	/* Allowed growth: a share of the number before, plus an absolute amount. */
	double share;
	uint64_t more;
	enum finding_severity severity; /* of findings: the lowest that counts */
};

/* Words for measures, and their meanings; ends with a NULL name. */
struct limits_word {
	const char *name, *table, *columns[LIMIT_COLUMNS_MAX], *instead_table, *instead;
	const char *meaning;
};
extern const struct limits_word limits_words[];

/*
 * Sets the measure of that name, which must outlive it. `report` must have its column, but not a
 * number in it. Returns 0, -ENOENT if there is no such measure, or -EINVAL if it is not a count,
 * bytes or a time.
 */
int limits_find(struct limits *limits, const struct report *report, const char *measure);

enum limits_state { LIMIT_WITHIN, LIMIT_UNKNOWN, LIMIT_EXCEEDED };

/*
 * Makes the table "allowed", one row for each measure, in order. Without `before`, numbers before
 * are 0. *state receives the worst state. Returns 0 or -ENOMEM; the caller frees the table in any
 * case.
 */
int limits_make(struct table **table, enum limits_state *state, const struct limits *list,
		size_t count, const struct report *before, const struct report *now);
