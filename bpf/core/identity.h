/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Identifies a file where its inode's own number, device and generation are not enough.
 */
#pragma once

#include "core/kernel.h"
#include "vmlinux/block.h"
#include "vmlinux/identity.h"

/* The identity of a file: the inode of the name that was opened. */
struct file_key {
	__u64 ino;
	__u32 device; /* see device_key() */
	__u32 generation;
};

#define S_IFMT 0170000
#define S_IFREG 0100000

#define OVERLAYFS_MAGIC 0x794c7630
#define FUSE_MAGIC 0x65735546
#define TMPFS_MAGIC 0x01021994
#define BTRFS_MAGIC 0x9123683e

static __always_inline unsigned long inode_magic(struct inode *inode)
{
	return KREAD(super_block, KREAD(inode, inode, i_sb), s_magic);
}

/* Returns the lower layer's inode, which a copied-up file keeps as its origin; NULL if the file was
 * created in the upper layer. */
static __always_inline struct inode *overlay_lower(void *overlay)
{
	struct dentry *dentry = NULL;
	struct inode *inode = NULL;

	if (bpf_core_field_exists(struct ovl_inode, oe)) {
		struct ovl_entry *entry = NULL;
		unsigned int layers = 0;

		bpf_core_read(&entry, sizeof(entry), &((struct ovl_inode *)overlay)->oe);
		if (!entry)
			return NULL;
		bpf_core_read(&layers, sizeof(layers), &entry->__numlower);
		if (layers)
			bpf_core_read(&dentry, sizeof(dentry), &entry->__lowerstack[0].dentry);
	} else if (bpf_core_field_exists(struct ovl_inode___path, lowerpath)) {
		bpf_core_read(&dentry, sizeof(dentry),
			      &((struct ovl_inode___path *)overlay)->lowerpath.dentry);
	} else if (bpf_core_field_exists(struct ovl_inode___lower, lower)) {
		bpf_core_read(&inode, sizeof(inode), &((struct ovl_inode___lower *)overlay)->lower);
		return inode;
	}
	return dentry ? KREAD(dentry, dentry, d_inode) : NULL;
}

/* Returns the upper layer's inode; NULL if the file has not been copied up. */
static __always_inline struct inode *overlay_upper(void *overlay)
{
	struct dentry *upper = NULL;

	bpf_core_read(&upper, sizeof(upper), &((struct ovl_inode *)overlay)->__upperdentry);
	return upper ? KREAD(dentry, upper, d_inode) : NULL;
}

/* Where the node id of a FUSE inode is, from its struct inode. */
#define FUSE_NODE_OFFSET                                                                           \
	(bpf_core_field_offset(struct fuse_inode, nodeid) -                                        \
	 bpf_core_field_offset(struct fuse_inode, inode))

/* The same for programs loaded before the module fuse, and its types. Set by those of the layer
 * fuse at the first request: before there is a file. 0: unknown. */
volatile __u32 fuse_node_offset;

/* A FUSE daemon may give any inode number to any file, even 0 to all of them. The node id, which
 * kernel and daemon use in their requests, is unique while the kernel knows the file. */
static __always_inline __u32 fuse_generation(struct inode *inode)
{
	__u32 generation = KREAD(inode, inode, i_generation), offset = fuse_node_offset;
	__u64 node = 0;

	if (bpf_core_type_exists(struct fuse_inode))
		offset = FUSE_NODE_OFFSET;
	if (offset)
		bpf_probe_read_kernel(&node, sizeof(node), (void *)inode + offset);
	return generation ^ (__u32)node ^ (__u32)(node >> 32);
}

static __always_inline bool inode_derives_generation(struct inode *inode)
{
	unsigned long magic = inode_magic(inode);

	return magic == OVERLAYFS_MAGIC || magic == FUSE_MAGIC;
}

/* Returns a generation for an inode whose own is unusable. For an overlay inode it is that of the
 * inode in the first layer, which differs if a number is reused, and survives a copy-up. */
__noinline __u32 inode_derived_generation(struct address *inode)
{
	struct inode *real;
	void *overlay;

	if (!inode)
		return 0;
	if (inode_magic((struct inode *)inode->at) == FUSE_MAGIC)
		return fuse_generation((struct inode *)inode->at);
	if (!bpf_core_type_exists(struct ovl_inode))
		return 0;
	overlay = (void *)inode->at - bpf_core_field_offset(struct ovl_inode, vfs_inode);
	real = overlay_lower(overlay);
	if (!real)
		real = overlay_upper(overlay);
	return real ? KREAD(inode, real, i_generation) : 0;
}

/* Returns the layer's inode that holds the data of an overlay file. */
static __always_inline struct inode *overlay_real(struct inode *inode)
{
	struct inode *upper;
	void *overlay;

	if (!bpf_core_type_exists(struct ovl_inode))
		return NULL;
	overlay = (void *)inode - bpf_core_field_offset(struct ovl_inode, vfs_inode);
	upper = overlay_upper(overlay);
	return upper ? upper : overlay_lower(overlay);
}

static __always_inline __u32 inode_generation(struct inode *inode)
{
	struct address address = { (__u64)inode };

	if (inode_derives_generation(inode))
		return inode_derived_generation(&address);
	return KREAD(inode, inode, i_generation);
}

/* Returns the device as stat reports it. A btrfs subvolume has a device of its own, and a snapshot
 * differs from its origin in nothing else. */
static __always_inline __u32 inode_dev(struct inode *inode)
{
	if (inode_magic(inode) == BTRFS_MAGIC && bpf_core_type_exists(struct btrfs_inode)) {
		void *btrfs = (void *)inode - bpf_core_field_offset(struct btrfs_inode, vfs_inode);
		struct btrfs_root *root = NULL;
		__u32 dev = 0;

		bpf_core_read(&root, sizeof(root), &((struct btrfs_inode *)btrfs)->root);
		if (root)
			bpf_core_read(&dev, sizeof(dev), &root->anon_dev);
		if (dev)
			return dev;
	}
	return KREAD(super_block, KREAD(inode, inode, i_sb), s_dev);
}

/*
 * The number of a mount or disk that is gone becomes that of a later one: mounts without a block
 * device get the lowest free number, and a loop device is given one file after the other. An
 * instance tells them apart: a number that the kernel counts up from boot, for disks since 5.15;
 * 0: unknown.
 */
static __always_inline __u32 disk_instance(const void *disk)
{
	if (!bpf_core_field_exists(struct gendisk, diskseq))
		return 0;
	return KREAD(gendisk, disk, diskseq);
}

static __always_inline __u32 mount_read_instance(struct super_block *sb)
{
	if (KREAD(super_block, sb, s_dev) >> 20)
		return disk_instance(KREAD(block_device, KREAD(super_block, sb, s_bdev), bd_disk));
	return KREAD(backing_dev_info, KREAD(super_block, sb, s_bdi), id);
}

/* Global, so it is verified once instead of for every caller. */
__noinline __u32 mount_instance(struct address *sb)
{
	return sb ? mount_read_instance((struct super_block *)sb->at) : 0;
}

static __always_inline __u32 inode_instance(struct inode *inode)
{
	struct address sb = { (__u64)KREAD(inode, inode, i_sb) };

	return mount_instance(&sb);
}

/* A hash of a device's number and instance. */
static __always_inline __u32 device_key(__u32 dev, __u32 instance)
{
	return dev + instance * 0x85ebca6b;
}

/* Whether the files of two mounts may have the same numbers and generations, and a file of the
 * later mount the address of one of the earlier. */
static __always_inline bool inode_needs_tag(struct inode *inode)
{
	if (inode_derives_generation(inode))
		return true;
	if (KREAD(super_block, KREAD(inode, inode, i_sb), s_dev) >> 20 &&
	    KREAD(inode, inode, i_generation))
		return false;
	return inode_instance(inode) != 0;
}

/* For such a file, a hash of its generation and the instance of its mount. */
__noinline __u32 inode_tag(struct address *inode)
{
	if (!inode)
		return 0;
	return device_key(inode_generation((struct inode *)inode->at),
			  inode_instance((struct inode *)inode->at));
}

static __always_inline void inode_key(struct file_key *key, struct inode *inode)
{
	key->ino = KREAD(inode, inode, i_ino);
	key->generation = inode_generation(inode);
	key->device = device_key(inode_dev(inode), inode_instance(inode));
}

/* Global, so it is verified once instead of for every caller. */
__noinline int file_key_of(struct file_key *key, struct address *inode)
{
	if (key && inode)
		inode_key(key, (struct inode *)inode->at);
	return 0;
}

static __always_inline bool inode_is_regular(struct inode *inode)
{
	return (KREAD(inode, inode, i_mode) & S_IFMT) == S_IFREG;
}
