/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A trace of nothing, for what a report can say of itself.
 */
#ifndef FAULTLINE_NO_TRACE_H
#define FAULTLINE_NO_TRACE_H

#include "trace/reader.h"

/* All layers are on, and next to nothing happened. Returns 0 or a negative errno; *reader is the
 * caller's.
 */
int no_trace_open(struct trace_reader **reader);

#endif
