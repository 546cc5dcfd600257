/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Remembers which tasks recently added folios to the page cache. Throttling by cgroup v1 delays the
 * bios that read those folios, and a kernel thread queues them later; this table identifies their
 * owners.
 *
 * A folio's slot follows from its file and index; a newer folio replaces an older one.
 */
#pragma once

#include "pagecache/fetched.h"
#include "core/addr_table.h"

#define FILLERS_LOG 13

struct filler {
	__u64 mapping;
	__u64 index;
	struct owner owner;
};

ADDR_TABLE(fillers, struct filler, FILLERS_LOG)

static __always_inline struct filler *filler_at(__u64 mapping, __u64 index)
{
	return fillers_at(mapping ^ index << 8);
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
