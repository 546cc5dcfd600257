/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Thresholds of findings, each with its source. Those of a single finding are defined above it;
 * here are those that several files use.
 */
#pragma once

#include "analysis/table/table.h"

enum finding_bound { BOUND_NONE, BOUND_MIN, BOUND_MAX };

struct finding_threshold {
	enum finding_bound bound;
	double value; /* a share is a fraction of 1, a time in ns */
	enum table_unit unit;
	const char *meaning, *source;
};

/* Defines THRESHOLD_NAME: a value that is explained by itself, a minimum (≥), a maximum (≤). */
#define THRESHOLD(name, ...) THRESHOLD_OF(BOUND_NONE, name, __VA_ARGS__)
#define THRESHOLD_MIN(name, ...) THRESHOLD_OF(BOUND_MIN, name, __VA_ARGS__)
#define THRESHOLD_MAX(name, ...) THRESHOLD_OF(BOUND_MAX, name, __VA_ARGS__)
#define THRESHOLD_OF(bound, name, value, unit, meaning, source)                                    \
	static const struct finding_threshold THRESHOLD_##name = { bound, value, unit, meaning,    \
								   source }

/* Sources. */
#define MLPERF_LIMIT "MLPerf Storage: accelerators must be busy for 90% of the time"
#define RUNS_VARY "measured: times of the same job differ from their median by 2% on average"

static inline double threshold(struct finding_threshold which)
{
	return which.value;
}

/* Shares of the run. */
THRESHOLD(SEVERITY_HIGH, 0.10, UNIT_SHARE, "share of the run above which a finding is high",
	  MLPERF_LIMIT);
THRESHOLD(TIME_DECIDES, 0.05, UNIT_SHARE, "share of the run above which a few occurrences suffice",
	  "half of the limit of MLPerf Storage");
THRESHOLD_MIN(MUCH_OF_RUN, 0.10, UNIT_SHARE, "share of the run that it takes", MLPERF_LIMIT);
THRESHOLD_MIN(PART_OF_RUN, 0.05, UNIT_SHARE, "share of the run that it takes",
	      "half of the limit of MLPerf Storage");
THRESHOLD_MIN(SOME_OF_RUN, 0.02, UNIT_SHARE, "share of the run that it takes", RUNS_VARY);

THRESHOLD_MIN(ORDER, 4, UNIT_COUNT, "accesses of a file for their order to count",
	      "a choice: one backward access in three is chance");
THRESHOLD(FEW, 0.05, UNIT_SHARE, "share of occurrences that counts as a few",
	  "a choice: one in twenty");
THRESHOLD_MIN(SCAN_READS, 16, UNIT_COUNT, "small reads per open for it to scan the file",
	      "a choice: a header, a footer and an index take fewer");
THRESHOLD_MIN(OPENS_EACH, 100, UNIT_COUNT,
	      "or opens per file on average; then CPU work at the same lines counts, too",
	      "a choice: more than the epochs of most training runs");
THRESHOLD_MIN(SAME_WAIT, 0.5, UNIT_SHARE,
	      "share of a finding's time that another one covers, for both to be the same wait",
	      "a majority");
THRESHOLD_MIN(SCAN_ORDER, 0.75, UNIT_SHARE, "share of its reads that are sequential",
	      "a choice: most of them");
THRESHOLD_MIN(MMAP_SCAN, 0.5, UNIT_SHARE, "share of faults where a scan would fault",
	      "a majority; strided access has an eighth or none");
THRESHOLD_MIN(MMAP_WHOLE, 0.5, UNIT_SHARE, "part of the file read through the mapping",
	      "a choice: half of the file is most of a load");
THRESHOLD_MIN(LARGE_FILE, 16777216, UNIT_BYTES, "size of a large file",
	      "a choice: more than common readahead windows (128 KiB to 8 MiB)");
THRESHOLD_MIN(RANDOM_SHARE, 0.20, UNIT_SHARE,
	      "share of backward accesses, for the order to count as random",
	      "Drishti: random_operations 0.2; uniform access has 0.5");
THRESHOLD_MIN(RANDOM_READS, 100, UNIT_COUNT, "reads or major faults of a file",
	      "a choice: reading headers needs fewer");
THRESHOLD_MIN(FROM_STORAGE_SHARE, 0.5, UNIT_SHARE, "share of the bytes read from storage",
	      "a majority");
THRESHOLD_MAX(FROM_MEMORY_SHARE, 0.1, UNIT_SHARE, "share of the bytes read from storage",
	      "a choice: a tenth, as for Drishti's small requests");
THRESHOLD(HOLES, 0.1, UNIT_SHARE,
	  "share of a file's fetched bytes read by devices, below which it has holes",
	  "a choice: the same share as for reads from memory");
THRESHOLD_MAX(SMALL_READ, 65536, UNIT_BYTES, "average size of a read from storage",
	      "half of the kernel's default readahead of 128 KiB");
THRESHOLD(CALL_BYTES, 4096, UNIT_BYTES, "bytes whose copying takes as long as a call",
	  "measured: a read of 4 KiB from memory takes twice as long as one of a byte");
THRESHOLD_MIN(SMALL_REQUESTS, 1000, UNIT_COUNT, "small requests",
	      "Drishti: small_requests_absolute 1000");
THRESHOLD_MIN(AGAIN, 1.5, UNIT_NONE, "bytes read, as a multiple of the file's size",
	      "a choice: 1.5, so that headers read twice do not count");
THRESHOLD_MIN(LOADED_NS, 100000000, UNIT_NS, "or time that it takes",
	      "Miller 1968, Response time in man-computer conversational transactions");
THRESHOLD_MAX(SMALL_FILE, 262144, UNIT_BYTES, "size of a small file",
	      "two of the kernel's default readahead windows of 128 KiB");
THRESHOLD_MIN(SAVE_BYTES, 16777216, UNIT_BYTES, "bytes written in one go",
	      "a choice: as for a large file");

THRESHOLD_MAX(ATTRIBUTES_AGAIN, 1000000000, UNIT_NS,
	      "time after which attributes of the same file are asked for again",
	      "libfuse keeps them for 1 s by default, NFS for at least 3 s");

THRESHOLD_MIN(BUSY_REQUESTS, 2, UNIT_NONE,
	      "average requests in flight while there are any, for a device to be busy",
	      "one is served while the next one waits");
THRESHOLD(MOSTLY_BUSY, 0.5, UNIT_SHARE,
	  "share of the time that devices are busy, above which more concurrent requests do not "
	  "help",
	  "a majority");
