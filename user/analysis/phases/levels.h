/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Times that the job's spans covered, for findings on the table "levels". */
#pragma once

#include "analysis/phases/activity.h"
#include "analysis/shared/results.h"

struct level_view {
	uint64_t count, time_ns;
	uint64_t unhidden_ns; /* outside compute; 0 if nothing computed */
	uint64_t io_ns;	      /* data, checkpoints: with I/O, outside compute; else 0 */
	bool io_known;	      /* all I/O was recorded as single operations; else io_ns lacks some */
};

/*
 * For activities that are spans. Returns false if unknown: in merged reports (results->job is
 * NULL) of runs that overlapped.
 */
bool levels_view(const struct results *results, enum activity_of which, struct level_view *view);
