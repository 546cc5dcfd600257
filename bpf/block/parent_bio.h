/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bios of stacked devices (md, device mapper), which submit bios of their own for each one they
 * receive. Their completion functions do not identify direct I/O, but they are queued while the
 * task submits the parent bio, and share its bio_vec array.
 */
#pragma once

#include "block/bio_mark.h"
#include "core/state.h"
#include "vmlinux/block.h"

#define BIO_VECTORS_MAX 256

/* Returns how many bytes of its current bio_vec the bio has passed; -1: unknown. */
static __always_inline __s64 bio_vector_done_bytes(__u64 bio)
{
	if (bpf_core_field_exists(struct bio, bi_iter.bi_bvec_done))
		return KREAD(bio, bio, bi_iter.bi_bvec_done);
	if (bpf_core_field_exists(struct bio___offset, bi_iter.bi_offset) &&
	    !KREAD(bio___offset, bio, bi_iter.bi_offset))
		return 0;
	return -1;
}

/* Call when the task queues a bio. Outside a nested submission, the stored parent bio is complete.
 */
static __always_inline void parent_bio_begin(struct task_state *state, struct task_struct *task)
{
	if (state && !TASK_POINTER(task, bio_list))
		state->parent_bio.vector = 0;
}

static __always_inline bool parent_bio_matches(const struct task_state *state, struct address *bio)
{
	return state && state->parent_bio.vector &&
	       state->parent_bio.vector == (__u64)KREAD(bio, bio->at, bi_io_vec);
}

static __always_inline void parent_bio_store(struct task_state *state, struct address *bio,
					     const struct bio_mark *mark)
{
	struct parent_bio *parent = &state->parent_bio;

	parent->vector = (__u64)KREAD(bio, bio->at, bi_io_vec);
	parent->index = KREAD(bio, bio->at, bi_iter.bi_idx);
	parent->done_bytes = bio_vector_done_bytes(bio->at);
	parent->offset = mark->offset;
	parent->file = mark->file;
	parent->flags = mark->flags;
}

struct parent_bio_walk {
	__u64 vector; /* the next bio_vec */
	__u64 bytes;
};

static long parent_bio_step(__u32 i, struct parent_bio_walk *walk)
{
	walk->bytes += KREAD(bio_vec, walk->vector, bv_len);
	walk->vector += bpf_core_type_size(struct bio_vec);
	return 0;
}
LOOP_STEP(parent_bio_step)

/* Marks a bio with what is known about its parent. Global, so it is verified once instead of on
 * every path. */
__noinline int bio_mark_by_parent(struct bio_mark *mark, struct address *bio,
				  struct task_state *state)
{
	struct parent_bio *parent;
	struct parent_bio_walk walk = {};
	__s64 done_bytes;
	__u32 index;

	if (!mark || !bio || !state)
		return 0;
	parent = &state->parent_bio;
	mark->file = parent->file;
	mark->flags |= parent->flags & (TRACE_BLOCK_DIRECT | TRACE_BLOCK_COMPRESSED);
	index = KREAD(bio, bio->at, bi_iter.bi_idx);
	done_bytes = bio_vector_done_bytes(bio->at);
	if (parent->offset < 0 || parent->done_bytes < 0 || done_bytes < 0 ||
	    index < parent->index || index - parent->index > BIO_VECTORS_MAX)
		return 0;
	walk.vector = parent->vector + parent->index * bpf_core_type_size(struct bio_vec);
	LOOP(index - parent->index, parent_bio_step, &walk);
	mark->offset = parent->offset + walk.bytes + done_bytes - parent->done_bytes;
	return 0;
}
