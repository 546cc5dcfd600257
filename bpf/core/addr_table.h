/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables of kernel objects by address, or by another number that identifies them. The number
 * selects a slot in an array, at a tenth of the cost of a hash lookup. If the slot is taken, a new
 * object replaces the old one, or goes into a hash, which is not searched while it is empty.
 */
#pragma once

#include "core/kernel.h"

/* Defines the array, and TABLE_at(number). */
#define ADDR_TABLE(table, slot_type, slots_log)                                                    \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                  \
		__uint(max_entries, 1 << (slots_log));                                             \
		__type(key, __u32);                                                                \
		__type(value, slot_type);                                                          \
	} table SEC(".maps");                                                                      \
                                                                                                   \
	static __always_inline slot_type *table##_at(__u64 number)                                 \
	{                                                                                          \
		/* 2^64 / golden ratio */                                                          \
		__u32 at = number * 0x9e3779b97f4a7c15 >> (64 - (slots_log));                      \
                                                                                                   \
		return bpf_map_lookup_elem(&table, &at);                                           \
	}

/*
 * Defines a hash for objects without a slot, and HASH_count, the number of its entries. Keys and
 * values must be on the stack or in a map: up to 6.1, maps accept no memory that was passed as an
 * argument.
 *
 * HASH_put() returns 0, 1 if it replaced an entry, or -1 without room; HASH_remove() returns
 * whether there was one.
 */
#define ADDR_OVERFLOW(hash, key_type, value_type, entries)                                         \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_HASH);                                                   \
		__uint(max_entries, entries);                                                      \
		__type(key, key_type);                                                             \
		__type(value, value_type);                                                         \
	} hash SEC(".maps");                                                                       \
                                                                                                   \
	extern volatile __u64 hash##_count;                                                        \
                                                                                                   \
	static __always_inline value_type *hash##_find(key_type *key)                              \
	{                                                                                          \
		return hash##_count ? bpf_map_lookup_elem(&hash, key) : NULL;                      \
	}                                                                                          \
                                                                                                   \
	static __always_inline int hash##_put(key_type *key, value_type *value)                    \
	{                                                                                          \
		if (!bpf_map_update_elem(&hash, key, value, BPF_NOEXIST)) {                        \
			__sync_fetch_and_add(&hash##_count, 1);                                    \
			return 0;                                                                  \
		}                                                                                  \
		return bpf_map_update_elem(&hash, key, value, BPF_ANY) ? -1 : 1;                   \
	}                                                                                          \
                                                                                                   \
	static __always_inline bool hash##_remove(key_type *key)                                   \
	{                                                                                          \
		if (bpf_map_delete_elem(&hash, key))                                               \
			return false;                                                              \
		__sync_fetch_and_add(&hash##_count, -1);                                           \
		return true;                                                                       \
	}
