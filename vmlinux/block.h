/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The block layer: devices, bios and requests.
 */
#pragma once

#include "fs.h"
#include "identity.h"
#include "mm.h"
#include "types.h"

struct gendisk;

struct block_device {
	struct gendisk *bd_disk;
	__u32 bd_dev;
	__u64 bd_start_sect; /* for a partition */
} CORE_STRUCT;

struct request_queue {
	const void *mq_ops; /* NULL: the driver takes bios, and there are no requests */
	struct gendisk *disk;
} CORE_STRUCT;

struct block_device_operations {
	void *submit_bio;
} CORE_STRUCT;

/* Before 5.17, the other value. */
#define GENHD_FL_HIDDEN 0x2u
#define GENHD_FL_HIDDEN_OLD 0x400u

struct gendisk {
	char disk_name[32];
	struct block_device *part0;
	const struct block_device_operations *fops;
	int flags;
	struct request_queue *queue;
	void *private_data;
	__u64 diskseq; /* since 5.15 */
} CORE_STRUCT;

/* A namespace of NVMe; these may be in a module. */
struct nvme_ns {
	struct gendisk *disk;
	struct nvme_ns_head *head;
} CORE_STRUCT;

struct nvme_ns_head {
	struct gendisk *disk; /* the one that programs use; NULL: the namespace has a single path */
} CORE_STRUCT;

/* A piece of a bio's memory, which may span pages that are adjacent in memory. */
struct bio_vec {
	struct page *bv_page;
	unsigned int bv_len;
	unsigned int bv_offset;
} CORE_STRUCT;

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
	unsigned int bi_bvec_done;
} CORE_STRUCT;

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	struct bvec_iter bi_iter;
	void *bi_end_io;
	void *bi_private;
	struct bio_vec *bi_io_vec;
} CORE_STRUCT;

/* Since 7.3, replaces bi_bvec_done; also 0 at the start of a page. */
struct bio___offset {
	struct {
		unsigned int bi_offset;
	} bi_iter;
} CORE_STRUCT;

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int rq_flags;
	unsigned int __data_len;
	__u64 __sector;
	struct bio *bio;
	struct block_device *part;
	__u64 start_time_ns;	/* creation */
	__u64 io_start_time_ns; /* when the driver got it; 0 if the queue keeps no statistics */
} CORE_STRUCT;

/* Before 5.17 the disk is here, and before 5.15 it is not in the queue. */
struct request___disk {
	struct gendisk *rq_disk;
} CORE_STRUCT;

/* Relocated: the values differ between kernels. */
enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
	__REQ_SWAP = 24,
};

/* Relocated, too; the type's name since and before 6.0. */
enum req_op {
	REQ_OP_ZONE_APPEND,
};

enum req_opf {
	REQ_OP_ZONE_APPEND___old,
};

/* Operation of a bio, in the low byte of bi_opf. These values have never changed. */
#define REQ_OP_MASK 0xff
#define REQ_OP_WRITE 1
#define REQ_OP_FLUSH 2
#define REQ_OP_DISCARD 3
#define REQ_OP_DRV_IN 34
#define REQ_OP_DRV_OUT 35

/* --- O_DIRECT; these may be in modules: read with bpf_core_read --- */

struct iomap_dio {
	struct kiocb *iocb;
	long long size; /* submitted so far */
	struct {
		struct task_struct *waiter; /* NULL: the call does not wait */
	} submit;
} CORE_STRUCT;

/* A read that needs only one bio, since 7.3. */
struct iomap_dio_simple {
	struct kiocb *iocb;
	struct bio bio;
} CORE_STRUCT;

/* Direct I/O on a block device. */
#define BLKDEV_DIO_IS_SYNC 2
struct blkdev_dio {
	struct kiocb *iocb; /* or the waiting task */
	unsigned int flags;
	struct bio bio; /* the first one */
} CORE_STRUCT;

/* Before 5.16. */
struct blkdev_dio___bits {
	bool is_sync : 1;
} CORE_STRUCT;

/* --- who waits for a bio, or has submitted it --- */

struct swait_queue_head {
	struct list_head task_list;
} CORE_STRUCT;

struct completion {
	struct swait_queue_head wait;
} CORE_STRUCT;

struct swait_queue {
	struct task_struct *task;
	struct list_head task_list;
} CORE_STRUCT;

/* A libaio operation, and its context. */
struct io_event {
	__u64 obj; /* address of the iocb in the program's memory */
} CORE_STRUCT;

struct kioctx {
	struct file *aio_ring_file; /* completions, mapped by the program */
} CORE_STRUCT;

struct aio_kiocb {
	struct kioctx *ki_ctx;
	struct io_event ki_res;
} CORE_STRUCT;

struct btrfs_bio {
	struct btrfs_inode *inode;
	__u64 file_offset;
	void *private; /* direct I/O: the iomap_dio */
	struct bio bio;
} CORE_STRUCT;
