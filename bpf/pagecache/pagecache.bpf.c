// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Pages added to the page cache, booked on what the task is doing: the fault, the asynchronous
 * operation or the call in flight, or nothing.
 */
#include "async/async_pages.h"
#include "pagecache/fetched.h"
#include "pagecache/fillers.h"

static __always_inline __u32 folio_pages(struct folio *folio)
{
	unsigned long flags = 0;
	__u32 order;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags & (1ul << bpf_core_enum_value(enum pageflags, PG_head))))
		return 1;
	if (bpf_core_field_exists(struct folio___order, _folio_order))
		order = KREAD(folio___order, folio, _folio_order);
	else if (bpf_core_field_exists(struct folio, _flags_1))
		order = KREAD(folio, folio, _flags_1) & 0xff;
	else
		order = KREAD(page___cache, (void *)folio + bpf_core_type_size(struct page),
			      compound_order);
	return 1u << (order & 31);
}

static __always_inline bool inode_locked_by(struct inode *inode, struct task_struct *task)
{
	if (!bpf_core_field_exists(struct rw_semaphore, owner))
		return false; /* PREEMPT_RT */
	return (KREAD(inode, inode, i_rwsem.owner.counter) & ~RWSEM_NONSPINNABLE) == (__u64)task;
}

/* Returns whether the task holds the inode's lock for writing. An ioctl holds it to compare or move
 * data on storage (FIDEDUPERANGE, EXT4_IOC_MOVE_EXT). */
static __always_inline bool inode_locked_to_write(struct task_state *state, struct inode *inode,
						  struct task_struct *task)
{
	__u32 number = state->call.number & (CALL_TABLE_SIZE - 1);

	if (state->call.account.op && calls[number].traits & CALL_REQUEST)
		return false;
	return inode_locked_by(inode, task);
}

/* Books pages of the file of the fault in flight; false: not of that file. */
static __always_inline bool fault_book_page(struct task_state *state, const struct page_add *add)
{
	struct op_account *fault = &state->fault.account;

	if (!fault->op)
		return false;
	if (!have_filemap_fault && !fault->mapping) {
		fault->mapping = add->mapping;
		fault->offset = -1; /* readahead may begin before the page of the fault */
	}
	if (fault->mapping != add->mapping)
		return false;
	op_account_book(fault, add->pages, false);
	return true;
}

/*
 * Books pages of a file of the call in flight; false: not of such a file. Calls on an overlay file
 * fill the page cache of a layer's file: the first regular file that gets pages during the call,
 * for reading or writing as the call does.
 */
static __always_inline bool call_book_page(struct task_state *state, const struct page_add *add)
{
	__u32 traits = calls[state->call.number & (CALL_TABLE_SIZE - 1)].traits;
	bool writes = traits & CALL_WRITES;

	if (!state->call.account.op)
		return false;
	if (state->call.file && !state->call.account.mapping && inode_is_regular(add->host) &&
	    (writes || !add->locked))
		state->call.account.mapping = add->mapping;
	if (state->call.file && state->call.account.mapping == add->mapping) {
		op_account_book(&state->call.account, add->pages, writes);
		return true;
	}
	if (!(traits & CALL_TRANSFER) || !state->call.file2)
		return false;
	if (!state->call.mapping2 && inode_is_regular(add->host) && add->locked)
		state->call.mapping2 = add->mapping;
	if (state->call.mapping2 != add->mapping)
		return false;
	op_account_book(&state->call.account, add->pages, true);
	return true;
}

/* Returns whether the call in flight fetches pages of any mapped files. It waits for the pages, but
 * they belong to those files. */
static __always_inline bool call_maps_any(const struct task_state *state)
{
	__u32 number = state->call.number & (CALL_TABLE_SIZE - 1);

	return state->call.account.op && calls[number].traits & CALL_MAPS_ANY;
}

/* Up to 5.15, a read at the end of a file adds an empty page, which comes from no storage. */
static __always_inline bool page_is_past_end(const struct page_add *add)
{
	return !bpf_core_type_exists(struct folio) && !add->locked && inode_is_regular(add->host) &&
	       (__s64)(add->index * PAGE_BYTES) >= KREAD(inode, add->host, i_size);
}

static __always_inline int pagecache_add(struct folio *folio, __u32 copy)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct page_add add;

	if (!state || !task_copy_is_first(state, (__u64)folio, copy))
		return 0;
	add.mapping = (__u64)KFOLIO(KREAD, folio, mapping);
	add.host = KREAD(address_space, add.mapping, host);
	if (inode_in_memory(add.host))
		return 0; /* hugetlbfs, ramfs: no storage to read from or write back to */
	add.index = KFOLIO(KREAD, folio, index);
	if (bios_held_back)
		filler_store(&add);
	add.pages = folio_pages(folio);
	add.locked = inode_locked_to_write(state, add.host, task);
	if (page_is_past_end(&add))
		return 0;
	if (fault_book_page(state, &add) || (async_recorded && async_book_page(state, &add)))
		return 0;
	if (call_book_page(state, &add))
		return 0;
	if (call_maps_any(state))
		state->call.fault_fetched_pages += add.pages;
	other_fill_add(state, &add);
	return 0;
}

COPIED_PROGRAM("?tp_btf/mm_filemap_add_to_page_cache", fl_page_add, pagecache_add(folio, copy),
	       struct folio *folio)

/* --- the fault in flight needs a page that cannot be mapped right away --- */

static __always_inline int fault_reach_filemap(__u64 mapping, __u64 index)
{
	struct task_state *state = task_followed(bpf_get_current_task_btf());

	if (!state || !state->fault.account.op)
		return 0;
	state->fault.account.mapping = mapping;
	state->fault.account.offset = index * PAGE_BYTES;
	state->fault.account.flags |= TRACE_FAULT_FILEMAP;
	return 0;
}

/* Several copies may run for one event, to the same effect. */
COPIED_PROGRAM("?tp_btf/mm_filemap_fault", fl_filemap, fault_reach_filemap((__u64)mapping, index),
	       struct address_space *mapping, unsigned long index)

SEC("?fentry/filemap_fault")
int BPF_PROG(fl_filemap_fn, struct vm_fault *fault)
{
	struct file *file = fault->vma->vm_file;

	return file ? fault_reach_filemap((__u64)file->f_mapping, fault->pgoff) : 0;
}

SEC("?kprobe/filemap_fault")
int BPF_KPROBE(fl_filemap_kp, struct vm_fault *fault)
{
	struct vm_area_struct *vma = KREAD(vm_fault, fault, vma);
	struct file *file = KREAD(vm_area_struct, vma, vm_file);

	return file ? fault_reach_filemap((__u64)KREAD(file, file, f_mapping),
					  KREAD(vm_fault, fault, pgoff))
		    : 0;
}

/* --- a folio becomes dirty: all of it will be written back --- */

/*
 * Counts folios that a store dirties inside a fault: those of the faulting mapping, not blocks that
 * the file system dirties for itself. For a call that prepares mappings for stores, counts those of
 * its file. Write calls dirty what they write, so they are not counted.
 */
static __always_inline int pagecache_dirty(struct folio *folio, __u64 mapping, __u32 copy)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct inode *host;

	if (!state || !mapping || !(state->fault.account.op || state->call.account.op) ||
	    !task_copy_is_first(state, (__u64)folio, copy))
		return 0;
	if (!state->fault.account.op) {
		__u32 traits = calls[state->call.number & (CALL_TABLE_SIZE - 1)].traits;

		if (traits & (CALL_MAP | CALL_MMAP) && state->call.account.mapping == mapping)
			state->call.account.dirtied_pages += folio_pages(folio);
		return 0;
	}
	if (state->fault.dirtied_mapping != mapping) {
		host = KREAD(address_space, mapping, host);
		if (state->fault.dirtied_mapping && inode_magic(host) == BDEVFS_MAGIC)
			return 0;
		state->fault.dirtied_mapping = mapping;
		state->fault.account.dirtied_pages = 0;
	}
	state->fault.account.dirtied_pages += folio_pages(folio);
	return 0;
}

COPIED_PROGRAM("?tp_btf/writeback_dirty_folio", fl_dirtied,
	       pagecache_dirty(folio, (__u64)mapping, copy), struct folio *folio,
	       struct address_space *mapping)

SEC("?tp_btf/writeback_dirty_page") /* before 5.18 */
int BPF_PROG(fl_dirtied_page, struct folio *page, struct address_space *mapping)
{
	return pagecache_dirty(page, (__u64)mapping, 0);
}
