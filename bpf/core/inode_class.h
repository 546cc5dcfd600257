/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The type of file that an inode represents.
 */
#pragma once

#include "core/identity.h"

#define S_IFSOCK 0140000
#define S_IFBLK 0060000
#define S_IFDIR 0040000
#define S_IFCHR 0020000
#define S_IFIFO 0010000

#define ANON_INODE_FS_MAGIC 0x09041934
#define BDEVFS_MAGIC 0x62646576
#define S_PRIVATE 0x200 /* include/linux/fs.h */

static __always_inline __u32 inode_class(struct inode *inode)
{
	__u32 mode = KREAD(inode, inode, i_mode);

	if (inode_magic(inode) == ANON_INODE_FS_MAGIC)
		return FILE_CLASS_ANON; /* since 6.16 their mode says regular */
	switch (mode & S_IFMT) {
	case S_IFREG:
		return FILE_CLASS_REG;
	case S_IFDIR:
		return FILE_CLASS_DIR;
	case S_IFBLK:
		return FILE_CLASS_BLK;
	case S_IFCHR:
		return FILE_CLASS_CHR;
	case S_IFIFO:
		return FILE_CLASS_FIFO;
	case S_IFSOCK:
		return FILE_CLASS_SOCK;
	}
	return FILE_CLASS_ANON;
}

/* Global, so the verifier continues with one unknown number instead of seven results. */
__noinline __u32 inode_class_at(struct address *inode)
{
	return inode ? inode_class((struct inode *)inode->at) : FILE_CLASS_ANON;
}

static __always_inline __u32 file_class(struct inode *inode)
{
	struct address address = { (__u64)inode };

	return inode_class_at(&address);
}

/*
 * Whether the inode exists only in memory: tmpfs, ramfs, hugetlbfs, device memory. Recognised by a
 * backing device without writeback. That of block-device inodes lacks it too, although block
 * devices are written back, hence the first test.
 */
static __always_inline bool inode_in_memory(struct inode *inode)
{
	struct super_block *sb = KREAD(inode, inode, i_sb);

	if (KREAD(super_block, sb, s_magic) == BDEVFS_MAGIC)
		return false;
	return !(KREAD(backing_dev_info, KREAD(super_block, sb, s_bdi), capabilities) &
		 BDI_CAP_WRITEBACK);
}
