/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The kernel's own counters of block devices. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct diskstat {
	uint32_t dev; /* major << 20 | minor, as on the kernel side */
	uint64_t reads, read_bytes;
	uint64_t writes, write_bytes;
};

/* Reads up to `room` devices. Returns how many. */
size_t diskstats_read(struct diskstat *stats, size_t room);
/* Returns the counters of a device; NULL: none. */
const struct diskstat *diskstats_find(const struct diskstat *stats, size_t count, uint32_t dev);
