/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The table of features. Those that a whole layer needs are in the probe table. */
#include "capture/support/features.h"

enum feature_test { HOOK, KFUNC, MEMBER, NOT_PREEMPTED };

static const struct row {
	struct feature feature;
	enum feature_test test;
	enum hook hook;
	const char *name, *member;
} rows[] = {
	{ { "bpf_rdonly_cast", "kernel structs are read through a helper: each recorded call costs "
			       "the traced program about 0.2 us more" },
	  KFUNC,
	  .name = "bpf_rdonly_cast" },
	{ { "fentry on handle_mm_fault",
	    "faults raised by the kernel itself (MAP_POPULATE, mlock, reads into a mapping) are "
	    "recorded as part of the call that causes them, not one by one" },
	  HOOK,
	  .hook = HOOK_FEXIT,
	  .name = "handle_mm_fault" },
	{ { "non-preemptible tracepoint programs",
	    "system calls and faults use classic tracepoints, which cost about 0.01 us more; "
	    "processes and the page cache use copies of their programs" },
	  NOT_PREEMPTED,
	  .hook = HOOK_TP_BTF },
	{ { "task iterator (iter/task)",
	    "'faultline attach' cannot work: running processes cannot be recorded" },
	  HOOK,
	  .hook = HOOK_ITER,
	  .name = "task" },
	{ { "backing_file.user_path",
	    "files mapped through overlayfs may appear under their path in the underlying layer" },
	  MEMBER,
	  .name = "backing_file",
	  .member = "user_path" },
};

static bool is_there(struct kernel *kernel, const struct row *row)
{
	switch (row->test) {
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
