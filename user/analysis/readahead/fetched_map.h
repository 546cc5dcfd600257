/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Pages of files that were read ahead and not used yet: one bit per page, in chunks, so that memory
 * is bounded by what was fetched and by a limit.
 */
#pragma once

#include "collections/map.h"

#define FETCHED_PAGE 4096u	/* bytes per bit; the kernel's pages may be several */
#define FETCHED_CHUNK_PAGES 512 /* 2 MiB: no page-cache folio is larger */
#define FETCHED_AROUND_PAGES 16 /* 64 KiB that a fault maps at once: fault_around_bytes */

struct fetched_map {
	struct map chunks; /* file, chunk -> bits */
	size_t max;	   /* maximum number of chunks */
	uint64_t overflow; /* pages that did not fit */
};

/* Pages in [from, to). */
struct page_range {
	uint64_t from, to;
};

/* Returns the pages that contain any of the bytes; for more than 4 GiB the first ones. A negative
 * offset yields an empty range. */
struct page_range page_range_of(int64_t offset, uint64_t bytes);
/* Extends a range to pages of that many bytes. */
struct page_range page_range_extend(struct page_range pages, uint32_t page_bytes);

/* Pages of a chunk that were not used, and pages that may have been used unseen. */
struct fetched_rest {
	uint32_t file;
	uint64_t unused, unseen;
};

/* Allocates nothing and cannot fail. */
void fetched_map_init(struct fetched_map *map, struct arena *arena, size_t memory_bytes);

/* Adds pages that were read ahead. `large`: they may be in large folios, which a fault maps whole.
 * Adds to *again the pages that had already been read ahead. Returns 0 or -ENOMEM. */
int fetched_map_add(struct fetched_map *map, uint32_t file, struct page_range pages, bool large,
		    struct fetched_rest *again);
/* Marks pages as used. Returns how many of them had been read ahead. */
uint64_t fetched_map_use(struct fetched_map *map, uint32_t file, struct page_range pages);
/* Marks the pages that a fault on `page` maps around it: their use cannot be seen. */
void fetched_map_around(struct fetched_map *map, uint32_t file, uint64_t page);
/* The same for a range that is mapped as a whole. */
void fetched_map_unseen(struct fetched_map *map, uint32_t file, struct page_range pages);

/* Iterates over chunks: *at starts at 0. Returns false past the last one. */
bool fetched_map_next(const struct fetched_map *map, size_t *at, struct fetched_rest *rest);
