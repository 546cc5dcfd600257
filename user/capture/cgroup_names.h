/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * How container engines and batch systems name cgroups. Works on paths alone; looks at nothing.
 */
#ifndef FAULTLINE_CGROUP_NAMES_H
#define FAULTLINE_CGROUP_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `id` can be a container's: its name, or at least so many first digits of its number. */
#define CONTAINER_DIGITS_LEAST 6
bool container_id_fits(const char *id);

/*
 * Whether a cgroup, by its path below its hierarchy's root, is that of the container: named so, or
 * with a number that begins so. Not those below it.
 */
bool cgroup_is_container(const char *path, const char *id);

/* Whether "123" or "123.4" (with a step: a number, or batch, extern, interactive) names a job. */
bool slurm_id_fits(const char *id);

/* Whether a cgroup is that of a Slurm job, or of a step of it. Not those below it. */
bool cgroup_is_slurm(const char *path, const char *id);

/*
 * The other way round: what a cgroup, or one above it, is. Each writes "" and returns false where
 * it is none. The container's number or name, of the outermost one; the pod's uid; the numbers of
 * Slurm's job and step, of which the latter may be "".
 */
bool cgroup_container(const char *path, char *id, size_t size);
bool cgroup_pod(const char *path, char *uid, size_t size);
bool cgroup_slurm(const char *path, char *job, char *step, size_t size);

#endif
