/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files of a layer, and the file of an overlay that each serves: what comes into the cache of the
 * one, or is written back from it, is told under the other, which is what was opened. Knows nothing
 * of paths.
 */
#ifndef FAULTLINE_BPF_LAYER_H
#define FAULTLINE_BPF_LAYER_H

#include "identity.h"

/* One that does not fit in goes by its own name. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct file_key);
	__type(value, __u32); /* id of the overlay's file; of several, the one that was met last */
} layer_files SEC(".maps");

extern volatile bool layers_met; /* the map is not empty */

/* An overlay's file is met: the file of a layer that holds its data serves it from now on. */
__noinline int layer_link(struct address *overlay, __u32 id)
{
	struct file_key key = {}; /* on the stack: up to 6.1 a map takes no other */
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
	inode_key(&key, real); /* calls go no deeper than this */
	known = bpf_map_lookup_elem(&layer_files, &key);
	if (known && *known == id)
		return 0;
	bpf_map_update_elem(&layer_files, &key, &id, BPF_ANY);
	layers_met = true;
	return 0;
}

/* The id of the overlay's file that an inode serves; 0: none that was met. */
__noinline __u32 layer_serves(struct address *layer)
{
	struct file_key key = {};
	__u32 *id;

	if (!layer || !layers_met)
		return 0;
	file_key_of(&key, layer);
	id = bpf_map_lookup_elem(&layer_files, &key);
	return id ? *id : 0;
}

#endif
