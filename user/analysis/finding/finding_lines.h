/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* At which lines of the program the time of a finding was spent. */
#pragma once

#include "analysis/finding/finding_made.h"

/* Sets `where`, such as "loader.py:42 in TokenDataset.__getitem__, 91% ± 2% of it (in
 * workers)", in the arena.
 * Leaves NULL if there are no samples, or no line has a noticeable share. Returns 0 or -ENOMEM. */
int finding_locate(struct findings *findings, struct finding *finding);

/* Returns whether the run has threads other than main threads. */
bool finding_lines_kinds(const struct results *results);

/* Gets the line at which threads that held a file lock spent most of the time in which others
 * waited for it; no text if it is unknown. Returns 0 or -ENOMEM. */
int finding_held_at(struct findings *findings, struct table_text *at);
