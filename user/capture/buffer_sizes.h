/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How large the buffers between kernel and user side are. Knows nothing of what goes through them.
 */
#ifndef FAULTLINE_BUFFER_SIZES_H
#define FAULTLINE_BUFFER_SIZES_H

#include <stddef.h>
#include <stdint.h>

struct buffer_sizes {
	unsigned int lane_cpus;	       /* CPUs that lanes are made for */
	unsigned int lane_count;       /* a power of two: of each CPU, or of a few */
	size_t ring_bytes, slot_count; /* of one lane; powers of two */
	size_t identities_bytes;       /* of the ring that all lanes share */
};

/* `bytes` of a lane, or 0: by the number of CPUs. */
struct buffer_sizes buffer_sizes(uint64_t bytes, unsigned int cpus);

/* Where operations are summed up nothing comes by slots: what is told of processes has their room.
 */
void buffer_sizes_of_sums(struct buffer_sizes *sizes);

/*
 * Of a flight recorder with so many bytes: slot_count is that of all lanes together, at most three
 * quarters of them. -ENOSPC when they are fewer than flight_least_bytes.
 */
int buffer_sizes_of_flight(struct buffer_sizes *sizes, uint64_t bytes);
uint64_t flight_least_bytes(const struct buffer_sizes *sizes);

#endif
