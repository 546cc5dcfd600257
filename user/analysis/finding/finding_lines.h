/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* At which lines of the program the time of a finding was spent. */
#pragma once

#include "analysis/finding/finding_made.h"

/* Sets `where`, such as "loader.py:42 in TokenDataset.__getitem__, 91% ± 2% of it", in the arena.
 * Leaves NULL if there are no samples, or no line has a noticeable share. Returns 0 or -ENOMEM. */
int finding_locate(struct findings *findings, struct finding *finding);

/* CPU work that a finding's I/O causes. */
struct finding_dragged {
	uint64_t time_ns;  /* with the CPU waits */
	double waits;	   /* their share of it */
	uint64_t files_ns; /* the part in Python's own modules for files */
	uint64_t entry_ns; /* the part in which the kernel enters and leaves the operations */
};

/* Gets the critical path's CPU time and CPU waits, outside operations, at the lines of a finding's
 * operations. Each line counts in proportion to the finding's share of the I/O there. 0 if the path
 * is unknown. Returns 0 or -ENOMEM. */
int finding_drag(struct findings *findings, const struct finding *finding,
		 struct finding_dragged *dragged);

/* Gets the line at which threads that held a file lock spent most of the time in which others
 * waited for it; no text if it is unknown. Returns 0 or -ENOMEM. */
int finding_held_at(struct findings *findings, struct table_text *at);
