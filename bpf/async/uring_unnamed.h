/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * io_uring requests that completions identify by ring and user data only: before 5.18 all, since
 * then multishot ones. Requests with the same user data are taken to complete in the order of their
 * submission.
 */
#pragma once

#include "async/uring_file.h"

struct uring_end {
	__u64 ring, user_data;
	__s64 result;
	__u32 flags; /* IORING_CQE_F_* */
};

#define URING_UNNAMED_LOG 12
#define URING_UNNAMED_PLACES 32

/* Requests in flight whose ring and user data hash to the slot, at any of its places. A place is
 * free if its operation is gone, so entries need no removal. A request without a place is lost as a
 * whole, and counted. */
struct uring_unnamed_slot {
	__u64 requests[URING_UNNAMED_PLACES]; /* 0: free */
};

ADDR_TABLE(uring_unnamed, struct uring_unnamed_slot, URING_UNNAMED_LOG)

static __always_inline __u64 uring_id(__u64 ring, __u64 user_data)
{
	return ring ^ user_data * 0x9e3779b97f4a7c15;
}

static __always_inline bool uring_names_requests(void)
{
	return bpf_core_field_exists(struct trace_event_raw_io_uring_complete, req);
}

static __always_inline bool uring_is_unnamed(void *request, const struct async_row *row)
{
	if (uring_names_requests())
		return row->traits & ASYNC_MULTISHOT;
	return !(KREAD(io_kiocb, request, flags) & REQ_CQE_SKIP);
}

/* Returns the operation at a place; NULL: it has ended, or its request is not an unnamed one. */
static __always_inline struct async_operation *uring_unnamed_find(__u64 address)
{
	struct async_key at = { .address = address };
	struct async_operation *operation = address ? async_find(&at) : NULL;

	if (operation && uring_names_requests() && !(operation->row.traits & ASYNC_MULTISHOT))
		return NULL;
	return operation;
}

struct uring_search {
	struct uring_unnamed_slot *slot;
	__u64 ring, user_data;
	__u64 address;	/* of the request: to be put, or found; 0: none yet */
	__u64 start_ns; /* of the one found */
	__u32 place;
	bool done;
};

static __always_inline bool uring_matches(const struct async_operation *operation,
					  const struct uring_search *search)
{
	return operation && operation->context == search->ring &&
	       operation->user_data == search->user_data;
}

static long uring_put_step(__u32 i, struct uring_search *search)
{
	__u64 *place = &search->slot->requests[i & (URING_UNNAMED_PLACES - 1)];
	const __u64 address = *place;

	if (address != search->address && uring_unnamed_find(address))
		return 0;
	search->done = __sync_val_compare_and_swap(place, address, search->address) == address;
	return search->done;
}
LOOP_STEP(uring_put_step)

/* Returns nonzero if there is no room. */
static __noinline int uring_unnamed_put(struct async_key *key)
{
	void *request = (void *)key->address;
	struct uring_search search = {
		.ring = KNUMBER(io_kiocb, request, ctx),
		.user_data = uring_user_data(request),
		.address = key->address,
	};

	search.slot = uring_unnamed_at(uring_id(search.ring, search.user_data));
	if (!search.slot)
		return -1;
	LOOP(URING_UNNAMED_PLACES, uring_put_step, &search);
	return search.done ? 0 : -1;
}

static long uring_take_step(__u32 i, struct uring_search *search)
{
	const __u64 address = search->slot->requests[i & (URING_UNNAMED_PLACES - 1)];
	struct async_operation *operation = uring_unnamed_find(address);

	if (!uring_matches(operation, search) ||
	    (search->done && operation->account.start_ns >= search->start_ns))
		return 0;
	search->done = true;
	search->start_ns = operation->account.start_ns;
	search->address = address;
	search->place = i;
	return 0;
}
LOOP_STEP(uring_take_step)

/* Finds the request that a completion is of: the oldest. Returns false if there is none. */
static __noinline int uring_unnamed_take(struct uring_end *end, struct async_key *key)
{
	struct uring_search search = { .user_data = end->user_data };
	struct address ring = { end->ring };

	search.ring = address_number(&ring);
	search.slot = uring_unnamed_at(uring_id(search.ring, search.user_data));
	if (!search.slot)
		return 0;
	LOOP(URING_UNNAMED_PLACES, uring_take_step, &search);
	key->address = search.address;
	if (search.done && !(end->flags & IORING_CQE_F_MORE))
		search.slot->requests[search.place & (URING_UNNAMED_PLACES - 1)] = 0;
	return search.done;
}
