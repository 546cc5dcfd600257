/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Operations in flight by page cache: finds the operation that adds a page. The order of submission
 * does not help: the kernel starts the requests of a chain long after it has accepted them, and
 * resumes a read whenever one of its pages has arrived.
 */
#pragma once

#include "async/async_flight.h"
#include "pagecache/fetched.h"

/* A slot holds the ranges of the page caches that hash to it, and keeps only the latest ones. Pages
 * of older operations are counted on another operation on the same file. */
#define RANGE_SLOTS_LOG 7
#define RANGES_OF_SLOT 128 /* a power of two */

/* Each range is a hint: the operation itself shows whether it is still in flight, and on which page
 * cache. */
struct range_slot {
	__u32 next;
	__u32 pad;
	struct async_range ranges[RANGES_OF_SLOT];
};

ADDR_TABLE(async_ranges, struct range_slot, RANGE_SLOTS_LOG)

/* Returns the page cache that reads and writes of a file fill; for an overlay file, that of the
 * layer's file. */
static __always_inline __u64 file_page_cache(struct file *file)
{
	struct inode *inode = KREAD(file, file, f_inode), *real;

	if (inode_magic(inode) != OVERLAYFS_MAGIC)
		return KNUMBER(file, file, f_mapping);
	real = overlay_real(inode);
	return real ? KNUMBER(inode, real, i_mapping) : 0;
}

/* Stores the file and the range of an operation in flight. Global, so it is verified once. */
__noinline int async_range_put(struct async_key *key, struct address *address)
{
	struct async_operation *operation;
	struct range_slot *slot;
	struct async_range *range;
	struct async_key at;
	struct file *file;
	__u64 mapping;
	__s64 offset;

	if (!key || !address || !address->at)
		return 0;
	at = *key;
	file = (struct file *)address->at;
	mapping = file_page_cache(file);
	operation = async_find(&at);
	slot = async_ranges_at(mapping);
	if (!mapping || !operation || !slot)
		return 0;
	operation->account.mapping = mapping;
	offset = operation->account.offset;
	if (offset < 0)
		offset = KREAD(file, file, f_pos);
	range = &slot->ranges[__sync_fetch_and_add(&slot->next, 1) & (RANGES_OF_SLOT - 1)];
	range->mapping = 0; /* invalid until all fields are stored */
	range->key = at;
	range->first = offset / PAGE_BYTES;
	range->last =
		(offset + operation->requested_bytes - !!operation->requested_bytes) / PAGE_BYTES;
	barrier();
	range->mapping = mapping;
	return 0;
}

/* --- from a page to its operation --- */

#define RANGE_FAR (1ull << 52)	    /* range after the page: readahead never goes backward */
#define RANGE_UNLIKELY (1ull << 51) /* a write for a page to be read, or the reverse */
#define RANGE_NONE (~0ull)

struct range_search {
	const struct page_add *add;
	struct range_slot *slot;
	__u64 distance; /* of the best one so far */
	struct async_range best;
	__u32 newest;
	__u32 pid;
};

/* Distance from a range to a page after it, in pages; 0 inside. Readahead only goes forward. */
static __always_inline __u64 range_distance(const struct async_range *range, __u64 index)
{
	if (index < range->first)
		return RANGE_FAR;
	return number_sub(index, range->last);
}

static long range_step(__u32 i, struct range_search *search)
{
	const struct page_add *add = search->add;
	struct async_range range =
		search->slot->ranges[(search->newest - i) & (RANGES_OF_SLOT - 1)];
	struct async_operation *operation;
	__u64 distance;

	if (range.mapping != add->mapping)
		return 0;
	distance = range_distance(&range, add->index);
	if (distance >= search->distance)
		return 0;
	operation = async_find(&range.key);
	if (!operation || operation->account.mapping != add->mapping ||
	    operation->owner.pid != search->pid)
		return 0;
	if (!(operation->row.traits & ASYNC_WRITES) == !!add->locked)
		distance |= RANGE_UNLIKELY;
	if (distance >= search->distance)
		return 0;
	search->distance = distance;
	search->best = range;
	return !distance;
}
LOOP_STEP(range_step)

/* Finds the operation of a process that adds a page: the latest one whose range contains the page,
 * else the one that ends closest before it. Returns whether there is one. */
static __noinline int range_find(struct range_search *search)
{
	search->slot = async_ranges_at(search->add->mapping);
	if (!search->slot)
		return 0;
	search->newest = search->slot->next - 1;
	search->distance = RANGE_NONE;
	LOOP(RANGES_OF_SLOT, range_step, search);
	return search->distance != RANGE_NONE;
}
