/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of thresholds, generated from THRESHOLDS.
 */
#include "analysis/shared/finding_threshold.h"

const struct finding_threshold finding_thresholds[THRESHOLD_COUNT] = {
#define X(name, value, unit, meaning, source) { #name, value, unit, meaning, source },
	THRESHOLDS(X)
#undef X
};
