/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Table of operations that outlive the call that submits them.
 */
#pragma once

#include "core/addr_table.h"
#include "core/ring.h"
#include "core/state.h"

/* `context` and `user_data` distinguish it from an earlier operation at the same address. */
struct async_operation {
	struct op_account account;
	__u64 context; /* the ring; for an iocb, the context as the program sees it */
	__u64 user_data;
	__u64 requested_bytes;
	struct owner owner;
	__u32 file2; /* id, like account.file; 0: none, or not known yet */
	__u32 fd;
	__u32 slot; /* registered file that it opens or closes, counted from 1 */
	struct async_row row;
};

extern bool async_overfull; /* an operation in flight found no room */

#define ASYNC_SLOTS_LOG 12

struct async_slot {
	struct async_key key; /* address 0: free */
	struct async_operation operation;
};

ADDR_TABLE(async_slots, struct async_slot, ASYNC_SLOTS_LOG)
/* Bounded: an operation without room is counted at its completion, and its record is lost. */
ADDR_OVERFLOW(async_flight, struct async_key, struct async_operation, ASYNC_FLIGHT_MAX)

static __always_inline struct async_slot *async_slot(const struct async_key *key)
{
	return async_slots_at(lower_half(key->address) ^ lower_half(key->mm));
}

static __always_inline bool async_slot_matches(const struct async_slot *slot,
					       const struct async_key *key)
{
	return slot->key.address == key->address && slot->key.mm == key->mm;
}

/* Returns the operation with that key, which must be on the stack, or NULL. */
static __always_inline struct async_operation *async_find(struct async_key *key)
{
	struct async_slot *slot = async_slot(key);

	if (slot && async_slot_matches(slot, key))
		return &slot->operation;
	return async_flight_find(key);
}

/* These functions are global, so each is verified once. Puts an operation without a slot into the
 * hash. Returns nonzero if there is no room. */
__noinline int async_put_overflow(struct async_key *key, struct async_operation *operation)
{
	struct async_operation *copy; /* up to 6.1, maps reject memory passed as an argument */
	struct async_key at;
	int status = -1;

	if (!key || !operation)
		return -1;
	copy = scratch_get();
	if (copy) {
		at = *key;
		*copy = *operation;
		status = async_flight_put(&at, copy);
		scratch_put(copy);
	}
	if (status < 0)
		async_overfull = true;
	return status < 0;
}

/* Stores an operation, replacing one with the same key. Returns nonzero if there is no room. */
__noinline int async_put(struct async_key *key, struct async_operation *operation)
{
	struct async_slot *slot;

	if (!key || !operation)
		return -1;
	slot = async_slot(key);
	if (!slot || !(async_slot_matches(slot, key) ||
		       !__sync_val_compare_and_swap(&slot->key.address, 0, key->address)))
		return async_put_overflow(key, operation);
	slot->operation = *operation;
	__sync_lock_test_and_set(&slot->key.mm, key->mm); /* after the operation */
	return 0;
}

#define ASYNC_NO_MM (~0ull)

/* The paths of an operation in flight, one after the other. If there is no entry, there were too
 * many of them, and the paths are cut. */
struct async_names {
	__u32 dir, dir2;
	__u16 bytes, bytes2;
	char text[2 * EVENT_ASYNC_PATH_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_NAMES_MAX);
	__type(key, struct async_key);
	__type(value, struct async_names);
} async_names SEC(".maps");

/* Removes an operation. */
__noinline int async_remove(struct async_key *key)
{
	struct async_slot *slot;
	struct async_key at;

	if (!key)
		return 0;
	at = *key;
	slot = async_slot(&at);
	if (slot && async_slot_matches(slot, &at)) {
		if (slot->operation.row.shape >= ASYNC_OPEN)
			bpf_map_delete_elem(&async_names, &at);
		/* A new user of the slot has no owner until all fields are stored. */
		slot->operation.owner.pid = 0;
		slot->key.mm = ASYNC_NO_MM;
		__sync_lock_test_and_set(&slot->key.address, 0); /* last */
		return 0;
	}
	if (async_flight_count) {
		async_flight_remove(&at);
		bpf_map_delete_elem(&async_names, &at);
	}
	return 0;
}

/* Processes that may have operations in flight when they exit. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, ASYNC_USERS_MAX);
	__type(key, __u32);
	__type(value, __u32);
} async_users SEC(".maps");
