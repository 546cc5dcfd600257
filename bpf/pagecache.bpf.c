// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/*
 * Pages that come into the page cache, booked on what the task is doing: the fault in flight, the
 * call in flight, or nothing. Knows nothing of how those are recorded.
 */
#include "fetched.h"

static __always_inline __u32 folio_pages(struct folio *folio)
{
	unsigned long flags = 0;
	__u32 order;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags & (1ul << bpf_core_enum_value(enum pageflags, PG_head))))
		return 1;
	if (bpf_core_field_exists(struct folio___order, _folio_order))
		order = KREAD(folio___order, folio, _folio_order);
	else
		order = KREAD(folio, folio, _flags_1) & 0xff;
	return 1u << (order & 31);
}

/* A call on an overlay file fills the page cache of a file of a layer: the first regular file that
 * gets pages meanwhile. */
static __always_inline bool call_takes_page(struct task_state *state, __u64 mapping)
{
	if (!state->call_op || !state->call_file)
		return false;
	if (!state->call_mapping) {
		struct inode *host = KREAD(address_space, mapping, host);

		if ((KREAD(inode, host, i_mode) & S_IFMT) == S_IFREG)
			state->call_mapping = mapping;
	}
	return state->call_mapping == mapping;
}

SEC("?tp_btf/mm_filemap_add_to_page_cache")
int BPF_PROG(fl_page_add, struct folio *folio)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct task_state *state = task_followed(task);
	struct address mapping = { (__u64)KREAD(folio, folio, mapping) };
	__u32 pages = folio_pages(folio);

	if (!state) {
		/* A worker of io_uring is made without a fork event; it works for its process. */
		if (task_followed(task->group_leader))
			fetched_send(&mapping, KREAD(folio, folio, index), pages);
		return 0;
	}
	if (!have_filemap_fault && state->fault_start_ns && !state->fault_mapping)
		state->fault_mapping = mapping.at;
	if (state->fault_start_ns && state->fault_mapping == mapping.at)
		state->fault_fetched_pages += pages;
	else if (call_takes_page(state, mapping.at))
		state->call_fetched_pages += pages;
	else
		fetched_send(&mapping, KREAD(folio, folio, index), pages);
	return 0;
}

/* --- the fault in flight needs a page that is not simply there to be mapped --- */

static __always_inline int filemap_reached(__u64 mapping, __u64 index)
{
	struct task_state *state = task_followed(bpf_get_current_task_btf());

	if (!state || !state->fault_start_ns)
		return 0;
	state->fault_mapping = mapping;
	state->fault_index = index;
	state->fault_flags |= TRACE_FAULT_FILEMAP;
	return 0;
}

SEC("?tp_btf/mm_filemap_fault")
int BPF_PROG(fl_filemap, struct address_space *mapping, unsigned long index)
{
	return filemap_reached((__u64)mapping, index);
}

SEC("?fentry/filemap_fault")
int BPF_PROG(fl_filemap_fn, struct vm_fault *fault)
{
	struct file *file = fault->vma->vm_file;

	return file ? filemap_reached((__u64)file->f_mapping, fault->pgoff) : 0;
}
