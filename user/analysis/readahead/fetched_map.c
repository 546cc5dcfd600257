/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Bitmaps of pages that were read ahead, used, or mapped. */
#include "analysis/readahead/fetched_map.h"

#include <errno.h>

#include "base/number.h"

#define WORDS (FETCHED_CHUNK_PAGES / 64)
#define BYTES_MAX (1ull << 32)
/* Per entry: two key words and three bits per page; doubled because the map may just have grown. */
#define CHUNK_BYTES (2 * (2 + sizeof(struct page_chunk) / 8) * 8)

struct page_chunk {
	uint64_t ahead[WORDS];	/* fetched and not used yet */
	uint64_t large[WORDS];	/* of these, possibly in a large folio */
	uint64_t unseen[WORDS]; /* of these, mapped: used or not */
};

struct page_range page_range_of(int64_t offset, uint64_t bytes)
{
	uint64_t start = offset;

	if (offset < 0 || !bytes)
		return (struct page_range) { 0, 0 };
	if (bytes > BYTES_MAX)
		bytes = BYTES_MAX;
	return (struct page_range) { start / FETCHED_PAGE, (start + bytes - 1) / FETCHED_PAGE + 1 };
}

struct page_range page_range_extend(struct page_range pages, uint32_t page_bytes)
{
	uint64_t parts = page_bytes / FETCHED_PAGE;

	if (parts <= 1)
		return pages;
	return (struct page_range) { pages.from / parts * parts,
				     (pages.to + parts - 1) / parts * parts };
}

void fetched_map_init(struct fetched_map *map, struct arena *arena, size_t memory_bytes)
{
	*map = (struct fetched_map) { .max = memory_bytes / CHUNK_BYTES + 1 };
	map_init_in(&map->chunks, arena, 2, sizeof(struct page_chunk) / sizeof(uint64_t));
}

static struct page_chunk *find_chunk(const struct fetched_map *map, uint32_t file, uint64_t number)
{
	const uint64_t key[2] = { file, number };

	return (struct page_chunk *)map_find(&map->chunks, key);
}

/* The part of a range that lies in one chunk, as a mask. */
struct chunk_part {
	uint64_t chunk, end; /* end: the page after it */
	uint64_t mask[WORDS];
};

static struct chunk_part part_of(uint64_t from, uint64_t to)
{
	struct chunk_part part = { .chunk = from / FETCHED_CHUNK_PAGES };
	uint64_t base = part.chunk * FETCHED_CHUNK_PAGES;

	part.end = to - base > FETCHED_CHUNK_PAGES ? base + FETCHED_CHUNK_PAGES : to;
	for (unsigned int i = 0; i < WORDS; i++) {
		uint64_t first = base + i * 64, last = first + 64;
		uint64_t low = number_sub(from, first);
		uint64_t high = number_sub(last, part.end);

		if (from < last && part.end > first)
			part.mask[i] = ~0ull << low & ~0ull >> high;
	}
	return part;
}

int fetched_map_add(struct fetched_map *map, uint32_t file, struct page_range pages, bool large,
		    struct fetched_rest *again)
{
	while (pages.from < pages.to) {
		struct chunk_part part = part_of(pages.from, pages.to);
		struct page_chunk *chunk = find_chunk(map, file, part.chunk);
		bool added;

		if (!chunk && map->chunks.count >= map->max) {
			map->overflow += part.end - pages.from;
		} else if (!chunk) {
			const uint64_t key[2] = { file, part.chunk };

			chunk = (struct page_chunk *)map_add(&map->chunks, key, &added);
			if (!chunk)
				return -ENOMEM;
		}
		for (unsigned int i = 0; chunk && i < WORDS; i++) {
			uint64_t left = chunk->ahead[i] & part.mask[i];

			again->unused += __builtin_popcountll(left & ~chunk->unseen[i]);
			again->unseen += __builtin_popcountll(left & chunk->unseen[i]);
			chunk->ahead[i] |= part.mask[i];
			chunk->unseen[i] &= ~part.mask[i];
			chunk->large[i] = large ? chunk->large[i] | part.mask[i]
						: chunk->large[i] & ~part.mask[i];
		}
		pages.from = part.end;
	}
	return 0;
}

uint64_t fetched_map_use(struct fetched_map *map, uint32_t file, struct page_range pages)
{
	uint64_t used = 0;

	while (pages.from < pages.to) {
		struct chunk_part part = part_of(pages.from, pages.to);
		struct page_chunk *chunk = find_chunk(map, file, part.chunk);

		for (unsigned int i = 0; chunk && i < WORDS; i++) {
			used += __builtin_popcountll(chunk->ahead[i] & part.mask[i]);
			chunk->ahead[i] &= ~part.mask[i];
		}
		pages.from = part.end;
	}
	return used;
}

void fetched_map_around(struct fetched_map *map, uint32_t file, uint64_t page)
{
	uint64_t from = page & ~(FETCHED_AROUND_PAGES - 1ull);
	struct chunk_part part = part_of(from, from + FETCHED_AROUND_PAGES);
	struct page_chunk *chunk = find_chunk(map, file, part.chunk);

	for (unsigned int i = 0; chunk && i < WORDS; i++)
		chunk->unseen[i] |= chunk->ahead[i] & (part.mask[i] | chunk->large[i]);
}

void fetched_map_unseen(struct fetched_map *map, uint32_t file, struct page_range pages)
{
	while (pages.from < pages.to) {
		struct chunk_part part = part_of(pages.from, pages.to);
		struct page_chunk *chunk = find_chunk(map, file, part.chunk);

		for (unsigned int i = 0; chunk && i < WORDS; i++)
			chunk->unseen[i] |= chunk->ahead[i] & part.mask[i];
		pages.from = part.end;
	}
}

bool fetched_map_next(const struct fetched_map *map, size_t *at, struct fetched_rest *rest)
{
	const uint64_t *key;
	uint64_t *value;
	const struct page_chunk *chunk;

	if (!map_next(&map->chunks, at, &key, &value))
		return false;
	chunk = (const struct page_chunk *)value;
	*rest = (struct fetched_rest) { .file = key[0] };
	for (unsigned int i = 0; i < WORDS; i++) {
		rest->unused += __builtin_popcountll(chunk->ahead[i] & ~chunk->unseen[i]);
		rest->unseen += __builtin_popcountll(chunk->ahead[i] & chunk->unseen[i]);
	}
	return true;
}
