/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Sizes of the buffers between the kernel side and the user side. */
#include "capture/session/buffer_sizes.h"

#include "bpf/records/event.h"

#define BUFFER_BYTES_MAX (8u << 20)	  /* per CPU buffer, by default */
#define BUFFERS_BYTES_MAX (256u << 20)	  /* of all CPU buffers, by default */
#define BUFFER_BYTES_MIN (256u << 10)	  /* per CPU buffer, if there are many */
#define RING_BYTES_MIN (64u << 10)	  /* per CPU buffer: any page size, the longest record */
#define IDENTITIES_BYTES_MIN (256u << 10) /* of the ring that all CPU buffers share */
#define IDENTITIES_BYTES_MAX (16u << 20)
#define COPIES_RING_BYTES_MIN (512u << 10)
#define LANES_MAX 256
#define SLOTS_MIN 32
#define FLIGHT_SLOTS_MAX (1u << 17) /* of all CPU buffers, unless --buffer asks for more */

static uint64_t power_of_two_within(uint64_t max, uint64_t min)
{
	uint64_t power = min;

	while (power * 2 <= max)
		power *= 2;
	return power;
}

/* One CPU buffer for each CPU, online or not: it may come online. Three quarters of a CPU buffer's
 * memory are slots, the rest is its ring. */
struct buffer_sizes buffer_sizes(uint64_t bytes, unsigned int cpus)
{
	struct buffer_sizes sizes = { .lane_cpus = cpus, .lane_count = 1 };

	while (sizes.lane_count < sizes.lane_cpus && sizes.lane_count < LANES_MAX)
		sizes.lane_count *= 2;
	if (!bytes) {
		bytes = BUFFERS_BYTES_MAX / sizes.lane_count;
		if (bytes > BUFFER_BYTES_MAX)
			bytes = BUFFER_BYTES_MAX;
		if (bytes < BUFFER_BYTES_MIN)
			bytes = BUFFER_BYTES_MIN;
	}
	sizes.ring_bytes = power_of_two_within(bytes / 4, RING_BYTES_MIN);
	sizes.slot_count = power_of_two_within(bytes / 4 * 3 / sizeof(struct lane_slot), SLOTS_MIN);
	bytes = bytes * sizes.lane_count / 8;
	sizes.identities_bytes = power_of_two_within(
		bytes < IDENTITIES_BYTES_MAX ? bytes : IDENTITIES_BYTES_MAX, IDENTITIES_BYTES_MIN);
	return sizes;
}

/* While a flight recorder's reader reads sums, slots must not run out. */
static size_t slots_of_flight(const struct buffer_sizes *sizes)
{
	return power_of_two_within(FLIGHT_SLOTS_MAX / sizes->lane_count, sizes->slot_count);
}

void buffer_sizes_of_sums(struct buffer_sizes *sizes, bool flight)
{
	uint64_t unused = sizes->slot_count * sizeof(struct lane_slot) * sizes->lane_count;

	if (unused > IDENTITIES_BYTES_MAX)
		unused = IDENTITIES_BYTES_MAX;
	if (unused > sizes->identities_bytes)
		sizes->identities_bytes = power_of_two_within(unused, sizes->identities_bytes);
	sizes->slot_count = flight ? slots_of_flight(sizes) : SLOTS_MIN;
}

void buffer_sizes_of_copies(struct buffer_sizes *sizes)
{
	if (sizes->ring_bytes < COPIES_RING_BYTES_MIN)
		sizes->ring_bytes = COPIES_RING_BYTES_MIN;
}
