/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Bios below others: a stacked device (md, device mapper) creates bios of its own from those it
 * receives. It sets their completion function, so they do not identify the file of direct I/O. But
 * they are queued while the task is still submitting the upper bio, and share its bio_vec array.
 */
#ifndef FAULTLINE_BPF_ABOVE_H
#define FAULTLINE_BPF_ABOVE_H

#include "bio_mark.h"
#include "state.h"
#include "vmlinux/block.h"

#define BIO_VECTORS_MOST 256

/* Returns how many bytes of its current bio_vec the bio has passed; -1: unknown. */
static __always_inline __s64 bio_into_page(__u64 bio)
{
	if (bpf_core_field_exists(struct bio, bi_iter.bi_bvec_done))
		return KREAD(bio, bio, bi_iter.bi_bvec_done);
	if (bpf_core_field_exists(struct bio___offset, bi_iter.bi_offset) &&
	    !KREAD(bio___offset, bio, bi_iter.bi_offset))
		return 0;
	return -1;
}

/* The task queues a bio. Unless it is inside the submission of another one, the upper bio stored
 * before is finished. */
static __always_inline void above_begin(struct task_state *state, struct task_struct *task)
{
	if (state && !TASK_POINTER(task, bio_list))
		state->above.vector = 0;
}

static __always_inline bool above_is_of(const struct task_state *state, struct address *bio)
{
	return state && state->above.vector &&
	       state->above.vector == (__u64)KREAD(bio, bio->at, bi_io_vec);
}

static __always_inline void above_keep(struct task_state *state, struct address *bio,
				       const struct bio_mark *mark)
{
	struct bio_above *above = &state->above;

	above->vector = (__u64)KREAD(bio, bio->at, bi_io_vec);
	above->index = KREAD(bio, bio->at, bi_iter.bi_idx);
	above->into = bio_into_page(bio->at);
	above->offset = mark->offset;
	above->file = mark->file;
	above->flags = mark->flags;
}

struct above_walk {
	__u64 vector; /* the next bio_vec */
	__u64 bytes;
};

static long above_step(__u32 i, struct above_walk *walk)
{
	walk->bytes += KREAD(bio_vec, walk->vector, bv_len);
	walk->vector += bpf_core_type_size(struct bio_vec);
	return 0;
}

/* Marks a bio with what is known about the upper one. Global, so it is verified once instead of on
 * every path. */
__noinline int mark_by_above(struct bio_mark *mark, struct address *bio, struct task_state *state)
{
	struct bio_above *above;
	struct above_walk walk = {};
	__s64 into;
	__u32 index;

	if (!mark || !bio || !state)
		return 0;
	above = &state->above;
	mark->file = above->file;
	mark->flags |= above->flags & (TRACE_BLOCK_DIRECT | TRACE_BLOCK_COMPRESSED);
	index = KREAD(bio, bio->at, bi_iter.bi_idx);
	into = bio_into_page(bio->at);
	if (above->offset < 0 || above->into < 0 || into < 0 || index < above->index ||
	    index - above->index > BIO_VECTORS_MOST)
		return 0;
	walk.vector = above->vector + above->index * bpf_core_type_size(struct bio_vec);
	bpf_loop(index - above->index, above_step, &walk, 0);
	mark->offset = above->offset + walk.bytes + into - above->into;
	return 0;
}

#endif
