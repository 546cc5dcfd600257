/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* At which lines of the program the time of a finding was spent. */
#ifndef FAULTLINE_FINDING_LINES_H
#define FAULTLINE_FINDING_LINES_H

#include "analysis/finding/finding_made.h"

/* Sets `where`, such as "loader.py:42 in TokenDataset.__getitem__, 91% ± 2% of it", in the arena.
 * Leaves NULL if there are no samples, or no line has a noticeable share. Returns 0 or -ENOMEM. */
int finding_locate(struct findings *findings, struct finding *finding);

#endif
