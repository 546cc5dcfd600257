/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The first and the last epoch of a run, over all ranks, for findings on the table "epochs". */
#pragma once

#include "analysis/shared/analysis.h"

struct epochs_view {
	uint64_t epochs; /* with different numbers; 0: no span represents one */
	uint64_t first_read_bytes, first_fetched_bytes, first_samples; /* samples: 0 if unknown */
	uint64_t last_read_bytes, last_fetched_bytes, last_samples;
	uint64_t later_fetched_bytes; /* in all epochs but the first */
};

/* Reads the table; must run after it is filled. */
struct epochs_view epochs_view(const struct report *report);
