/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reads from storage that a write makes to change part of a page: counted on the writing operation.
 */
#pragma once

#include "async/async_pages.h"
#include "block/bio_mark.h"

/* Whether a bio that a followed task queues may be such a read: it reads pages of a file, and not
 * for a fault. */
static __always_inline bool bio_reads_for_write(struct task_state *state, __u32 opf,
						const struct bio_mark *mark)
{
	return !(opf & REQ_OP_MASK) && mark->file && mark->offset >= 0 &&
	       !(mark->flags & (TRACE_BLOCK_META | TRACE_BLOCK_DIRECT)) && !state->fault.account.op;
}

/* Whether the call in flight writes that file. A transfer reads from a different file. */
static __always_inline bool call_reads_for_write(struct task_state *state,
						 const struct bio_mark *mark)
{
	__u32 traits = calls[state->call.number & (CALL_TABLE_SIZE - 1)].traits;

	if (!state->call.account.op)
		return false;
	if (traits & CALL_TRANSFER)
		return mark->file == state->call.file2 && mark->file != state->call.account.file;
	return traits & CALL_WRITES && mark->file == state->call.account.file;
}

/* Global, so it is verified once. */
__noinline int read_for_write(struct task_state *state, struct address *bio, struct bio_mark *mark)
{
	struct page_add add = { .locked = true };

	if (!state || !bio || !mark)
		return 0;
	if (call_reads_for_write(state, mark)) {
		op_account_read_for_write(&state->call.account, mark->bytes);
		return 0;
	}
	if (!async_recorded)
		return 0;
	add.mapping =
		KFOLIO(KNUMBER, page_head(KNUMBER(bio_vec, bio_vector(bio->at), bv_page)), mapping);
	add.index = mark->offset / PAGE_BYTES;
	return async_book_read_for_write(state, &add, mark->bytes);
}
