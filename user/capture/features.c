/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of features. What a whole layer needs stands in the probe table; this is the rest.
 */
#include "capture/features.h"

enum question { HOOK, KFUNC, MEMBER, NOT_PREEMPTED };

static const struct row {
	struct feature feature;
	enum question question;
	enum hook hook;
	const char *name, *member;
} rows[] = {
	{ { "bpf_rdonly_cast",
	    "the kernel's structs are read by calls of a helper: each recorded call costs the "
	    "traced program about 0.2 us more" },
	  KFUNC,
	  .name = "bpf_rdonly_cast" },
	{ { "the maple tree of mappings (mm_struct.mm_mt)",
	    "page faults need fentry, and madvise, mlock and munmap are told without their file" },
	  MEMBER,
	  .name = "mm_struct",
	  .member = "mm_mt" },
	{ { "fentry on handle_mm_fault", "faults that the kernel makes itself (MAP_POPULATE, "
					 "mlock, reads into a mapping) are told "
					 "with the call that makes them, not one by one" },
	  HOOK,
	  .hook = HOOK_FEXIT,
	  .name = "handle_mm_fault" },
	{ { "tracepoints whose programs are not preempted",
	    "system calls and faults come by classic tracepoints, about 0.01 us dearer; processes "
	    "and "
	    "the page cache by copies of their programs" },
	  NOT_PREEMPTED,
	  .hook = HOOK_TP_BTF },
	{ { "the iterator over tasks (iter/task)",
	    "'faultline attach' cannot work: what runs already is not recorded" },
	  HOOK,
	  .hook = HOOK_ITER,
	  .name = "task" },
	{ { "backing_file.user_path",
	    "a file mapped through overlayfs may be told by its path in the layer below" },
	  MEMBER,
	  .name = "backing_file",
	  .member = "user_path" },
};

static bool is_there(struct kernel *kernel, const struct row *row)
{
	switch (row->question) {
	case HOOK:
		return !kernel_allows(kernel, row->hook, row->name);
	case KFUNC:
		return kernel_has_kfunc(kernel, row->name);
	case MEMBER:
		return kernel_has_member(kernel, row->name, row->member);
	case NOT_PREEMPTED:
		return !kernel_preempts(kernel, row->hook);
	}
	return false;
}

const struct feature *features_missing(struct kernel *kernel, size_t *at)
{
	while (*at < sizeof(rows) / sizeof(rows[0])) {
		const struct row *row = &rows[(*at)++];

		if (!is_there(kernel, row))
			return &row->feature;
	}
	return NULL;
}
