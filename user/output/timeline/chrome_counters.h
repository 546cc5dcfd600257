/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Byte rates of each process: an operation's bytes are spread evenly over its time. Private to the
 * Trace Event Format export.
 */
#ifndef FAULTLINE_CHROME_COUNTERS_H
#define FAULTLINE_CHROME_COUNTERS_H

#include "base/map.h"
#include "output/timeline/chrome_threads.h"

enum chrome_counter {
	COUNTER_READ,
	COUNTER_WRITTEN,
	COUNTER_FETCHED,
	COUNTER_CREATED,
	COUNTER_COUNT
};

struct chrome_counters {
	uint64_t from_ns, until_ns; /* the window */
	uint64_t bucket_ns;
	struct map buckets; /* process, bucket -> bytes by enum chrome_counter */
};

/* Bucket lengths are 1, 2 or 5 times a power of ten of ns, at least 1 ms, and give at most 1000
 * buckets. */
void chrome_counters_init(struct chrome_counters *counters, uint64_t from_ns, uint64_t until_ns);
void chrome_counters_free(struct chrome_counters *counters);

/* Adds the bytes that fall between `from_ns` and `until_ns`. Returns 0 or -ENOMEM. */
int chrome_counters_add(struct chrome_counters *counters, uint32_t process,
			enum chrome_counter counter, uint64_t bytes, uint64_t start_ns,
			uint64_t end_ns);

/* Writes a value wherever it changes, and no counters that are always 0. Times are relative to
 * `base_ns`. Returns 0 or -ENOMEM. */
int chrome_counters_write(const struct chrome_counters *counters, struct chrome_threads *threads,
			  struct sink *out, uint64_t base_ns);

#endif
