/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * File systems whose inodes do not identify a file by themselves. They may be modules: their fields
 * are read by bpf_core_read, because bpf_rdonly_cast only supports types of the kernel itself.
 */
#pragma once

#include "fs.h"
#include "types.h"

struct ovl_path {
	struct dentry *dentry;
} CORE_STRUCT;

struct ovl_entry {
	unsigned int __numlower;
	struct ovl_path __lowerstack[1];
} CORE_STRUCT;

struct ovl_inode {
	struct inode vfs_inode;
	struct dentry *__upperdentry;
	struct ovl_entry *oe; /* since 6.5 (0af950f57fef) */
} CORE_STRUCT;

/* Since 6.0 (ffa5723c6d25). */
struct ovl_inode___path {
	struct ovl_path lowerpath;
} CORE_STRUCT;

/* Before 6.0. */
struct ovl_inode___lower {
	struct inode *lower;
} CORE_STRUCT;

struct fuse_inode {
	struct inode inode;
	__u64 nodeid;
} CORE_STRUCT;

struct btrfs_root {
	__u32 anon_dev;
} CORE_STRUCT;

struct btrfs_inode {
	struct btrfs_root *root;
	struct inode vfs_inode;
} CORE_STRUCT;
