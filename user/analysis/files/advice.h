/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Gives findings access to the file advice (fadvise, madvise) that programs passed to the kernel.
 */
#pragma once

#include "analysis/shared/results.h"
#include "collections/map.h"

/* For one file; zeros if there was no advice or it is unknown. */
struct advice_view {
	/* fadvise calls that dropped cached pages and after which part of the file was fetched
	 * again, and the bytes they named; in merged reports all calls that dropped pages. */
	uint64_t dropped, dropped_bytes;
	uint64_t random; /* madvise calls with MADV_RANDOM */
	/* fadvise calls with POSIX_FADV_RANDOM, and those that may have taken it back. */
	uint64_t random_reads, ordered_reads;
};

/* Index for fast lookup: there may be a million files. */
struct advice_index {
	const struct advice *advice; /* for a job */
	struct map by_path;	     /* for merged reports: hash -> struct advice_view */
};

/* Returns 0 or -ENOMEM. Free the index even after an error. `results` must outlive it. */
int advice_index_make(struct advice_index *index, const struct results *results);
void advice_index_free(struct advice_index *index);
/* `file` is a number as in files_used; `path` is used instead in merged reports. */
struct advice_view advice_of(const struct advice_index *index, uint32_t file,
			     struct table_text path);
