/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A cgroup to record: finds it by path, or by the name of a container or job, in any hierarchy of
 * version 1 or 2; and tests whether it has processes.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroup_target {
	uint64_t id;		/* the inode number of its directory */
	unsigned int hierarchy; /* as in /proc/cgroups; 0: version 2 */
	int fd;			/* its directory */
	char name[PATH_MAX];	/* its path below the hierarchy's root */
};

/*
 * Finds a cgroup by its directory, or by its path as in /proc/PID/cgroup. Returns 0 or a negative
 * errno, logged.
 */
int cgroup_target_by_path(struct cgroup_target *target, const char *path);

/*
 * Finds the cgroup for which `is`, e.g. cgroup_is_container, returns true; `what` and `id` are for
 * messages. Logs and returns -ENOENT if there is none, -EINVAL if there are several.
 */
int cgroup_target_by_name(struct cgroup_target *target,
			  bool (*is)(const char *path, const char *id), const char *what,
			  const char *id);

/* Whether it or a descendant has processes; false once it is gone. */
bool cgroup_target_populated(const struct cgroup_target *target);

void cgroup_target_close(struct cgroup_target *target);

/* Whether a cgroup hierarchy of version 1 uses this controller. */
bool cgroup_has_first_version(const char *controller);
