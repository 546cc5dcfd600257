/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Derives names of jobs from cgroup paths. */
#include "monitor/ledger/job_labels.h"

#include <stdio.h>
#include <string.h>

#include "capture/names/cgroup_names.h"

void job_labels_of(const char *cgroup, struct job_labels *labels)
{
	size_t length = strlen(cgroup);

	memset(labels, 0, sizeof(*labels));
	/* The end of a path distinguishes cgroups. */
	if (length >= sizeof(labels->cgroup))
		cgroup += length - (sizeof(labels->cgroup) - 1);
	memcpy(labels->cgroup, cgroup, strlen(cgroup));
	if (cgroup_container(cgroup, labels->container, sizeof(labels->container)) &&
	    strspn(labels->container, "0123456789abcdef") == CONTAINER_DIGITS) {
		strcpy(labels->ids.container, labels->container);
		labels->container[0] = 0;
	}
	cgroup_pod(cgroup, labels->ids.pod, sizeof(labels->ids.pod));
	cgroup_slurm(cgroup, labels->ids.slurm_job, labels->slurm_step, sizeof(labels->slurm_step));
}

bool job_labels_any(const struct job_labels *labels)
{
	return labels->container[0] || labels->ids.container[0] || labels->ids.pod[0] ||
	       labels->ids.slurm_job[0];
}

/* Rates a line of the form ID:CONTROLLERS:PATH from 1 to 5; more identifies a job better. */
static int rate(const char *controllers, size_t length, const char *path)
{
	struct job_labels labels;

	job_labels_of(path, &labels);
	if (job_labels_any(&labels))
		return 5;
	if (!strcmp(path, "/"))
		return 1;
	if (!length)
		return 4; /* cgroup v2 */
	return length == strlen("name=systemd") && !memcmp(controllers, "name=systemd", length) ? 3
												: 2;
}

bool job_labels_choose(const char *text, char *path, size_t size)
{
	int best = 0;

	path[0] = 0;
	while (*text) {
		size_t line = strcspn(text, "\n"), length;
		const char *controllers = memchr(text, ':', line), *slash;
		char candidate[JOB_CGROUP_BYTES * 8];
		int score;

		slash = controllers ? memchr(controllers + 1, ':', line - (controllers + 1 - text))
				    : NULL;
		if (slash && slash[1] == '/') {
			length = line - (slash + 1 - text);
			if (length >= sizeof(candidate))
				length = sizeof(candidate) - 1;
			memcpy(candidate, slash + 1, length);
			candidate[length] = 0;
			score = rate(controllers + 1, slash - controllers - 1, candidate);
			if (score > best) {
				best = score;
				snprintf(path, size, "%s", candidate);
			}
		}
		text += line + (text[line] == '\n');
	}
	return best > 0;
}
