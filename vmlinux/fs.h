/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Files, their names and their mounts.
 */
#pragma once

#include "types.h"

struct backing_dev_info {
	__u64 id; /* counted up; 0: of file systems in memory, which share one */
	unsigned int capabilities;
	unsigned long ra_pages;
} CORE_STRUCT;

#define BDI_CAP_WRITEBACK 1u

struct file_system_type {
	const char *name;
} CORE_STRUCT;

struct super_block {
	__u32 s_dev;
	struct file_system_type *s_type;
	unsigned long s_magic;
	struct backing_dev_info *s_bdi;
	struct block_device *s_bdev; /* NULL: not on a block device */
	void *s_fs_info;
	const char *s_subtype;
	struct mount *s_mounts; /* since 6.18 */
} CORE_STRUCT;

/* Before 6.18. */
struct super_block___list {
	struct list_head s_mounts;
} CORE_STRUCT;

/* The private part of a tmpfs superblock. */
struct shmem_sb_info {
	unsigned long max_blocks; /* pages; 0: no limit */
} CORE_STRUCT;

struct rw_semaphore {
	struct {
		__u64 counter;
	} owner; /* the writer, or a reader with bit 0 set; missing on PREEMPT_RT */
} CORE_STRUCT;

#define RWSEM_NONSPINNABLE 2ull

struct hlist_node {
	struct hlist_node **pprev;
} CORE_STRUCT;

struct hlist_head {
	struct hlist_node *first;
} CORE_STRUCT;

struct inode {
	__u16 i_mode;
	unsigned int i_flags;
	struct super_block *i_sb;
	unsigned long i_ino;
	unsigned int i_nlink;
	__u8 i_blkbits;
	__u32 i_rdev;
	long long i_size;
	__u32 i_generation;
	struct rw_semaphore i_rwsem;
	struct hlist_head i_dentry;
	struct address_space *i_mapping;
	void *i_private;
} CORE_STRUCT;

struct rb_node {
	struct rb_node *rb_right, *rb_left;
} CORE_STRUCT;

struct rb_root_cached {
	struct rb_node *rb_leftmost;
} CORE_STRUCT;

struct address_space {
	struct inode *host;
	struct rb_root_cached i_mmap;
} CORE_STRUCT;

struct qstr {
	__u32 hash;
	const unsigned char *name;
} CORE_STRUCT;

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} CORE_STRUCT;

struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	struct super_block *d_sb;
	void *d_fsdata;
	union {
		struct {
			void *next;
		} d_alias;
	} d_u;
} CORE_STRUCT;

/* Since 7.1 the union is anonymous. */
struct dentry___anonymous {
	struct {
		void *next;
	} d_alias;
} CORE_STRUCT;

struct vfsmount {
	struct dentry *mnt_root;
} CORE_STRUCT;

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	const char *mnt_devname;
	struct mount *mnt_next_for_sb; /* since 6.18 */
} CORE_STRUCT;

/* Before 6.18: in the list of s_mounts. */
struct mount___list {
	struct list_head mnt_instance;
} CORE_STRUCT;

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} CORE_STRUCT;

/* A path that is being looked up. */
struct nameidata {
	struct path path; /* so far */
} CORE_STRUCT;

struct file {
	unsigned int f_mode;
	unsigned int f_flags;
	long long f_pos;
	struct path f_path;
	struct inode *f_inode;
	struct address_space *f_mapping;
	void *private_data;
} CORE_STRUCT;

/* A read or write in flight. */
struct kiocb {
	struct file *ki_filp;
	long long ki_pos;
	int ki_flags;
} CORE_STRUCT;

#define IOCB_APPEND 0x10

/* The file in a mapping of an overlay file since 6.5 (def3ae83da02): the layer's file, and the path
 * that the user opened. 6.8 (a535116d8033) renamed real_path to user_path. */
struct backing_file {
	struct file file;
	struct path user_path;
} CORE_STRUCT;

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
} CORE_STRUCT;

struct files_struct {
	struct fdtable *fdt;
} CORE_STRUCT;

struct fs_struct {
	struct path root;
	struct path pwd;
} CORE_STRUCT;
