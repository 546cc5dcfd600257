/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How container engines and batch systems name cgroups. Works on paths only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether `id` can be a container's: its name, or at least the first digits of its id. */
#define CONTAINER_DIGITS_MIN 6
#define CONTAINER_DIGITS 64 /* in a full id */
bool container_id_fits(const char *id);

/*
 * Whether a cgroup, by its path below the hierarchy's root, is the container's: named `id`, or with
 * an id that starts with it. Descendants do not match.
 */
bool cgroup_is_container(const char *path, const char *id);

/* Whether `id` names a job: "123", or with a step "123.4" (a number, batch, extern,
 * interactive). */
bool slurm_id_fits(const char *id);

/* Whether a cgroup is that of a Slurm job or step. Descendants do not match. */
bool cgroup_is_slurm(const char *path, const char *id);

/*
 * The reverse: each finds what a cgroup belongs to, by itself or through an ancestor, and writes
 * the id or name of the outermost container, the pod's uid, or Slurm's job and step (step "" if
 * none). If there is no match, writes "" and returns false.
 */
bool cgroup_container(const char *path, char *id, size_t size);
bool cgroup_pod(const char *path, char *uid, size_t size);
bool cgroup_slurm(const char *path, char *job, char *step, size_t size);
