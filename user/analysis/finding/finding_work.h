/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* CPU work that a finding's I/O causes: that at the same lines of the program. */
#pragma once

#include "analysis/finding/finding_made.h"

struct finding_work {
	uint64_t time_ns;  /* with the CPU waits */
	double waits;	   /* their share of it */
	uint64_t files_ns; /* the part in Python's own modules for files */
	uint64_t entry_ns; /* the part in which the kernel enters and leaves the operations */
};

/* Gets the critical path's CPU time and CPU waits, outside operations, at the lines of a finding's
 * operations. Each line counts in proportion to the finding's share of the I/O there. 0 if the path
 * is unknown. Returns 0 or -ENOMEM. */
int finding_work_of(struct findings *findings, const struct finding *finding,
		    struct finding_work *work);
