/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Marks a bio when it is queued: which task queued it, and which file's bytes it carries.
 */
#pragma once

#include "block/parent_bio.h"
#include "core/file.h"

#define PAGE_MAPPING_FLAGS 3ul /* in folio.mapping: anonymous memory, or not a file */
#define BTRFS_BTREE_INODE 1    /* its page cache holds the trees */

/* Addresses of the kernel's bio completion functions, which identify what a bio belongs to. 0: the
 * kernel lacks the function, or does not reveal its address. */
extern __u64 direct_end_io, direct_simple_end_io, btrfs_end_io, btrfs_mirrored_end_io;
extern __u64 device_end_io, device_async_end_io, device_simple_end_io;
extern __u64 wait_end_io, await_end_io; /* a task waits for the bio */
/* Since 7.0 a direct call counts a bio as submitted only after it has been queued. The count is
 * then 0 at the first bio of each call, and otherwise never. */
extern bool direct_size_lags;

/* Global, so the verifier checks the code after it once per combination. */
__noinline __u32 block_flags(__u32 opf)
{
	__u32 flags = 0;

	/* Branchless: the verifier follows both sides of each branch. */
#define BLOCK_FLAG(bit, flag)                                                                      \
	flags |= -(opf >> bpf_core_enum_value(enum req_flag_bits, bit) & 1) & flag
	BLOCK_FLAG(__REQ_SYNC, TRACE_BLOCK_SYNC);
	BLOCK_FLAG(__REQ_META, TRACE_BLOCK_META);
	BLOCK_FLAG(__REQ_FUA, TRACE_BLOCK_FUA);
	BLOCK_FLAG(__REQ_PREFLUSH, TRACE_BLOCK_PREFLUSH);
	BLOCK_FLAG(__REQ_RAHEAD, TRACE_BLOCK_READAHEAD);
	BLOCK_FLAG(__REQ_SWAP, TRACE_BLOCK_SWAP);
#undef BLOCK_FLAG
	return flags;
}

/* --- finding the file --- */

/* Returns the head of a page. KNUMBER, because the verifier may see a pointer at that offset. */
static __always_inline __u64 page_head(__u64 page)
{
	__u64 head = 0;

	if (bpf_core_field_exists(struct page, compound_head))
		head = KNUMBER(page, page, compound_head);
	else if (bpf_core_field_exists(struct page___info, compound_info))
		head = KNUMBER(page___info, page, compound_info);
	if (!(head & 1))
		return page;
	return head >> 32 == 0xffffffff ? page & head : head - 1; /* no page has such an address */
}

/* Returns the id of a file that the run has used, under the name it was opened by; 0 if it has not.
 * Global, so it is verified once instead of on every path. */
__noinline __u32 file_find_interned(struct address *inode)
{
	struct file_key key = {};
	struct file_entry *entry;
	__u32 id;

	if (!inode || !inode->at)
		return 0;
	id = overlay_find(inode);
	if (id)
		return id;
	file_key_of(&key, inode);
	entry = file_find(&key);
	return entry ? entry->id & ~FILE_UNANNOUNCED : 0;
}

/* File systems keep their own blocks in the page cache of an internal inode. */
static __always_inline bool inode_holds_metadata(struct inode *inode)
{
	unsigned long magic = inode_magic(inode);

	return magic == BDEVFS_MAGIC ||
	       (magic == BTRFS_MAGIC && KREAD(inode, inode, i_ino) == BTRFS_BTREE_INODE);
}

/* `followed`: a followed task queued it, so the file belongs to the run. */
static __always_inline void bio_mark_inode(struct bio_mark *mark, struct inode *inode,
					   __u64 mapping, bool followed)
{
	struct address address = { mapping }, host = { (__u64)inode };

	if (inode_holds_metadata(inode))
		mark->flags |= TRACE_BLOCK_META;
	else
		mark->file = file_find_interned(&host);
	if (followed && !mark->file && !(mark->flags & TRACE_BLOCK_META))
		mark->file = file_id_of_mapping(&address);
}

/* Returns the bio_vec in which the bio starts. */
static __always_inline struct bio_vec *bio_vector(__u64 bio)
{
	/* As a number: up to 6.8, pointers allow no arithmetic with what has no known bounds. */
	return (void *)KNUMBER(bio, bio, bi_io_vec) +
	       KREAD(bio, bio, bi_iter.bi_idx) * bpf_core_type_size(struct bio_vec);
}

/* Whether the bio starts in a page of neither a file nor a program: the file system's own
 * memory. */
static __always_inline bool bio_is_internal(__u64 bio)
{
	__u64 page = KNUMBER(bio_vec, bio_vector(bio), bv_page);

	return page && !KFOLIO(KREAD, page_head(page), mapping);
}

/*
 * These three functions are global, so each is verified once instead of on every path.
 *
 * Marks by the page in which the bio starts.
 */
__noinline int bio_mark_by_page(struct bio_mark *mark, struct address *bio, bool followed)
{
	__u64 page, mapping, head;
	struct bio_vec *vector;
	struct inode *inode;
	__s64 done;

	if (!mark || !bio)
		return 0;
	vector = bio_vector(bio->at);
	page = KNUMBER(bio_vec, vector, bv_page);
	if (!page)
		return 0;
	head = page_head(page);
	mapping = KFOLIO(KNUMBER, head, mapping);
	if (!mapping || mapping & PAGE_MAPPING_FLAGS)
		return 0;
	inode = KREAD(address_space, mapping, host);
	if (!inode)
		return 0;
	bio_mark_inode(mark, inode, mapping, followed);
	done = bio_vector_done_bytes(bio->at);
	if (done < 0)
		return 0;
	mark->offset =
		(KFOLIO(KREAD, head, index) + (page - head) / bpf_core_type_size(struct page)) *
			PAGE_BYTES +
		KREAD(bio_vec, vector, bv_offset) + done;
	return 0;
}

/* Zeros that the kernel writes before and after a direct write to part of a new block. They are not
 * part of what the call has submitted, which may still be 0. */
static __always_inline bool bio_fills_block(const struct bio_mark *mark, __u64 bio,
					    struct file *file)
{
	__u8 bits = KREAD(inode, KREAD(file, file, f_inode), i_blkbits);

	return mark->bytes < 1u << (bits & 31) && bio_is_internal(bio);
}

/* Returns 8 bytes of kernel memory as a number, whatever struct they belong to: the fast path
 * supports only structs of the kernel itself, and others are in modules. */
static __always_inline __u64 number_at(__u64 at)
{
	return KREAD(bvec_iter, at, bi_sector);
}

/* A field of at most 8 bytes in a struct that a module may define. */
#define NUMBER_OF(s, p, f) number_at((__u64)(p) + bpf_core_field_offset(struct s, f))

/* Marks with the file of direct I/O, found by its iocb; NULL if there is none. `state`: of the task
 * that queues the bio, if it is followed; holds the files used last. */
static __always_inline struct file *bio_mark_by_iocb(struct bio_mark *mark, struct kiocb *iocb,
						     struct task_state *state)
{
	struct file *file = KREAD(kiocb, iocb, ki_filp);
	struct file_facts facts = {};
	struct known_file *known;
	struct address inode;

	if (!file)
		return NULL;
	mark->flags |= TRACE_BLOCK_DIRECT;
	known = state ? file_known(state, (__u64)file, KREAD(file, file, f_inode)) : NULL;
	if (known) {
		mark->file = known->id;
		return file;
	}
	file_facts_of(file, &facts);
	inode.at = (__u64)facts.inode;
	mark->file = file_find_interned(&inode);
	if (state && !mark->file)
		mark->file = file_id(&facts, false) & ~FILE_UNANNOUNCED;
	return file;
}

/* Marks by the control block of a direct call, which a bio of ext4, xfs and similar points to. */
__noinline int bio_mark_by_direct(struct bio_mark *mark, struct address *bio,
				  struct task_state *state)
{
	struct file *file;
	long long size;
	__u64 block;
	void *iocb;

	if (!mark || !bio || !bpf_core_type_exists(struct iomap_dio))
		return 0;
	block = (__u64)KREAD(bio, bio->at, bi_private);
	iocb = (void *)NUMBER_OF(iomap_dio, block, iocb);
	size = NUMBER_OF(iomap_dio, block, size);
	file = bio_mark_by_iocb(mark, iocb, state);
	if (!file || bio_fills_block(mark, bio->at, file))
		return 0;
	if (!size)
		direct_size_lags = true;
	mark->offset = KREAD(kiocb, iocb, ki_pos) + size - (direct_size_lags ? 0 : mark->bytes);
	return 0;
}

/* The same if the call has only one bio, which is part of its control block. */
__noinline int bio_mark_by_simple(struct bio_mark *mark, struct address *bio,
				  struct task_state *state)
{
	__u64 block;
	void *iocb;

	if (!mark || !bio || !bpf_core_type_exists(struct iomap_dio_simple))
		return 0;
	block = bio->at - bpf_core_field_offset(struct iomap_dio_simple, bio);
	iocb = (void *)NUMBER_OF(iomap_dio_simple, block, iocb);
	if (bio_mark_by_iocb(mark, iocb, state))
		mark->offset = KREAD(kiocb, iocb, ki_pos);
	return 0;
}

/* The control block of direct I/O on a block device. */
struct device_dio {
	__u64 iocb; /* of a synchronous call: the waiting task */
	bool sync;
};

/* `first`: the bio is part of the control block. */
static __always_inline struct device_dio device_dio(__u64 bio, bool first)
{
	struct device_dio dio = {};
	__u64 block;

	if (!bpf_core_type_exists(struct blkdev_dio))
		return dio;
	if (first)
		block = bio - bpf_core_field_offset(struct blkdev_dio, bio);
	else
		block = (__u64)KREAD(bio, bio, bi_private);
	dio.iocb = NUMBER_OF(blkdev_dio, block, iocb);
	if (bpf_core_field_exists(struct blkdev_dio, flags))
		dio.sync = (__u32)NUMBER_OF(blkdev_dio, block, flags) & BLKDEV_DIO_IS_SYNC;
	else
		dio.sync =
			BPF_CORE_READ_BITFIELD_PROBED((struct blkdev_dio___bits *)block, is_sync);
	return dio;
}

/* The same for a block device, where the sector gives the offset. `first`: the bio is part of its
 * call's control block. Returns whether it found the file: synchronous calls have no iocb here, and
 * the caller uses the call's own file. */
__noinline int bio_mark_by_device(struct bio_mark *mark, struct address *bio, bool first,
				  struct task_state *state)
{
	struct device_dio dio;
	__u64 start;

	if (!mark || !bio)
		return 0;
	dio = device_dio(bio->at, first);
	if (dio.sync || !bio_mark_by_iocb(mark, (void *)dio.iocb, state))
		return 0;
	start = KREAD(block_device, KREAD(bio, bio->at, bi_bdev), bd_start_sect);
	mark->offset = (KREAD(bio, bio->at, bi_iter.bi_sector) - start) * TRACE_SECTOR_BYTES;
	return 1;
}

/* Marks by the btrfs struct around the bio. Returns whether it found the file. */
__noinline int bio_mark_by_btrfs(struct bio_mark *mark, struct address *bio, bool followed)
{
	struct btrfs_inode *owner = NULL;
	struct inode *inode;
	void *around;

	if (!mark || !bio || !bpf_core_type_exists(struct btrfs_bio) ||
	    !bpf_core_field_exists(struct btrfs_bio, inode))
		return 0;
	around = (void *)bio->at - bpf_core_field_offset(struct btrfs_bio, bio);
	bpf_core_read(&owner, sizeof(owner), &((struct btrfs_bio *)around)->inode);
	if (!owner)
		return 0;
	inode = (void *)owner + bpf_core_field_offset(struct btrfs_inode, vfs_inode);
	if (inode_magic(inode) != BTRFS_MAGIC)
		return 0;
	bio_mark_inode(mark, inode, (__u64)KREAD(inode, inode, i_mapping), followed);
	bpf_core_read(&mark->offset, sizeof(mark->offset),
		      &((struct btrfs_bio *)around)->file_offset);
	if (bio_is_internal(bio->at))
		mark->flags |= TRACE_BLOCK_COMPRESSED;
	return 1;
}

/* Whether a bio's completion function identifies its file. Global, so the verifier continues with
 * one result instead of six paths. */
__noinline bool bio_end_identifies_file(struct address *bio)
{
	__u64 end_io = bio ? (__u64)KREAD(bio, bio->at, bi_end_io) : 0;

	return end_io && (end_io == direct_end_io || end_io == direct_simple_end_io ||
			  end_io == device_end_io || end_io == device_async_end_io ||
			  end_io == btrfs_end_io || end_io == btrfs_mirrored_end_io);
}

/* Fills in file, offset and the flags that the pages imply. `state`: of the task that queues the
 * bio, if it is followed. */
static __always_inline void bio_mark_file(struct bio_mark *mark, struct address *bio,
					  struct task_state *state, bool followed)
{
	__u64 end_io = (__u64)KREAD(bio, bio->at, bi_end_io);
	bool in_call = state && state->call.account.op && !state->fault.account.op;
	bool direct = in_call && state->call.account.flags & TRACE_OP_DIRECT;

	mark->offset = -1;
	if (!KREAD(bio, bio->at, bi_io_vec)) { /* flush, discard */
		if (in_call)
			mark->file = state->call.account.file;
		return;
	}
	if (end_io && end_io == direct_end_io) {
		bio_mark_by_direct(mark, bio, state);
		return;
	}
	if (end_io && end_io == direct_simple_end_io) {
		bio_mark_by_simple(mark, bio, state);
		return;
	}
	if (end_io && (end_io == device_end_io || end_io == device_async_end_io) &&
	    bio_mark_by_device(mark, bio, end_io == device_async_end_io, state))
		return;
	if (parent_bio_matches(state, bio)) {
		bio_mark_by_parent(mark, bio, state);
		return;
	}
	if (!bio_end_identifies_file(bio) || !bio_mark_by_btrfs(mark, bio, followed)) {
		bio_mark_by_page(mark, bio, followed);
		/* A file system may use the page cache all the same. */
		if (direct && mark->file == state->call.account.file)
			return;
		/* The page may be the program's own memory, mapped from another file. */
		if (direct && !(mark->flags & TRACE_BLOCK_META)) {
			mark->file = state->call.account.file;
			mark->offset = -1;
		}
	}
	if (direct && !(mark->flags & TRACE_BLOCK_META))
		mark->flags |= TRACE_BLOCK_DIRECT;
}
