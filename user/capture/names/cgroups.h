/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paths of version 2 cgroups, looked up by a separate thread. Without CAP_DAC_READ_SEARCH, which
 * the monitor's thread keeps and a recording has already dropped, a lookup walks the tree. On a
 * large node that takes longer than the draining thread may wait.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroups;

#define CGROUPS_DEPTH_MAX 24

enum cgroups_seen { CGROUPS_GO_ON, CGROUPS_NOT_BELOW, CGROUPS_FOUND };
typedef enum cgroups_seen cgroups_look(void *context, const char *path);

/* Calls `look` for the cgroup directory `path` and those below it until one is found. `path` then
 * becomes its path; otherwise it is unchanged. `depth` is the number of directories above it.
 * Returns whether one was found. */
bool cgroups_walk(char path[PATH_MAX], int depth, cgroups_look *look, void *context);

/* `root` is the mount point of the hierarchy; NULL finds it. Returns 0 or a negative errno. */
int cgroups_open(struct cgroups **cgroups, const char *root);
void cgroups_close(struct cgroups *cgroups); /* NULL is fine */
/* Call before the first lookup. Provides the paths that the kernel side keeps, for cgroups that are
 * gone when they are looked up. `fd` is a map of CGROUP_SLOTS struct cgroup_slot; the caller owns
 * it. Returns 0 or a negative errno. */
int cgroups_keep(struct cgroups *cgroups, int fd);

/*
 * Writes the path of a cgroup below the hierarchy's root: "" if the cgroup is gone and its path was
 * not kept, or there is no such hierarchy. Returns false during the lookup: call again later, or
 * wait for it with `wait`. Results are cached, including failures.
 */
bool cgroups_path(struct cgroups *cgroups, uint64_t id, bool wait, char path[PATH_MAX]);

/* Returns the id of a process's current cgroup, from /proc. 0: the process is gone, there is no
 * such hierarchy, or the cgroup is not visible here. */
uint64_t cgroups_of_process(const struct cgroups *cgroups, uint32_t pid);
