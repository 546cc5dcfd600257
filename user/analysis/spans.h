/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How long the application was in what it calls by a name, for the table "spans" and for those who
 * draw conclusions from it.
 */
#ifndef FAULTLINE_SPANS_H
#define FAULTLINE_SPANS_H

#include "analysis/measured.h"

/* How many spans have a label; the sum of their durations. */
uint64_t spans_of_label(const struct measured *measured, uint32_t label, uint64_t *time_ns);

#endif
