/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Measures of a run that may not grow beyond what is allowed, beside what they were before.
 */
#ifndef FAULTLINE_ALLOWED_H
#define FAULTLINE_ALLOWED_H

#include "analysis/finding/finding.h"
#include "analysis/report/report.h"

#define ALLOWED_COLUMNS_MOST 8

/*
 * A measure is a column of a table of one row, "totals.read.bytes", or a word for some of them,
 * whose sum it then is; or findings of some severity and above that were not there before.
 */
struct allowed {
	const char *measure;			   /* as it was asked for; not copied */
	struct table_text table;		   /* no bytes: findings */
	const char *columns[ALLOWED_COLUMNS_MOST]; /* up to the first NULL */
	const char *instead_table, *instead; /* where the run does not tell the columns; or NULL */
	enum table_unit unit;
	/* What is allowed: so much of what was before beyond it, and so much beside that. */
	double share;
	uint64_t more;
	enum finding_severity severity; /* of findings, the least that matters */
};

/* Words for measures and what they are; ends with a NULL name. */
struct allowed_word {
	const char *name, *table, *columns[ALLOWED_COLUMNS_MOST], *instead_table, *instead;
	const char *meaning;
};
extern const struct allowed_word allowed_words[];

/*
 * Sets the measure of that name, which must outlive it and which `report` needs to have a column
 * of, though not a number. Returns 0, or -ENOENT when there is none, -EINVAL when it is no count,
 * no bytes and no time.
 */
int allowed_find(struct allowed *allowed, const struct report *report, const char *measure);

enum allowed_state { ALLOWED_WITHIN, ALLOWED_UNKNOWN, ALLOWED_WORSE };

/*
 * Makes the table "allowed": a row each, in their order. Without `before` what was before is
 * nothing at all. *state is the worst of them. Returns 0 or -ENOMEM; the table is to be freed in
 * any case.
 */
int allowed_make(struct table **table, enum allowed_state *state, const struct allowed *list,
		 size_t count, const struct report *before, const struct report *now);

#endif
