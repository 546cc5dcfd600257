/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What the job's spans were about and how long, for those who draw conclusions from the table
 * "levels".
 */
#ifndef FAULTLINE_LEVELS_H
#define FAULTLINE_LEVELS_H

#include "analysis/activity.h"
#include "analysis/measured.h"

struct level_view {
	uint64_t count, time_ns;
	uint64_t unhidden_ns; /* the part without compute; 0 where nothing computed */
	uint64_t io_ns;	      /* of data and checkpoints: the part of that with I/O; else 0 */
};

/*
 * Of activities that are spans. False where it is not known: of several reports (measured->job is
 * NULL) whose runs went on at once.
 */
bool levels_view(const struct measured *measured, enum activity_of which, struct level_view *view);

#endif
