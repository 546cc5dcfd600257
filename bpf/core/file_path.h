/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The path of a file, from the leaf to the root: its names, or a hash that changes when the file or
 * a directory above it is renamed.
 */
#pragma once

#include "core/identity.h"
#include "core/ring.h"

struct file_facts {
	struct inode *inode;
	struct dentry *dentry;
	struct vfsmount *mnt; /* NULL: only the inode is known */
};

#define PATH_COMPONENTS_MAX 2048
#define NAME_SPACE 256 /* NAME_MAX plus NUL */

/* Lives in scratch memory: what is read back from there is an unknown number to the verifier, so it
 * checks a step once and not for each combination of pointers. */
struct path_walk {
	struct dentry *dentry;
	void *mount; /* struct mount; NULL: unknown, the walk ends at the file system's root */
	struct dentry *root_dentry; /* end of the walk; NULL: the root of all mounts */
	struct vfsmount *root_mnt;
	__u32 bytes;
	__u32 hash;
	__u32 done;
	__u32 pad;
};

/* The record that describes an id, while it is being built. */
struct file_draft {
	__u8 record[sizeof(struct event_file) + EVENT_PATH_BYTES + NAME_SPACE];
	struct path_walk walk;
};

_Static_assert(sizeof(struct file_draft) <= SCRATCH_BYTES, "raise SCRATCH_BYTES");

static __always_inline void path_begin(struct path_walk *walk, const struct file_facts *facts)
{
	*walk = (struct path_walk) { .dentry = facts->dentry };
	if (facts->mnt)
		walk->mount = (void *)facts->mnt - bpf_core_field_offset(struct mount, mnt);
}

enum path_step_kind {
	PATH_NAME,  /* the dentry's name is part of the path */
	PATH_MOUNT, /* root of a mount: the walk continues at its mount point */
	PATH_END,
};

static __always_inline enum path_step_kind
path_classify(struct path_walk *walk, struct dentry *dentry, struct dentry *parent)
{
	void *mount = walk->mount, *parent_mount;

	if (!mount)
		return dentry == parent ? PATH_END : PATH_NAME;
	if (dentry == walk->root_dentry && KFIELD(mount, mount, mnt) == (void *)walk->root_mnt)
		return PATH_END;
	if (dentry != KREAD(mount, mount, mnt.mnt_root) && dentry != parent)
		return PATH_NAME;
	parent_mount = KREAD(mount, mount, mnt_parent);
	if (parent_mount == mount)
		return PATH_END;
	walk->dentry = KREAD(mount, mount, mnt_mountpoint);
	walk->mount = parent_mount;
	return PATH_MOUNT;
}

static long path_step(__u32 i, struct file_draft **context)
{
	struct file_draft *draft = *context;
	struct event_file *record = (struct event_file *)draft->record;
	struct path_walk *walk = &draft->walk;
	struct dentry *dentry = walk->dentry, *parent = KREAD(dentry, dentry, d_parent);
	__u32 at = walk->bytes;
	long length;

	switch (path_classify(walk, dentry, parent)) {
	case PATH_END:
		walk->done = 1;
		return 1;
	case PATH_MOUNT:
		return 0;
	case PATH_NAME:
		break;
	}
	if (at >= EVENT_PATH_BYTES)
		return 1;
	length = bpf_probe_read_kernel_str(record->names + (at & (EVENT_PATH_BYTES - 1)),
					   NAME_SPACE, KREAD(dentry, dentry, d_name.name));
	if (length <= 0)
		return 1;
	walk->bytes = at + length;
	walk->dentry = parent;
	return 0;
}
LOOP_STEP(path_step)

/* A name's hash is stored with the name, and also depends on the directory's dentry. */
static long path_hash_step(__u32 i, struct path_walk **context)
{
	struct path_walk *walk = *context;
	struct dentry *dentry = walk->dentry, *parent = KREAD(dentry, dentry, d_parent);

	switch (path_classify(walk, dentry, parent)) {
	case PATH_END:
		return 1;
	case PATH_MOUNT:
		return 0;
	case PATH_NAME:
		break;
	}
	walk->hash = walk->hash * 31 + KREAD(dentry, dentry, d_name.hash);
	walk->dentry = parent;
	return 0;
}
LOOP_STEP(path_hash_step)

/* Returns a hash of the path, which changes when the file or a directory above it is renamed. Never
 * 0, except if the path is unknown. Goes up to the root of all mounts, so it does not depend on the
 * caller's root. Global, so it is verified once. */
__noinline __u32 path_hash(struct file_facts *facts)
{
	struct path_walk *walk;
	__u32 hash;

	if (!facts || !facts->mnt)
		return 0;
	walk = scratch_get();
	if (!walk)
		return KREAD(dentry, facts->dentry, d_name.hash) | 1;
	path_begin(walk, facts);
	LOOP(PATH_COMPONENTS_MAX, path_hash_step, &walk);
	hash = walk->hash;
	scratch_put(walk);
	return hash | 1;
}
