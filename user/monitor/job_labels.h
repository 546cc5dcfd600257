/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * What a job is called by, as its cgroup's path tells it. Works on texts alone; looks at nothing.
 */
#ifndef FAULTLINE_MONITOR_JOB_LABELS_H
#define FAULTLINE_MONITOR_JOB_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#define JOB_CGROUP_BYTES 512 /* of a path, its NUL included: its end, where it is longer */
#define JOB_NAME_BYTES 72

/* Each is "" where there is none. Only `cgroup` may hold any bytes. */
struct job_labels {
	char cgroup[JOB_CGROUP_BYTES];
	char container[JOB_NAME_BYTES]; /* id or name */
	char pod[JOB_NAME_BYTES];	/* uid */
	char slurm_job[16], slurm_step[16];
};

void job_labels_of(const char *cgroup, struct job_labels *labels);

/*
 * Which of the cgroups that a process is in says most, of the text of /proc/PID/cgroup: where there
 * are several hierarchies a container's, pod's or batch job's in any of them; then that of the
 * second version, then that of systemd, then the first that is not the root. Returns false when the
 * text names none.
 */
bool job_labels_choose(const char *text, char *path, size_t size);

#endif
