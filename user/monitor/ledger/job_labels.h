/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Names of a job, derived from its cgroup's path. */
#ifndef FAULTLINE_MONITOR_JOB_LABELS_H
#define FAULTLINE_MONITOR_JOB_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_CGROUP_BYTES 512 /* of a path, NUL included; a longer one keeps its end */
#define JOB_NAME_BYTES 72

/* Each is "" if absent. Only `cgroup` may contain arbitrary bytes. */
struct job_labels {
	char cgroup[JOB_CGROUP_BYTES];
	char container[JOB_NAME_BYTES]; /* id or name */
	char pod[JOB_NAME_BYTES];	/* uid */
	char slurm_job[16], slurm_step[16];
};

void job_labels_of(const char *cgroup, struct job_labels *labels);

/*
 * Chooses the most specific cgroup in the text of /proc/PID/cgroup: that of a container, pod or
 * batch job in any hierarchy; then cgroup v2; then systemd's; then the first that is not the root.
 * Returns false if the text names none.
 */
bool job_labels_choose(const char *text, char *path, size_t size);

#endif
