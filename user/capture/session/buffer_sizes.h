/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sizes of the buffers between the kernel side and the user side. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer_sizes {
	unsigned int lane_cpus;	       /* CPUs that need a CPU buffer */
	unsigned int lane_count;       /* a power of two; one buffer per CPU or per few CPUs */
	size_t ring_bytes, slot_count; /* per CPU buffer; powers of two */
	size_t identities_bytes;       /* of the ring that all CPU buffers share */
};

/* Returns the sizes for `bytes` per CPU buffer, or with 0 by the number of CPUs. */
struct buffer_sizes buffer_sizes(uint64_t bytes, unsigned int cpus);

/* For recordings that sum up operations: without a flight recorder slots are unused, so their
 * memory goes to the shared ring, for records of processes. */
void buffer_sizes_of_sums(struct buffer_sizes *sizes, bool flight);

/* For recordings whose samples have copies of stacks: a ring holds at least a few dozen. */
void buffer_sizes_of_copies(struct buffer_sizes *sizes);

/* The least memory for a flight recorder. */
#define FLIGHT_BYTES_MIN (1u << 20)
