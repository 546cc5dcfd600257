/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* --fail-above: limits on growth, and the exit status when one is exceeded. */
#pragma once

#include "analysis/report/limits.h"

#define EXIT_WORSE 3

struct fail_above {
	char *text; /* the list points into it */
	struct limits *list;
	size_t count;
	struct table *table;
	enum limits_state state;
};

/*
 * Parses MEASURE[=ALLOWANCE],...; a percentage requires a run to compare with. Returns 0, or an
 * exit status after a line on stderr. Call fail_above_free in any case.
 */
int fail_above_parse(struct fail_above *limits, const char *text, bool against);
/* Makes the table; `before` may be NULL. Returns 0 or -ENOMEM. */
int fail_above_judge(struct fail_above *limits, const struct report *before,
		     const struct report *now);
/* Reports on stderr what is worse or unknown; returns the exit status. */
int fail_above_status(const struct fail_above *limits);
void fail_above_free(struct fail_above *limits);
