/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The job's I/O outside compute, for findings on the table "overlap". */
#pragma once

#include "analysis/shared/analysis.h"
#include "analysis/events/event.h"

struct overlap_view {
	uint64_t time_ns, unoverlapped_ns;
};

/* Reads the table; must run after it is filled. Returns false if there was no compute or the class
 * was not recorded. */
bool overlap_of(const struct report *report, enum io_class class, struct overlap_view *view);
