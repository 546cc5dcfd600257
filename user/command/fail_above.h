/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * --fail-above: what must not grow, by how much it may, and the exit status that says that it did.
 */
#ifndef FAULTLINE_FAIL_ABOVE_H
#define FAULTLINE_FAIL_ABOVE_H

#include "analysis/report/allowed.h"

#define EXIT_WORSE 3

struct fail_above {
	char *text; /* that the list points into */
	struct allowed *list;
	size_t count;
	struct table *table;
	enum allowed_state state;
};

/*
 * Understands MEASURE[=ALLOWANCE],...; a part of what was before needs a run to compare with.
 * Returns 0, or an exit status after a line on stderr. Freed by fail_above_free in any case.
 */
int fail_above_parse(struct fail_above *asked, const char *text, bool against);
/* Makes the table; `before` may be NULL. Returns 0 or -ENOMEM. */
int fail_above_judge(struct fail_above *asked, const struct report *before,
		     const struct report *now);
/* Says on stderr what is worse, or cannot be told; returns the exit status. */
int fail_above_status(const struct fail_above *asked);
void fail_above_free(struct fail_above *asked);

#endif
