/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers which tasks recently added folios to the page cache. Throttling by cgroup v1 delays the
 * bios that read those folios, and a kernel thread queues them later; this table identifies their
 * owners.
 *
 * A folio's slot follows from its file and index; a newer folio replaces an older one.
 */
#ifndef FAULTLINE_BPF_FILLERS_H
#define FAULTLINE_BPF_FILLERS_H

#include "pagecache/fetched.h"
#include "core/settings.h"

#define FILLERS_LOG 13

struct filler {
	__u64 mapping;
	__u64 index;
	struct owner owner;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << FILLERS_LOG);
	__type(key, __u32);
	__type(value, struct filler);
} fillers SEC(".maps");

static __always_inline struct filler *filler_at(__u64 mapping, __u64 index)
{
	__u32 at = (mapping ^ index << 8) * 0x9e3779b97f4a7c15 >> (64 - FILLERS_LOG);

	return bpf_map_lookup_elem(&fillers, &at); /* 2^64 / golden ratio */
}

/* Global, so the verifier treats the mapping's address as a plain number. */
__noinline int filler_store(struct page_add *add)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct filler *filler;

	if (!add)
		return 0;
	filler = filler_at(add->mapping, add->index);
	if (filler)
		*filler = (struct filler) { add->mapping, add->index, owner_of(task) };
	return 0;
}

/* Returns the task that added the folio at that index; pid 0 if unknown. */
static __always_inline struct owner filler_of(__u64 mapping, __u64 index)
{
	struct filler *filler = filler_at(mapping, index);

	if (filler && filler->mapping == mapping && filler->index == index)
		return filler->owner;
	return (struct owner) {};
}

#endif
