/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table "caveats": what a reader must know before believing the rest. A new one is a function
 * and a row of the list in caveats.c.
 */
#ifndef FAULTLINE_CAVEATS_H
#define FAULTLINE_CAVEATS_H

#include "analysis/analysis.h"

/* Of a report that is put together from summaries. */
#define SUM_CAVEAT "summaries"
/* Of several hosts. */
#define CLOCKS_CAVEAT "clocks"

enum caveat_column { CAVEAT_ID, CAVEAT_WEIGHT, CAVEAT_TEXT, CAVEAT_COLUMNS };

#endif
