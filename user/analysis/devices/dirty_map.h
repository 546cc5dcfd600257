/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Dirty ranges of a file that wait for writeback, and since when: by regions of one page at first,
 * doubled in size whenever there would be too many, so that memory is bounded for any file size.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collections/arena.h"

#define DIRTY_REGIONS_MAX 256 /* per file */

struct dirty_region {
	uint64_t since_ns;   /* first dirtied after the last write */
	uint64_t written_ns; /* last written; 0: never */
	uint64_t bytes;	     /* dirty, upper bound: data written twice may count twice */
};

/* All zeros is a map with nothing dirty. */
struct dirty_map {
	struct dirty_region *regions;
	uint32_t count;
	uint8_t bits; /* log2 of the region size; 0: no region yet */
};

/* Time that bytes waited, summed. */
struct dirty_wait {
	unsigned __int128 byte_ns;
	uint64_t bytes;
	uint64_t longest_ns;
};

/* `left` is the number of regions still available for all files: when it runs out, regions grow.
 * Times must not decrease. Returns 0 or -ENOMEM. */
int dirty_map_add(struct dirty_map *map, struct arena *arena, size_t *left, uint64_t offset,
		  uint64_t bytes, uint64_t time_ns);
/* Takes bytes that are submitted to the device at `time_ns` and reach it at `end_ns`. Bytes not
 * known to be dirty add nothing to `wait`. */
void dirty_map_take(struct dirty_map *map, uint64_t offset, uint64_t bytes, uint64_t time_ns,
		    uint64_t end_ns, struct dirty_wait *wait);
/* Truncates the file to `size_bytes`: what lies beyond is never written. */
void dirty_map_cut(struct dirty_map *map, uint64_t size_bytes);
/* Returns an upper bound of the bytes still dirty. */
uint64_t dirty_map_bytes(const struct dirty_map *map);
