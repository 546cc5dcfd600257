/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Counts over two axes, one of which is time in coarse stretches: how long operations took, how
 * much they requested, where in the worst files they were.
 */
#pragma once

#include "analysis/picture/picture_sums.h"
#include "analysis/shared/size_class.h"

/* Half powers of two, from 64 ns; the first and the last are open. */
#define PICTURE_LATENCIES 60
#define PICTURE_LATENCY_FIRST 6 /* bits */

/* Kinds: parts, then requests to devices. */
#define PICTURE_DEVICE_READ PICTURE_PARTS
#define PICTURE_DEVICE_WRITE (PICTURE_PARTS + 1)
#define PICTURE_KINDS (PICTURE_PARTS + 2)

enum picture_touch {
	PICTURE_TOUCH_READ,
	PICTURE_TOUCH_FAULT,
	PICTURE_TOUCH_WRITE,
	PICTURE_TOUCHES
};

#define PICTURE_OFFSETS 96
#define PICTURE_MAPS 8 /* files */

/* Bytes of a file in a stretch. */
struct picture_cache {
	uint64_t read_bytes;	/* requested by calls that read through the cache ... */
	uint64_t missed_bytes;	/* ... and fetched during these */
	uint64_t faulted_bytes; /* fetched by faults */
	uint64_t direct_bytes, write_bytes;
	uint64_t minor, major;
};

struct picture_map {
	uint32_t file;
	uint64_t offset_bytes; /* of a row: a power of two that doubles as offsets grow */
	uint64_t furthest;     /* highest byte that was touched, plus 1 */
	uint32_t counts[PICTURE_TOUCHES][PICTURE_COARSE][PICTURE_OFFSETS];
	struct picture_cache cache[PICTURE_COARSE];
};

struct picture_grids {
	struct picture_axis axis;
	uint32_t latencies[PICTURE_KINDS][PICTURE_COARSE][PICTURE_LATENCIES];
	uint32_t sizes[PICTURE_KINDS][PICTURE_COARSE][SIZE_CLASSES]; /* of what was requested */
	uint32_t *map_of; /* each file's map, or PICTURE_MAPS */
	size_t file_count, map_count;
	struct picture_map maps[PICTURE_MAPS];
};

/* Maps those of the chosen files whose offsets mean something. Returns 0 or -ENOMEM; must be freed
 * after an error, too. */
int picture_grids_init(struct picture_grids *grids, const struct results *results,
		       const struct picture_set *files, const struct picture_axis *axis);
void picture_grids_free(struct picture_grids *grids);
void picture_grids_add(struct picture_grids *grids, const struct picture_event *at);
