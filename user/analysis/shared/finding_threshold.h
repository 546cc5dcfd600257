/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Thresholds of findings, each with its source. Those of a single finding are defined above it;
 * here are those that several files use.
 */
#ifndef FAULTLINE_FINDING_THRESHOLD_H
#define FAULTLINE_FINDING_THRESHOLD_H

#include "analysis/table/table.h"

struct finding_threshold {
	double value; /* a share is a fraction of 1, a time in ns */
	enum table_unit unit;
	const char *meaning, *source;
};

/* Defines THRESHOLD_NAME. */
#define THRESHOLD(name, value, unit, meaning, source)                                              \
	static const struct finding_threshold THRESHOLD_##name = { value, unit, meaning, source }

static inline double threshold(struct finding_threshold which)
{
	return which.value;
}

THRESHOLD(SEVERITY_HIGH, 0.10, UNIT_SHARE, "share of the run above which a finding is high",
	  "a choice; Drishti calls 10% of requests critical");
THRESHOLD(TIME_DECIDES, 0.05, UNIT_SHARE, "share of the run above which a few occurrences suffice",
	  "a choice: half the threshold of severity high");
THRESHOLD(ORDER, 4, UNIT_COUNT, "accesses of a file for their order to count, at least",
	  "a choice: one backward access in three is chance");
THRESHOLD(FEW, 0.05, UNIT_SHARE, "share of occurrences that counts as a few",
	  "a choice: one in twenty");
THRESHOLD(SCAN_READS, 16, UNIT_COUNT, "small reads per open for it to scan the file, at least",
	  "a choice: a header, a footer and an index take fewer");
THRESHOLD(OPENS_EACH, 100, UNIT_COUNT,
	  "or opens of each such file on average, at least; then CPU work of the same lines counts",
	  "a choice: more than the epochs of most training runs");
THRESHOLD(SAME_WAIT, 0.5, UNIT_SHARE,
	  "part of a finding's time that another covers for both to be the same wait",
	  "a choice: most of it");
THRESHOLD(MMAP_SCAN, 0.5, UNIT_SHARE, "share of faults where a scan would fault, at least",
	  "a choice: most of them; strided access has 1/16 or none");
THRESHOLD(LARGE_FILE, 16777216, UNIT_BYTES, "size of a large file, at least",
	  "a choice: more than common readahead windows (128 KiB to 8 MiB)");
THRESHOLD(RANDOM_SHARE, 0.20, UNIT_SHARE, "share of backward accesses to be random, at least",
	  "Drishti: random_operations 0.2; uniform access has 0.5");
THRESHOLD(RANDOM_READS, 100, UNIT_COUNT, "reads or major faults of a file, at least",
	  "a choice: reading headers needs fewer");
THRESHOLD(FROM_STORAGE_SHARE, 0.5, UNIT_SHARE, "share of the bytes read from storage, at least",
	  "a choice: below it the page cache served most reads");
THRESHOLD(HOLES, 0.1, UNIT_SHARE,
	  "share of a file's fetched bytes read by devices, below which it has holes",
	  "a choice: the same share as for reads from memory");
THRESHOLD(SMALL_READ, 65536, UNIT_BYTES, "average size of a read from storage, at most",
	  "a choice: half of the kernel's default readahead of 128 KiB");
THRESHOLD(SMALL_REQUESTS, 1000, UNIT_COUNT, "small requests, at least",
	  "Drishti: small_requests_absolute 1000");
THRESHOLD(AGAIN, 1.5, UNIT_NONE, "multiple of the file's size to be read again, at least",
	  "a choice: 1.5, so that headers read twice do not count");
THRESHOLD(LOADED_NS, 100000000, UNIT_NS, "or time that it takes, at least",
	  "a choice: 0.1 s is noticeable");
THRESHOLD(LOADED_OF_RUN, 0.05, UNIT_SHARE, "share of the run that this time takes, at least",
	  "a choice: half the threshold of severity high");
THRESHOLD(SMALL_FILE, 262144, UNIT_BYTES, "size of a small file, at most",
	  "a choice: two of the kernel's default readahead windows");
THRESHOLD(SAVE_BYTES, 16777216, UNIT_BYTES, "bytes written in one go, at least",
	  "a choice: as for a large file");

THRESHOLD(BUSY_REQUESTS, 2, UNIT_NONE,
	  "requests that a device has on average while it has any, to be busy, at least",
	  "one is served while the next one waits");
THRESHOLD(MOSTLY_BUSY, 0.5, UNIT_SHARE,
	  "share of the time that devices are busy, above which more concurrent requests do not "
	  "help",
	  "a choice: most of it");

#endif
