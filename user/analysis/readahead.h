/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What was fetched ahead of each file, for the table "readahead" and for those who draw conclusions
 * from it.
 */
#ifndef FAULTLINE_READAHEAD_H
#define FAULTLINE_READAHEAD_H

#include "analysis/measured.h"

/* A file, or many; pages as bytes. */
struct readahead_sums {
	uint64_t fetched_bytes;	 /* into the page cache to be read, by parts of requests */
	uint64_t asked_bytes;	 /* of it, what an operation under way had asked for */
	uint64_t ahead_bytes;	 /* and what none had */
	uint64_t advised_bytes;	 /* of that, what a call had advised to fetch */
	uint64_t used_bytes;	 /* of what came ahead, read or faulted on later */
	uint64_t unseen_bytes;	 /* ... mapped and never faulted on: used or not */
	uint64_t unused_bytes;	 /* ... neither */
	uint64_t unplaced_bytes; /* fetched to where is not known: compressed, and its like */
};

/* False where nothing is known of any, or of the file. */
bool readahead_of(const struct measured *measured, uint32_t file, struct readahead_sums *sums);

#endif
