/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Maps files of a layer to the overlay files that they back: page-cache fills and writeback of a
 * layer's file are recorded under the overlay file, which is what was opened.
 */
#pragma once

#include "core/identity.h"

/* The files used last: those of a layer that is not among them are recorded under their own
 * names. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct file_key);
	__type(value, __u32); /* id of the overlay file; the last one used if there are several */
} overlay_files SEC(".maps");

extern volatile bool overlays_met; /* the map is not empty */

/* Records that the layer's file with its data backs an overlay file from now on. */
__noinline int overlay_link(struct address *overlay, __u32 id)
{
	struct file_key key = {}; /* on the stack: up to 6.1, maps accept no other key */
	struct inode *inode, *real;
	__u32 *known;

	if (!overlay)
		return 0;
	inode = (struct inode *)overlay->at;
	if (!inode_is_regular(inode))
		return 0;
	real = overlay_real(inode);
	if (!real)
		return 0;
	inode_key(&key, real); /* the deepest call chain ends here */
	known = bpf_map_lookup_elem(&overlay_files, &key);
	if (known && *known == id)
		return 0;
	bpf_map_update_elem(&overlay_files, &key, &id, BPF_ANY);
	overlays_met = true;
	return 0;
}

/* Returns the id of the overlay file that an inode backs; 0: none used so far. */
__noinline __u32 overlay_find(struct address *layer)
{
	struct file_key key = {};
	__u32 *id;

	if (!layer || !overlays_met)
		return 0;
	file_key_of(&key, layer);
	id = bpf_map_lookup_elem(&overlay_files, &key);
	return id ? *id : 0;
}
