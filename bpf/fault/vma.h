/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Finds the mapping at an address without the lock, by walking the tree of mappings: a maple tree,
 * or before 6.1 a red-black tree. A concurrent change can make it miss; it never returns a mapping
 * that does not contain the address.
 *
 * bpf_find_vma takes the lock, costs ten times as much and fails if another thread holds the lock.
 */
#pragma once

#include "core/state.h"

/* As in include/linux/maple_tree.h: the low bits of a node's address hold its type. */
#define MAPLE_NODE_MASK 255ull
#define MAPLE_TYPE_SHIFT 3
#define MAPLE_TYPE_MASK 15
#define MAPLE_LEAF_64 1
#define MAPLE_ARANGE_64 3
#define MAPLE_DEPTH_MAX 12
#define RB_DEPTH_MAX 64
#define MAPLE_PIVOTS 15
#define MAPLE_ARANGE_PIVOTS 9

struct vma_walk { /* of either tree */
	__u64 address;
	__u64 entry;
	__u64 pivots[MAPLE_PIVOTS];
};

/* 1 for 0, 0 for any other number. Branchless: the verifier follows both sides of each branch. */
static __always_inline __u64 is_zero(__u64 number)
{
	BARRIER_VAR(number);
	return ((number - 1) & ~number) >> 63;
}

/*
 * Returns the number of pivots below the address. A pivot of 0 ends a node that is not full;
 * anything may follow it. Mappings are in the lower half of the address space, so the top bit of a
 * difference shows which number is smaller. Global, so it is verified once instead of at each step.
 */
__noinline __u32 maple_pivots_below(const struct vma_walk *walk, __u64 is_arange)
{
	__u64 below = 1, count = 0;

	if (!walk)
		return 0;
#pragma unroll
	for (__u32 i = 0; i < MAPLE_PIVOTS; i++) {
		__u64 pivot = walk->pivots[i] - 1;

		if (i == MAPLE_ARANGE_PIVOTS)
			below &= ~is_arange;
		below &= ((pivot - (walk->address - 1)) & ~pivot) >> 63;
		count += below;
	}
	return count;
}

static long maple_step(__u32 i, struct vma_walk *walk)
{
	__u64 type = (walk->entry >> MAPLE_TYPE_SHIFT) & MAPLE_TYPE_MASK;
	__u64 is_arange = is_zero(type ^ MAPLE_ARANGE_64), next = 0, slots;
	__u64 node = walk->entry & ~MAPLE_NODE_MASK;

	walk->entry = 0;
	if (bpf_probe_read_kernel(
		    walk->pivots, sizeof(walk->pivots),
		    (void *)(node + bpf_core_field_offset(struct maple_range_64, pivot))))
		return 1;
	slots = node + bpf_core_field_offset(struct maple_range_64, slot) -
		is_arange * (bpf_core_field_offset(struct maple_range_64, slot) -
			     bpf_core_field_offset(struct maple_arange_64, slot));
	slots += maple_pivots_below(walk, is_arange) * sizeof(next);
	bpf_probe_read_kernel(&next, sizeof(next), (void *)slots);
	walk->entry = next;
	return is_zero(type ^ MAPLE_LEAF_64) | is_zero(next);
}
LOOP_STEP(maple_step)

/* Walks a red-black tree: the entries are mappings. */
static long rb_step(__u32 i, struct vma_walk *walk)
{
	__u64 offset = bpf_core_field_offset(struct vm_area_struct___rb, vm_rb), next = 0;
	struct rb_node *node = (struct rb_node *)(walk->entry + offset);

	if (walk->address < KREAD(vm_area_struct, walk->entry, vm_start))
		bpf_core_read(&next, sizeof(next), &node->rb_left);
	else if (walk->address >= KREAD(vm_area_struct, walk->entry, vm_end))
		bpf_core_read(&next, sizeof(next), &node->rb_right);
	else
		return 1;
	walk->entry = next ? next - offset : 0;
	return !next;
}
LOOP_STEP(rb_step)

/* Walks the tree of `mm` once. Global, so it is verified once. */
__noinline __u64 vma_walk(__u64 mm, __u64 address)
{
	struct vma_walk walk = { .address = address };
	__u64 vma;

	if (!mm)
		return 0;
	/* Read as a number: the verifier allows no bit operations on pointers. */
	if (bpf_core_field_exists(struct mm_struct, mm_mt)) {
		bpf_core_read(&walk.entry, sizeof(walk.entry),
			      &((struct mm_struct *)mm)->mm_mt.ma_root);
		if ((walk.entry & 3) != 2) /* the root is a node, not a single entry */
			return 0;
		LOOP(MAPLE_DEPTH_MAX, maple_step, &walk);
	} else {
		bpf_core_read(&walk.entry, sizeof(walk.entry),
			      &((struct mm_struct___rb *)mm)->mm_rb.rb_node);
		if (!walk.entry)
			return 0;
		walk.entry -= bpf_core_field_offset(struct vm_area_struct___rb, vm_rb);
		LOOP(RB_DEPTH_MAX, rb_step, &walk);
	}
	vma = walk.entry;
	if (!vma || (vma & 3))
		return 0;
	if (address < KREAD(vm_area_struct, vma, vm_start) ||
	    address >= KREAD(vm_area_struct, vma, vm_end))
		return 0;
	return vma;
}

/* Returns the address of a task's mapping, or 0. Repeats a walk that fails, because another thread
 * may have changed the tree. */
static __always_inline __u64 vma_of_task_at(struct task_struct *task, __u64 address)
{
	__u64 mm = KNUMBER(task_struct, task, mm), vma = vma_walk(mm, address);

	if (!vma)
		vma = vma_walk(mm, address);
	return vma ? vma : vma_walk(mm, address);
}

static __always_inline __u64 vma_at(__u64 address)
{
	return vma_of_task_at(bpf_get_current_task_btf(), address);
}

static __always_inline bool vma_holds(__u64 vma, __u64 address, struct mm_struct *mm)
{
	return vma && address >= KREAD(vm_area_struct, vma, vm_start) &&
	       address < KREAD(vm_area_struct, vma, vm_end) &&
	       KREAD(vm_area_struct, vma, vm_mm) == mm;
}

/* For kernels with reference-counted mappings. Returns the recently faulted mapping that contains
 * the address and belongs to `mm`; searches for it if there is none. The memory of a freed mapping
 * may have been reused, even by the same process; the count tells. */
static __always_inline __u64 vma_counted(struct task_state *state, __u64 address,
					 struct mm_struct *mm)
{
	__u64 vma;

	for (int i = 0; i < KNOWN_VMAS; i++) {
		vma = state->known_vmas[i];
		if (vma_holds(vma, address, mm) &&
		    KREAD(vm_area_struct___count, vma, vm_refcnt.refs.counter))
			return vma;
	}
	vma = vma_at(address);
	state->known_vmas[state->known_vmas_next++ & (KNOWN_VMAS - 1)] = vma;
	return vma;
}

/* For other kernels: the last faulted mapping is still valid if the kernel's sequence count for
 * mapping changes has not moved. The fault held a lock on its mapping, so it has seen every change
 * that was counted. */
static __always_inline __u64 vma_unchanged(struct task_state *state, __u64 address,
					   struct mm_struct *mm)
{
	__u32 sequence = KREAD(mm_struct___sequence, mm, mm_lock_seq.sequence);
	__u64 vma = state->known_vmas[0];

	if (state->known_vmas_sequence == sequence && vma_holds(vma, address, mm))
		return vma;
#ifndef __TARGET_ARCH_x86
	/* The count must be read before the search for the mapping. */
	__sync_lock_test_and_set(&state->known_vmas[0], 0);
#endif
	vma = vma_at(address);
	state->known_vmas[0] = sequence & 1 ? 0 : vma;
	state->known_vmas_sequence = sequence;
	return vma;
}

/*
 * Like vma_at, for an address that has just faulted: usually in a mapping of one of the task's last
 * faults.
 */
__noinline __u64 vma_of_fault(struct task_state *state, __u64 address)
{
	struct mm_struct *mm = TASK_POINTER(bpf_get_current_task_btf(), mm);

	if (!state)
		return 0;
	if (mm && bpf_core_field_exists(struct vm_area_struct___count, vm_refcnt.refs.counter))
		return vma_counted(state, address, mm);
	if (mm && bpf_core_field_exists(struct mm_struct___sequence, mm_lock_seq.sequence))
		return vma_unchanged(state, address, mm);
	return vma_at(address);
}

static __always_inline struct vm_area_struct *vma_find(__u64 address)
{
	return (struct vm_area_struct *)vma_at(address);
}
