/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bios on their way, by address, and what is remembered of each. Knows nothing of what becomes of
 * it.
 *
 * A bio has a place by its address in an array, which costs a tenth of what a hash does; where
 * another bio has that place it goes to a hash, in which nobody looks while that is empty.
 */
#ifndef FAULTLINE_BPF_BIO_MARK_H
#define FAULTLINE_BPF_BIO_MARK_H

#include "ring.h"

struct bio_mark {
	__u64 queued_ns;
	__u64 issued_ns; /* the driver got its request, whose first recorded bio it is; 0: not */
	__u64 sector;	 /* of the device, when it was queued */
	__s64 offset;	 /* in the file; -1: not known */
	__u32 file;	 /* id; 0: none, or not known */
	__u32 bytes;
	__u32 pid, tid; /* of the followed task that queued it; 0: the kernel did */
	__u32 flags;	/* TRACE_BLOCK_* */
	__u32 disk;	/* see bio_disk(); maybe with BIO_TO_BE_PLACED */
};

/* Where in its zone it goes is settled later: an append, which the block layer may make a write
 * (since 6.10). */
#define BIO_TO_BE_PLACED 1

/* What is known now of a bio that may be marked: an address comes again. */
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

/* Tells disks apart: the lower half of the address of a gendisk. */
static __always_inline __u32 bio_disk(const void *disk)
{
	return lower_half((__u64)disk);
}

/* Whether the mark is that bio's, of which a part may be over. */
static __always_inline bool bio_mark_fits(const struct bio_mark *mark, const struct bio_now *now)
{
	__u64 done = (now->sector - mark->sector) * TRACE_SECTOR_BYTES;

	if (mark->disk & BIO_TO_BE_PLACED)
		return mark->disk == (now->disk | BIO_TO_BE_PLACED);
	return mark->disk == now->disk && done <= mark->bytes && now->bytes <= mark->bytes - done;
}

/*
 * One has ended, and it was not seen. Not counted as lost: what is lost is in the totals.
 *
 * A mark whose address never comes again is left when the recording ends, where the user side
 * counts it as on its way (session_bios_under_way): it is in no total, nor is its request. If its
 * bio has ended, every copy of the program at its end was passed over, which the kernel counts,
 * too.
 */
static __always_inline void bio_mark_stale(void)
{
	note(NOTE_BIO_END_UNSEEN);
}

/* Puts into the hash what has no place. */
static __always_inline void bio_mark_crowded(__u64 bio, const struct bio_mark *mark, bool again)
{
	struct bio_mark copy = *mark; /* on the stack: up to 6.1 a map takes no other */

	if (!bpf_map_update_elem(&bio_marks, &bio, &copy, BPF_NOEXIST))
		__sync_fetch_and_add(&bio_marks_count, 1);
	else if (bpf_map_update_elem(&bio_marks, &bio, &copy, BPF_ANY))
		ring_lose(RECORD_BIO);
	else if (!again)
		bio_mark_stale();
}

/*
 * These are global: the verifier looks at each once, and what is read from an address in memory is
 * a number to it, not a pointer, of which it allows no such thing as a place.
 *
 * Marks a bio, anew if it is marked: that mark's bio has ended unseen, but where it may be a copy
 * of the program that comes `again`. One for which there is no room is counted as lost.
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

/* A bio's mark for its front, too. */
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
 * The driver has got it. Returns whether it is marked.
 *
 * Does not compare: a mark that was left by a bio before it does not fit when this one ends, and
 * goes with its time. Where this one is not marked itself, but one behind it in the request is,
 * that request goes by the time of issue that the kernel keeps (request_done).
 */
__noinline int bio_mark_issue(struct address *at, __u64 now_ns)
{
	struct bio_mark *mark = at ? bio_mark_find(at->at) : NULL;

	if (mark)
		mark->issued_ns = now_ns;
	return mark != NULL;
}

/* Tells the mark of a bio of which a part is over, and takes it off if the bio `ends`. Returns 1 to
 * one of those who do so at a time, 0 to all others. */
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
