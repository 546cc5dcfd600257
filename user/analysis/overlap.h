/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How much of the job's I/O no compute hid, for those who draw conclusions from the table
 * "overlap".
 */
#ifndef FAULTLINE_OVERLAP_H
#define FAULTLINE_OVERLAP_H

#include "analysis/analysis.h"
#include "analysis/model/event.h"

struct overlap_view {
	uint64_t time_ns, unoverlapped_ns;
};

/* Of the table, once it is filled. False where nobody told of compute, or nothing was recorded of
 * the class. */
bool overlap_of(const struct report *report, enum io_class class, struct overlap_view *view);

#endif
