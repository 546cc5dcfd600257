/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Control groups and task credentials.
 */
#pragma once

#include "types.h"

struct kernfs_node {
	__u64 id; /* inode number of its directory */
} CORE_STRUCT;

struct cgroup_root {
	int hierarchy_id; /* 0: cgroup v2 */
} CORE_STRUCT;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
} CORE_STRUCT;

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
} CORE_STRUCT;

struct atomic_long {
	__s64 counter;
} CORE_STRUCT;

struct page_counter {
	struct atomic_long usage; /* in pages, like the limit */
	unsigned long max;
} CORE_STRUCT;

struct mem_cgroup {
	struct cgroup_subsys_state css;
	struct page_counter memory;
} CORE_STRUCT;

/* Without CONFIG_MEMCG_V1 (6.11) it does not exist. */
struct mem_cgroup___first {
	bool oom_lock;
} CORE_STRUCT;

enum cgroup_subsys_id { memory_cgrp_id = 1 };

struct css_set {
	struct cgroup_subsys_state *subsys[1];
	struct cgroup *dfl_cgrp; /* cgroup in the v2 hierarchy */
	struct list_head cgrp_links;
} CORE_STRUCT;

/* A task's cgroup in each hierarchy. */
struct cgrp_cset_link {
	struct cgroup *cgrp;
	struct list_head cgrp_link;
} CORE_STRUCT;

struct kernel_id {
	unsigned int val;
} CORE_STRUCT;

struct cred {
	struct kernel_id uid, gid, suid, euid, egid;
} CORE_STRUCT;

/* The two lowest bits: 1 if the process is dumpable by its own user. */
struct mm_struct___word {
	unsigned long flags;
} CORE_STRUCT;

/* Since 6.18. */
struct mm_struct___bitmap {
	struct {
		unsigned long __mm_flags[1];
	} flags;
} CORE_STRUCT;
