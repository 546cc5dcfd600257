/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table "caveats": what limits the other tables' accuracy. To add one, write a function and add a
 * row to the list in caveats.c.
 */
#pragma once

#include "analysis/shared/analysis.h"

/* For reports merged from summaries. */
#define SUM_CAVEAT "summaries"
/* For reports of several hosts. */
#define CLOCKS_CAVEAT "clocks"

enum caveat_column { CAVEAT_ID, CAVEAT_WEIGHT, CAVEAT_TEXT, CAVEAT_COLUMNS };
