/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marks of bios in flight, by the bio's address.
 */
#pragma once

#include "core/addr_table.h"
#include "core/ring.h"

struct bio_mark {
	__u64 queued_ns;
	__u64 issued_ns; /* the driver got its request (first recorded bio only); 0: not yet */
	__u64 sector;	 /* on the device, when it was queued */
	__s64 offset;	 /* in the file; -1: unknown */
	__u32 file;	 /* id; 0: none or unknown */
	__u32 bytes;
	__u32 pid, tid; /* followed task that queued it; 0: the kernel */
	__u32 flags;	/* TRACE_BLOCK_* */
	__u32 disk;	/* see bio_disk(); may include BIO_SECTOR_PENDING */
};

/* The position within the zone is decided later: a zone append, which the block layer may turn into
 * a write (since 6.10). */
#define BIO_SECTOR_PENDING 1

/* Current fields of a bio that may be marked: addresses are reused. */
struct bio_now {
	__u64 bio;
	__u64 sector;
	__u32 bytes;
	__u32 disk;
};

#define BIO_SLOTS_LOG 15

struct bio_slot {
	__u64 bio; /* 0: free */
	struct bio_mark mark;
};

ADDR_TABLE(bio_slots, struct bio_slot, BIO_SLOTS_LOG)
ADDR_OVERFLOW(bio_marks, __u64, struct bio_mark, 32768)

static __always_inline struct bio_mark *bio_mark_find(__u64 bio)
{
	struct bio_slot *slot = bio_slots_at(bio);

	if (slot && slot->bio == bio)
		return &slot->mark;
	return bio_marks_find(&bio);
}

/* Identifies a disk: the lower half of the gendisk's address. */
static __always_inline __u32 bio_disk(const void *disk)
{
	return lower_half((__u64)disk);
}

/* Whether the mark belongs to that bio, which may be partly completed. */
static __always_inline bool bio_mark_matches(const struct bio_mark *mark, const struct bio_now *now)
{
	__u64 done = (now->sector - mark->sector) * TRACE_SECTOR_BYTES;

	if (mark->disk & BIO_SECTOR_PENDING)
		return mark->disk == (now->disk | BIO_SECTOR_PENDING);
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
	note_add(NOTE_BIO_END_UNSEEN);
}

/* Puts a bio without a slot into the hash. */
static __always_inline void bio_mark_put_overflow(__u64 bio, const struct bio_mark *mark,
						  bool again)
{
	struct bio_mark copy = *mark; /* on the stack: up to 6.1, maps accept no other value */

	switch (bio_marks_put(&bio, &copy)) {
	case 0:
		break;
	case 1:
		if (!again)
			bio_mark_stale();
		break;
	default:
		ring_lose(RECORD_BIO);
	}
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
	struct bio_slot *slot;
	__u64 holder;

	if (!at || !mark)
		return 0;
	slot = bio_slots_at(at->at);
	if (!slot)
		return 0;
	holder = __sync_val_compare_and_swap(&slot->bio, 0, at->at);
	if (holder && holder != at->at) {
		bio_mark_put_overflow(at->at, mark, again);
		return 0;
	}
	if (holder && !(again && slot->mark.sector == mark->sector))
		bio_mark_stale();
	slot->mark = *mark;
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
	if (!mark || !bio_mark_matches(mark, front))
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
 * kernel's own issue time (request_complete).
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
	struct bio_slot *slot;
	struct bio_mark *overflow;
	__u64 bio;

	if (!now || !mark)
		return 0;
	bio = now->bio;
	slot = bio_slots_at(bio);
	if (slot && slot->bio == bio) {
		*mark = slot->mark;
		if (ends && __sync_val_compare_and_swap(&slot->bio, bio, 0) != bio)
			return 0;
	} else {
		overflow = bio_marks_find(&bio);
		if (!overflow)
			return 0;
		*mark = *overflow;
		if (ends && !bio_marks_remove(&bio))
			return 0;
	}
	if (bio_mark_matches(mark, now))
		return 1;
	if (ends)
		bio_mark_stale();
	return 0;
}
