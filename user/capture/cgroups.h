/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Paths of cgroups of the second version's hierarchy, looked up by a thread of its own: without
 * CAP_DAC_READ_SEARCH, which the monitor's keeps and a recording has given up before, a look-up
 * walks the tree, and that takes longer on a large node than whoever drains the buffers may wait.
 */
#ifndef FAULTLINE_CGROUPS_H
#define FAULTLINE_CGROUPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroups;

#define CGROUPS_DEPTH_MOST 24

enum cgroups_seen { CGROUPS_GO_ON, CGROUPS_NOT_BELOW, CGROUPS_FOUND };
typedef enum cgroups_seen cgroups_look(void *context, const char *path);

/* Looks at a cgroup's directory and at those below it, `depth` of them above, until one is found,
 * whose path `path` becomes; else it is as it was. Returns whether one was. */
bool cgroups_walk(char path[PATH_MAX], int depth, cgroups_look *look, void *context);

/* `root` is where the hierarchy is mounted; NULL finds it. Returns 0 or a negative errno. */
int cgroups_open(struct cgroups **cgroups, const char *root);
void cgroups_close(struct cgroups *cgroups); /* NULL is fine */
/* Before the first question: where the kernel side keeps the paths of cgroups that may be gone when
 * they are looked up. `fd` is that of a map of CGROUP_PLACES struct cgroup_place and stays the
 * caller's. Returns 0 or a negative errno. */
int cgroups_keep(struct cgroups *cgroups, int fd);

/*
 * Writes the path of a cgroup below the hierarchy's root, "" when it is gone and nobody has
 * kept its path, or there is no such hierarchy. False while it is being looked up: ask again later.
 * With `wait` it waits for that. What was found is remembered, and so is what was not.
 */
bool cgroups_path(struct cgroups *cgroups, uint64_t id, bool wait, char path[PATH_MAX]);

/* The id of the cgroup that a process is in now, by /proc. 0: it is gone, there is no such
 * hierarchy, or its cgroup lies outside of what can be seen here. */
uint64_t cgroups_of_process(const struct cgroups *cgroups, uint32_t pid);

#endif
