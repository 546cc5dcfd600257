/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of a job, derived from its cgroup's path. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "capture/names/job_names.h"

#define JOB_CGROUP_BYTES 512 /* of a path, NUL included; a longer one keeps its end */

/* Each is "" if absent. Only `cgroup` may contain arbitrary bytes. */
struct job_labels {
	char cgroup[JOB_CGROUP_BYTES];
	struct job_ids ids;
	char container[JOB_ID_BYTES]; /* its name, if the path has no id */
	char slurm_step[16];
};

void job_labels_of(const char *cgroup, struct job_labels *labels);

/* Returns whether they identify a job better than its cgroup does. */
bool job_labels_any(const struct job_labels *labels);

/*
 * Chooses the most specific cgroup in the text of /proc/PID/cgroup: that of a container, pod or
 * batch job in any hierarchy; then cgroup v2; then systemd's; then the first that is not the root.
 * Returns false if the text names none.
 */
bool job_labels_choose(const char *text, char *path, size_t size);
