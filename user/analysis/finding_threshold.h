/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Every number that findings compare with, in one list, each with where it comes from.
 */
#ifndef FAULTLINE_FINDING_THRESHOLD_H
#define FAULTLINE_FINDING_THRESHOLD_H

#include "analysis/table.h"

/* X(name, value, unit, meaning, source); shares are of 1, times in ns. */
#define THRESHOLDS(X)                                                                              \
	X(SEVERITY_HIGH, 0.10, UNIT_SHARE, "share of the run from which a finding is high",        \
	  "a choice; Drishti calls 10 % of requests critical")                                     \
	X(SEVERITY_MEDIUM, 0.02, UNIT_SHARE, "share of the run from which a finding is medium",    \
	  "a choice: less is within the spread of most runs")                                      \
	X(COST_LEAST, 0.002, UNIT_SHARE, "share of the run below which no finding is told",        \
	  "a choice: two thousandths of a run are no reason to change a program")                  \
	X(BYTES_MEDIUM, 0.5, UNIT_SHARE,                                                           \
	  "share of what was brought in from which a finding without a time is medium",            \
	  "a choice: half of the traffic")                                                         \
	X(LOSS_HIGH, 0.10, UNIT_SHARE, "share of lost events from which a loss is high",           \
	  "a choice: beyond it the tables mislead")                                                \
	X(MMAP_RANDOM_SHARE, 0.20, UNIT_SHARE,                                                     \
	  "share of faults that lie before the one before, for a random reader",                   \
	  "Drishti: random_operations 0.2; uniform access has one half")                           \
	X(MMAP_RANDOM_MAJOR, 32, UNIT_COUNT, "major faults of a file at least",                    \
	  "a choice: fewer are the start of a program")                                            \
	X(MMAP_RANDOM_BYTES_EACH, 65536, UNIT_BYTES,                                               \
	  "bytes brought in for each major fault at least",                                        \
	  "16 pages: what a fault maps at once if they are cached (fault_around_bytes)")

enum threshold {
#define X(name, value, unit, meaning, source) THRESHOLD_##name,
	THRESHOLDS(X)
#undef X
		THRESHOLD_COUNT,
};

struct finding_threshold {
	const char *name;
	double value;
	enum table_unit unit;
	const char *meaning, *source;
};

extern const struct finding_threshold finding_thresholds[THRESHOLD_COUNT];

static inline double threshold(enum threshold which)
{
	return finding_thresholds[which].value;
}

#endif
