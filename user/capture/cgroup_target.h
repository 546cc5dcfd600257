/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * A cgroup that is recorded: found by its path, or by a container's or job's name, in whatever
 * hierarchies there are, of the first version or the second; and whether anybody is in it.
 */
#ifndef FAULTLINE_CGROUP_TARGET_H
#define FAULTLINE_CGROUP_TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroup_target {
	uint64_t id;		/* the inode number of its directory */
	unsigned int hierarchy; /* as in /proc/cgroups; 0: of the second version */
	int fd;			/* its directory */
	char name[PATH_MAX];	/* its path below the hierarchy's root */
};

/*
 * By its path: of its directory, or as /proc/PID/cgroup has it. Logs and returns -ENOENT or another
 * negative errno for what is none.
 */
int cgroup_target_by_path(struct cgroup_target *target, const char *path);

/*
 * The one that `is` says yes to, such as cgroup_is_container; `what` and `id` are for messages.
 * Logs and returns -ENOENT when there is none, -EINVAL when several are.
 */
int cgroup_target_by_name(struct cgroup_target *target,
			  bool (*is)(const char *path, const char *id), const char *what,
			  const char *id);

/* Whether any process is in it or below; false once it is gone. */
bool cgroup_target_populated(const struct cgroup_target *target);

void cgroup_target_close(struct cgroup_target *target);

/* Whether a cgroup hierarchy of version 1 uses this controller. */
bool cgroup_has_first_version(const char *controller);

#endif
