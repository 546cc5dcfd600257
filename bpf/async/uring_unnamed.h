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

struct uring_id {
	__u64 ring, user_data;
};

#define URING_SAME_MAX 32  /* in flight with the same user data; a power of two */
#define URING_UNSEEN_MAX 4 /* whose ends were missed, before one that is in flight */

/* Their numbers count up; each request is at its number. */
struct uring_same {
	__u32 first, next;
	__u64 requests[URING_SAME_MAX];
};

/* From submission to the last completion. Nothing is evicted: a request without room is lost as a
 * whole, and counted. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_UNNAMED_MAX);
	__type(key, struct uring_id);
	__type(value, struct uring_same);
} uring_unnamed SEC(".maps");

static const volatile struct uring_same uring_none = {};

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

/* Returns nonzero if there is no room. */
static __noinline int uring_unnamed_put(struct async_key *key)
{
	void *request = (void *)key->address;
	struct uring_id id = { (__u64)KREAD(io_kiocb, request, ctx), uring_user_data(request) };
	struct uring_same *same = bpf_map_lookup_elem(&uring_unnamed, &id);
	__u32 number;

	if (!same) {
		bpf_map_update_elem(&uring_unnamed, &id, (void *)&uring_none, BPF_NOEXIST);
		same = bpf_map_lookup_elem(&uring_unnamed, &id);
	}
	if (!same || same->next - same->first >= URING_SAME_MAX)
		return -1;
	number = __sync_fetch_and_add(&same->next, 1);
	same->requests[number & (URING_SAME_MAX - 1)] = (__u64)request;
	return 0;
}

/* Finds the request that a completion is of. Returns false if there is none. */
static __noinline int uring_unnamed_take(struct uring_end *end, struct async_key *key)
{
	struct uring_id id = { end->ring, end->user_data };
	struct uring_same *same = bpf_map_lookup_elem(&uring_unnamed, &id);
	bool more = end->flags & IORING_CQE_F_MORE, found = false;
	struct async_operation *begun;
	struct async_key at = {};

	for (int i = 0; same && i < URING_UNSEEN_MAX && !found && same->first != same->next; i++) {
		at.address = same->requests[same->first & (URING_SAME_MAX - 1)];
		begun = async_find(&at);
		found = begun && begun->context == id.ring && begun->user_data == id.user_data;
		if (!found || !more)
			__sync_fetch_and_add(&same->first, 1);
	}
	if (same && same->first == same->next)
		bpf_map_delete_elem(&uring_unnamed, &id);
	key->address = at.address;
	return found;
}
