/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Reads /proc/self/mountinfo: file systems, and where hierarchies of cgroups are mounted. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* `root` and `path` are unescaped. All texts are valid during the call only. */
struct mount {
	unsigned int major, minor;
	char *root; /* the directory of the file system that is mounted */
	char *path, *options, *type, *super_options;
};

/* Returns 0 to continue. */
typedef int mounts_take(void *context, const struct mount *mount);

/* Calls `take` for each mount, in order, until it returns nonzero, and returns that. */
int mounts_each(mounts_take *take, void *context);
int mounts_each_in(FILE *mountinfo, mounts_take *take, void *context); /* NULL is fine */

struct cgroup_mount {
	char path[PATH_MAX]; /* "": none */
	char root[PATH_MAX]; /* the cgroup that is mounted */
};

/* Takes a mount of a hierarchy if it is better than the known one: a mount of the whole hierarchy,
 * or the first one of a part of it. */
void cgroup_mount_take(struct cgroup_mount *known, const struct mount *mount);
/* Returns the path below the mount of a cgroup as in /proc/PID/cgroup. */
const char *cgroup_mount_below(const struct cgroup_mount *mount, const char *cgroup);
