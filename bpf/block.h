/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What is known of a bio between its queueing and its end: whose it is, and which file's bytes it
 * carries. Knows nothing of requests.
 */
#ifndef FAULTLINE_BPF_BLOCK_H
#define FAULTLINE_BPF_BLOCK_H

#include "above.h"
#include "file.h"

#define PAGE_MAPPING_FLAGS 3ul /* of folio.mapping: it is of anonymous memory, or of no file */
#define BTRFS_BTREE_INODE 1    /* its page cache holds the trees */

/* What the kernel calls when a bio ends, by name: it tells what stands behind the bio. 0: the
 * kernel has no such function, or does not tell where. */
extern __u64 direct_end_io, direct_simple_end_io, btrfs_end_io, btrfs_mirrored_end_io;
extern __u64 device_end_io, device_async_end_io;
/* What a direct call has submitted is counted with each bio after that is queued, not before (since
 * 7.0): then it is 0 at the first bio of each call, and never otherwise. */
extern bool direct_size_lags;

/* Global: the verifier looks at what follows each combination once. */
__noinline __u32 block_flags(__u32 opf)
{
	__u32 flags = 0;

	/* Without a branch: the verifier goes both ways at each. */
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

/* --- which file --- */

/* What the verifier finds first where the head is may be a pointer. */
static __always_inline __u64 page_head(__u64 page)
{
	__u64 head = 0;

	if (bpf_core_field_exists(struct page, compound_head))
		head = KNUMBER(page, page, compound_head);
	else if (bpf_core_field_exists(struct page___info, compound_info))
		head = KNUMBER(page___info, page, compound_info);
	if (!(head & 1))
		return page;
	return head >> 32 == 0xffffffff ? page & head : head - 1; /* no page lies up there */
}

/* The id of a file that the run has met, as what it was opened as; 0: it has not. Global: the
 * verifier looks at it once, not at each way that leads to it. */
__noinline __u32 file_met(struct address *inode)
{
	struct file_key key = {};
	struct file_entry *entry;
	__u32 id;

	if (!inode || !inode->at)
		return 0;
	id = layer_serves(inode);
	if (id)
		return id;
	file_key_of(&key, inode);
	entry = file_find(&key);
	return entry ? entry->id & ~FILE_UNTOLD : 0;
}

/* File systems keep their own blocks in the page cache of an inode that is no file. */
static __always_inline bool holds_metadata(struct inode *inode)
{
	unsigned long magic = inode_magic(inode);

	return magic == BDEVFS_MAGIC ||
	       (magic == BTRFS_MAGIC && KREAD(inode, inode, i_ino) == BTRFS_BTREE_INODE);
}

/* `followed`: a task of the run queued it, so that the file is one of the run's. */
static __always_inline void mark_inode(struct bio_mark *mark, struct inode *inode, __u64 mapping,
				       bool followed)
{
	struct address address = { mapping }, host = { (__u64)inode };

	if (holds_metadata(inode))
		mark->flags |= TRACE_BLOCK_META;
	else
		mark->file = file_met(&host);
	if (followed && !mark->file && !(mark->flags & TRACE_BLOCK_META))
		mark->file = file_id_of_mapping(&address);
}

/* The stretch of memory that its bytes begin in. */
static __always_inline struct bio_vec *bio_vector(__u64 bio)
{
	return (void *)KREAD(bio, bio, bi_io_vec) +
	       KREAD(bio, bio, bi_iter.bi_idx) * bpf_core_type_size(struct bio_vec);
}

/* They begin in a page that is no file's and no program's: the file system's own memory. */
static __always_inline bool bio_is_nobodys(__u64 bio)
{
	__u64 page = KNUMBER(bio_vec, bio_vector(bio), bv_page);

	return page && !KREAD(folio, page_head(page), mapping);
}

/*
 * Global, these three: the verifier looks at each once, not at each way that leads to it.
 *
 * By the page that its bytes begin in.
 */
__noinline int mark_by_page(struct bio_mark *mark, struct address *bio, bool followed)
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
	mapping = KNUMBER(folio, head, mapping);
	if (!mapping || mapping & PAGE_MAPPING_FLAGS)
		return 0;
	inode = KREAD(address_space, mapping, host);
	if (!inode)
		return 0;
	mark_inode(mark, inode, mapping, followed);
	done = bio_into_page(bio->at);
	if (done < 0)
		return 0;
	mark->offset =
		(KREAD(folio, head, index) + (page - head) / bpf_core_type_size(struct page)) *
			PAGE_BYTES +
		KREAD(bio_vec, vector, bv_offset) + done;
	return 0;
}

/* Zeros of the kernel's own, before and behind what a direct call writes to a part of a new block:
 * they are none of what the call has submitted, of which there may be nothing yet. */
static __always_inline bool bio_fills_block(const struct bio_mark *mark, __u64 bio,
					    struct file *file)
{
	__u8 bits = KREAD(inode, KREAD(file, file, f_inode), i_blkbits);

	return mark->bytes < 1u << (bits & 31) && bio_is_nobodys(bio);
}

/* Eight bytes of the kernel's, as a number. Of whatever struct: the quick way knows but those of
 * the kernel itself, and others are of modules. */
static __always_inline __u64 number_at(__u64 at)
{
	return KREAD(bvec_iter, at, bi_sector);
}

/* A field of a struct that a module may define, at most so long. */
#define NUMBER_OF(s, p, f) number_at((__u64)(p) + bpf_core_field_offset(struct s, f))

/* The file of direct I/O, by its iocb; NULL where there is none. `state`: of the task that queues
 * the bio, if it is followed: it remembers the files that it has met last. */
static __always_inline struct file *mark_by_iocb(struct bio_mark *mark, struct kiocb *iocb,
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
	mark->file = file_met(&inode);
	if (state && !mark->file)
		mark->file = file_id(&facts, false) & ~FILE_UNTOLD;
	return file;
}

/* By the call's own block for direct I/O, which stands behind a bio of ext4, xfs and their like. */
__noinline int mark_by_direct(struct bio_mark *mark, struct address *bio, struct task_state *state)
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
	file = mark_by_iocb(mark, iocb, state);
	if (!file || bio_fills_block(mark, bio->at, file))
		return 0;
	if (!size)
		direct_size_lags = true;
	mark->offset = KREAD(kiocb, iocb, ki_pos) + size - (direct_size_lags ? 0 : mark->bytes);
	return 0;
}

/* The same where the call has one bio, which is part of its block. */
__noinline int mark_by_simple(struct bio_mark *mark, struct address *bio, struct task_state *state)
{
	__u64 block;
	void *iocb;

	if (!mark || !bio || !bpf_core_type_exists(struct iomap_dio_simple))
		return 0;
	block = bio->at - bpf_core_field_offset(struct iomap_dio_simple, bio);
	iocb = (void *)NUMBER_OF(iomap_dio_simple, block, iocb);
	if (mark_by_iocb(mark, iocb, state))
		mark->offset = KREAD(kiocb, iocb, ki_pos);
	return 0;
}

/* The same of a block device itself, whose bytes stand where they are. `first`: the bio is part of
 * its call's block. Says whether it told: where the call waits, its own file does. */
__noinline int mark_by_device(struct bio_mark *mark, struct address *bio, bool first,
			      struct task_state *state)
{
	__u64 block, start;
	__u32 flags;
	void *iocb;

	if (!mark || !bio || !bpf_core_type_exists(struct blkdev_dio))
		return 0;
	if (first)
		block = bio->at - bpf_core_field_offset(struct blkdev_dio, bio);
	else
		block = (__u64)KREAD(bio, bio->at, bi_private);
	iocb = (void *)NUMBER_OF(blkdev_dio, block, iocb);
	flags = NUMBER_OF(blkdev_dio, block, flags);
	if (flags & BLKDEV_DIO_IS_SYNC || !mark_by_iocb(mark, iocb, state))
		return 0;
	start = KREAD(block_device, KREAD(bio, bio->at, bi_bdev), bd_start_sect);
	mark->offset = (KREAD(bio, bio->at, bi_iter.bi_sector) - start) * TRACE_SECTOR_BYTES;
	return 1;
}

/* By the struct of btrfs around it. Says whether it told. */
__noinline int mark_by_btrfs(struct bio_mark *mark, struct address *bio, bool followed)
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
	mark_inode(mark, inode, (__u64)KREAD(inode, inode, i_mapping), followed);
	bpf_core_read(&mark->offset, sizeof(mark->offset),
		      &((struct btrfs_bio *)around)->file_offset);
	if (bio_is_nobodys(bio->at))
		mark->flags |= TRACE_BLOCK_COMPRESSED;
	return 1;
}

/* What the kernel calls at the end of a bio says of which file it is. Global: of the six ways
 * through it the verifier follows none further. */
__noinline bool bio_end_tells(struct address *bio)
{
	__u64 end_io = bio ? (__u64)KREAD(bio, bio->at, bi_end_io) : 0;

	return end_io && (end_io == direct_end_io || end_io == direct_simple_end_io ||
			  end_io == device_end_io || end_io == device_async_end_io ||
			  end_io == btrfs_end_io || end_io == btrfs_mirrored_end_io);
}

/* Fills in file, offset and what flags the pages tell. `state`: of the task that queues it, if that
 * is followed. */
static __always_inline void mark_file(struct bio_mark *mark, struct address *bio,
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
		mark_by_direct(mark, bio, state);
		return;
	}
	if (end_io && end_io == direct_simple_end_io) {
		mark_by_simple(mark, bio, state);
		return;
	}
	if (end_io && (end_io == device_end_io || end_io == device_async_end_io) &&
	    mark_by_device(mark, bio, end_io == device_async_end_io, state))
		return;
	if (above_is_of(state, bio)) {
		mark_by_above(mark, bio, state);
		return;
	}
	if (!bio_end_tells(bio) || !mark_by_btrfs(mark, bio, followed)) {
		mark_by_page(mark, bio, followed);
		/* A file system may go by the page cache all the same. */
		if (direct && mark->file == state->call.account.file)
			return;
		/* It may be the program's own memory, which may be of another file. */
		if (direct && !(mark->flags & TRACE_BLOCK_META)) {
			mark->file = state->call.account.file;
			mark->offset = -1;
		}
	}
	if (direct && !(mark->flags & TRACE_BLOCK_META))
		mark->flags |= TRACE_BLOCK_DIRECT;
}

#endif
