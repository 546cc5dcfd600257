/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marks of bios in flight, by the bio's address.
 *
 * A bio's address selects a slot in an array, which costs a tenth of a hash lookup. If another bio
 * holds the slot, the bio goes into a hash, which is not searched while it is empty.
 */
#ifndef FAULTLINE_BPF_BIO_MARK_H
#define FAULTLINE_BPF_BIO_MARK_H

#include "ring.h"

struct bio_mark {
	__u64 queued_ns;
	__u64 issued_ns; /* the driver got its request (first recorded bio only); 0: not yet */
	__u64 sector;	 /* on the device, when it was queued */
	__s64 offset;	 /* in the file; -1: unknown */
	__u32 file;	 /* id; 0: none or unknown */
	__u32 bytes;
	__u32 pid, tid; /* followed task that queued it; 0: the kernel */
	__u32 flags;	/* TRACE_BLOCK_* */
	__u32 disk;	/* see bio_disk(); may include BIO_TO_BE_PLACED */
};

/* The position within the zone is decided later: a zone append, which the block layer may turn into
 * a write (since 6.10). */
#define BIO_TO_BE_PLACED 1

/* Current fields of a bio that may be marked: addresses are reused. */
struct bio_now {
	__u64 bio;
	__u64 sector;
	__u32 bytes;
	__u32 disk;
};

#define BIO_PLACES_LOG 15

struct bio_place {
	__u64 bio; /* 0: free */
	struct bio_mark mark;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << BIO_PLACES_LOG);
	__type(key, __u32);
	__type(value, struct bio_place);
} bio_places SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);
	__type(value, struct bio_mark);
} bio_marks SEC(".maps");

extern volatile __u64 bio_marks_count; /* in the hash */

static __always_inline struct bio_place *bio_place(__u64 bio)
{
	__u32 key = bio * 0x9e3779b97f4a7c15 >> (64 - BIO_PLACES_LOG); /* 2^64 / golden ratio */

	return bpf_map_lookup_elem(&bio_places, &key);
}

static __always_inline struct bio_mark *bio_mark_find(__u64 bio)
{
	struct bio_place *place = bio_place(bio);

	if (place && place->bio == bio)
		return &place->mark;
	return bio_marks_count ? bpf_map_lookup_elem(&bio_marks, &bio) : NULL;
}

/* Identifies a disk: the lower half of the gendisk's address. */
static __always_inline __u32 bio_disk(const void *disk)
{
	return lower_half((__u64)disk);
}

/* Whether the mark belongs to that bio, which may be partly completed. */
static __always_inline bool bio_mark_fits(const struct bio_mark *mark, const struct bio_now *now)
{
	__u64 done = (now->sector - mark->sector) * TRACE_SECTOR_BYTES;

	if (mark->disk & BIO_TO_BE_PLACED)
		return mark->disk == (now->disk | BIO_TO_BE_PLACED);
	return mark->disk == now->disk && done <= mark->bytes && now->bytes <= mark->bytes - done;
}

/*
 * Counts a bio whose end was not seen. Not counted as lost: lost records are in the totals.
 *
 * A mark whose address is not reused stays until the recording ends. The user side then counts it
 * as in flight (session_bios_under_way), and neither it nor its request is in any total. If its bio
 * has ended, the kernel skipped every copy of the completion program, and counts that as well.
 */
static __always_inline void bio_mark_stale(void)
{
	note(NOTE_BIO_END_UNSEEN);
}

/* Puts a bio without a slot into the hash. */
static __always_inline void bio_mark_crowded(__u64 bio, const struct bio_mark *mark, bool again)
{
	struct bio_mark copy = *mark; /* on the stack: up to 6.1, maps accept no other value */

	if (!bpf_map_update_elem(&bio_marks, &bio, &copy, BPF_NOEXIST))
		__sync_fetch_and_add(&bio_marks_count, 1);
	else if (bpf_map_update_elem(&bio_marks, &bio, &copy, BPF_ANY))
		ring_lose(RECORD_BIO);
	else if (!again)
		bio_mark_stale();
}

/*
 * These functions are global, so each is verified once. To the verifier, what is read through an
 * address in memory is a number, not a pointer, which it would not allow as a key.
 *
 * Marks a bio. If it is already marked, that bio's end was not seen, except that another copy of
 * the program may mark the bio `again`. A bio for which there is no room is counted as lost.
 */
__noinline int bio_mark_put(struct address *at, struct bio_mark *mark, bool again)
{
	struct bio_place *place;
	__u64 there;

	if (!at || !mark)
		return 0;
	place = bio_place(at->at);
	if (!place)
		return 0;
	there = __sync_val_compare_and_swap(&place->bio, 0, at->at);
	if (there && there != at->at) {
		bio_mark_crowded(at->at, mark, again);
		return 0;
	}
	if (there && !(again && place->mark.sector == mark->sector))
		bio_mark_stale();
	place->mark = *mark;
	return 0;
}

/* Copies a bio's mark to its split-off front. */
__noinline int bio_mark_share(struct address *at, struct bio_now *front)
{
	struct bio_mark *mark, copy;
	struct address other;

	if (!at || !front)
		return 0;
	mark = bio_mark_find(at->at);
	if (!mark || !bio_mark_fits(mark, front))
		return 0;
	copy = *mark;
	other.at = front->bio;
	return bio_mark_put(&other, &copy, true);
}

/*
 * The driver has received the bio. Returns whether the bio is marked.
 *
 * Does not compare: a stale mark at this address will not fit when this bio ends, and is dropped
 * with its time. If this bio is not marked but a later one in its request is, the request uses the
 * kernel's own issue time (request_done).
 */
__noinline int bio_mark_issue(struct address *at, __u64 now_ns)
{
	struct bio_mark *mark = at ? bio_mark_find(at->at) : NULL;

	if (mark)
		mark->issued_ns = now_ns;
	return mark != NULL;
}

/* Copies the mark of a bio that has completed in part, and removes the mark if the bio `ends`. Of
 * concurrent callers only one gets 1, the others 0. */
__noinline int bio_mark_take(struct bio_now *now, struct bio_mark *mark, bool ends)
{
	struct bio_place *place;
	struct bio_mark *crowded;
	__u64 bio;

	if (!now || !mark)
		return 0;
	bio = now->bio;
	place = bio_place(bio);
	if (place && place->bio == bio) {
		*mark = place->mark;
		if (ends && __sync_val_compare_and_swap(&place->bio, bio, 0) != bio)
			return 0;
	} else {
		crowded = bio_marks_count ? bpf_map_lookup_elem(&bio_marks, &bio) : NULL;
		if (!crowded)
			return 0;
		*mark = *crowded;
		if (ends && bpf_map_delete_elem(&bio_marks, &bio))
			return 0;
		if (ends)
			__sync_fetch_and_add(&bio_marks_count, -1);
	}
	if (bio_mark_fits(mark, now))
		return 1;
	if (ends)
		bio_mark_stale();
	return 0;
}

#endif
