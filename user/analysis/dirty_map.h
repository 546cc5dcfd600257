/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What of a file waits to be written back, and since when: by regions of a page at first, of twice
 * as much whenever there would be too many, so that memory is bounded whatever the file's size.
 * Knows nothing of who made it dirty.
 */
#ifndef FAULTLINE_DIRTY_MAP_H
#define FAULTLINE_DIRTY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIRTY_REGIONS_MOST 256 /* of a file */

struct dirty_region {
	uint64_t since_ns;   /* it became dirty for the first time after it was written, */
	uint64_t written_ns; /* the last time; 0: never */
	uint64_t bytes;	     /* that wait, at most: what was written twice may be counted twice */
};

/* All zeros is one where nothing is dirty. */
struct dirty_map {
	struct dirty_region *regions;
	uint32_t count;
	uint8_t bits; /* of a region's size; 0: none was needed yet */
};

/* How long bytes waited, summed up. */
struct dirty_wait {
	unsigned __int128 byte_ns;
	uint64_t bytes;
	uint64_t longest_ns;
};

/* `left` is how many regions there may still be, of all files: beyond it regions grow. Times are
 * given in their order. Returns 0 or -ENOMEM. */
int dirty_map_add(struct dirty_map *map, size_t *left, uint64_t offset, uint64_t bytes,
		  uint64_t time_ns);
/* So many bytes are on their way to the device from `time_ns` on and reach it at `end_ns`. What
 * was not known to be dirty adds nothing to `wait`. */
void dirty_map_take(struct dirty_map *map, uint64_t offset, uint64_t bytes, uint64_t time_ns,
		    uint64_t end_ns, struct dirty_wait *wait);
/* The file ends at `size_bytes` now: what was behind is never written. */
void dirty_map_cut(struct dirty_map *map, uint64_t size_bytes);
/* Bytes that still wait, at most. */
uint64_t dirty_map_bytes(const struct dirty_map *map);
void dirty_map_free(struct dirty_map *map);

#endif
