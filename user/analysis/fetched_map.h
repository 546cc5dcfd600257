/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which pages of files were fetched ahead and not used yet: a bit a page, in chunks, so that memory
 * is bounded by what was fetched and by a limit. Knows nothing of who fetched or used them.
 */
#ifndef FAULTLINE_FETCHED_MAP_H
#define FAULTLINE_FETCHED_MAP_H

#include "analysis/base/map.h"

#define FETCHED_PAGE 4096u	/* what a bit stands for, whatever the size of a page is */
#define FETCHED_CHUNK_PAGES 512 /* 2 MiB: no folio of the page cache is larger */
#define FETCHED_AROUND_PAGES 16 /* 64 KiB, what a fault maps at once: fault_around_bytes */

struct fetched_map {
	struct map chunks; /* file, chunk -> bits */
	size_t most;	   /* chunks there may be */
	uint64_t beyond;   /* pages that there was no room for */
};

/* Pages from one up to another, that one not included. */
struct page_range {
	uint64_t from, to;
};

/* The pages that any of the bytes lie in; of more than 4 GiB the first. Bytes from before the start
 * of a file on have none. */
struct page_range page_range_of(int64_t offset, uint64_t bytes);

/* A chunk of a file, with pages that were not used, and those that may have been unseen. */
struct fetched_rest {
	uint32_t file;
	uint64_t unused, unseen;
};

/* Needs no memory: cannot fail. */
void fetched_map_init(struct fetched_map *map, size_t memory_bytes);
void fetched_map_free(struct fetched_map *map);

/* Pages were fetched ahead. `large`: they may be in folios of many pages, which a fault maps whole.
 * Adds to *again those that had been fetched ahead before. Returns 0 or -ENOMEM.
 */
int fetched_map_add(struct fetched_map *map, uint32_t file, struct page_range pages, bool large,
		    struct fetched_rest *again);
/* Pages are used. Returns how many of them had been fetched ahead. */
uint64_t fetched_map_use(struct fetched_map *map, uint32_t file, struct page_range pages);
/* A fault maps those around the page, too: whether they are used is not seen. */
void fetched_map_around(struct fetched_map *map, uint32_t file, uint64_t page);
/* All of them are mapped: likewise. */
void fetched_map_unseen(struct fetched_map *map, uint32_t file, struct page_range pages);

/* Goes through the chunks: *at starts at 0. False behind the last one. */
bool fetched_map_next(const struct fetched_map *map, size_t *at, struct fetched_rest *rest);

#endif
