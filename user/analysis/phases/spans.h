/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Time in the application's spans, for the table "spans" and for findings. */
#pragma once

#include "analysis/shared/results.h"

/* Returns the number of spans with a label; sets the sum of their durations. */
uint64_t spans_of_label(const struct results *results, uint32_t label, uint64_t *time_ns);
