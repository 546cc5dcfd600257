/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Readahead by file, for the table "readahead" and for findings. */
#pragma once

#include "analysis/shared/results.h"

/* For one file or many; whole pages, in bytes. */
struct readahead_sums {
	uint64_t fetched_bytes;	 /* brought into the page cache by parts of read requests */
	uint64_t asked_bytes;	 /* of it, requested by an operation in progress */
	uint64_t ahead_bytes;	 /* ... not requested */
	uint64_t advised_bytes;	 /* of ahead_bytes, due to advice */
	uint64_t used_bytes;	 /* of ahead_bytes, read or faulted on later */
	uint64_t unseen_bytes;	 /* ... mapped and never faulted on: used or not */
	uint64_t unused_bytes;	 /* ... neither */
	uint64_t unplaced_bytes; /* fetched to an unknown offset, e.g. compressed data */
};

/* Returns false if nothing is known at all, or about the file. */
bool readahead_of(const struct results *results, uint32_t file, struct readahead_sums *sums);
