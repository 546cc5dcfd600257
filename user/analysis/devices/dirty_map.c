/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tracks the regions of a file that wait for writeback. */
#include "analysis/devices/dirty_map.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"

#define BITS_FIRST 12
#define BITS_MAX 63

static uint64_t region_bytes(const struct dirty_map *map)
{
	return 1ull << map->bits;
}

/* Returns the end of a range, capped at what regions can represent. */
static uint64_t end_of(uint64_t offset, uint64_t bytes)
{
	const uint64_t max = (1ull << BITS_MAX) - 1;

	return offset >= max ? max : offset + number_min(bytes, max - offset);
}

/* Returns the bytes of the range that lie in a region. */
static uint64_t overlap(const struct dirty_map *map, uint64_t number, uint64_t offset, uint64_t end)
{
	uint64_t from = number << map->bits, until = from + region_bytes(map);

	return number_min(until, end) - (offset > from ? offset : from);
}

static bool waits(const struct dirty_region *region)
{
	return region->since_ns > region->written_ns;
}

static struct dirty_region join(const struct dirty_region *a, const struct dirty_region *b)
{
	struct dirty_region both = { .bytes = a->bytes + b->bytes };

	if (waits(a) && waits(b))
		both.since_ns = number_min(a->since_ns, b->since_ns);
	else if (waits(a) || waits(b))
		both.since_ns = waits(a) ? a->since_ns : b->since_ns;
	else
		both.since_ns = number_max(a->since_ns, b->since_ns);
	both.written_ns = number_max(a->written_ns, b->written_ns);
	/* One of the two is still dirty. */
	if ((waits(a) || waits(b)) && both.written_ns >= both.since_ns)
		both.written_ns = both.since_ns - 1;
	return both;
}

/* Doubles the region size. */
static void fold(struct dirty_map *map)
{
	static const struct dirty_region none;

	for (uint32_t i = 0; i < map->count; i += 2)
		map->regions[i / 2] =
			join(&map->regions[i], i + 1 < map->count ? &map->regions[i + 1] : &none);
	map->count = (map->count + 1) / 2;
	map->bits++;
}

/* Ensures that there is a region for the byte before `end`. */
static int reach(struct dirty_map *map, struct arena *arena, size_t *left, uint64_t end)
{
	struct dirty_region *regions;
	uint64_t count;

	if (!map->bits)
		map->bits = BITS_FIRST;
	for (;;) {
		count = ((end - 1) >> map->bits) + 1;
		if (count <= map->count)
			return 0;
		/* Every file gets its first region, even if `*left` is 0. */
		if (count <= DIRTY_REGIONS_MAX && (count == 1 || count - map->count <= *left))
			break;
		fold(map);
	}
	regions = arena_resize(arena, map->regions, map->count * sizeof(*regions),
			       count * sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	*left -= number_min(count - map->count, *left);
	map->regions = regions;
	map->count = count;
	return 0;
}

int dirty_map_add(struct dirty_map *map, struct arena *arena, size_t *left, uint64_t offset,
		  uint64_t bytes, uint64_t time_ns)
{
	uint64_t end = end_of(offset, bytes);

	if (offset >= end)
		return 0;
	if (reach(map, arena, left, end))
		return -ENOMEM;
	for (uint64_t i = offset >> map->bits; i <= (end - 1) >> map->bits; i++) {
		struct dirty_region *region = &map->regions[i];

		if (!waits(region))
			region->since_ns =
				time_ns > region->written_ns ? time_ns : region->written_ns + 1;
		region->bytes =
			number_min(region->bytes + overlap(map, i, offset, end), region_bytes(map));
	}
	return 0;
}

void dirty_map_take(struct dirty_map *map, uint64_t offset, uint64_t bytes, uint64_t time_ns,
		    uint64_t end_ns, struct dirty_wait *wait)
{
	uint64_t end = end_of(offset, bytes);

	if (offset >= end || !map->count)
		return;
	end = number_min(end, (uint64_t)map->count << map->bits);
	for (uint64_t i = offset >> map->bits; i < map->count && i << map->bits < end; i++) {
		struct dirty_region *region = &map->regions[i];
		uint64_t part = overlap(map, i, offset, end), waited_ns;

		if (!region->since_ns)
			continue;
		waited_ns = number_sub(end_ns, region->since_ns);
		wait->byte_ns += (unsigned __int128)part * waited_ns;
		wait->bytes += part;
		if (waited_ns > wait->longest_ns)
			wait->longest_ns = waited_ns;
		region->bytes -= number_min(part, region->bytes);
		region->written_ns = number_max(time_ns, region->since_ns);
	}
}

void dirty_map_cut(struct dirty_map *map, uint64_t size_bytes)
{
	for (uint32_t i = 0; i < map->count; i++)
		if ((uint64_t)i << map->bits >= size_bytes)
			map->regions[i] = (struct dirty_region) { 0 };
}

uint64_t dirty_map_bytes(const struct dirty_map *map)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < map->count; i++)
		bytes += map->regions[i].bytes;
	return bytes;
}
