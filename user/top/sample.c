/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the jobs, processes and files of a sample by key. */
#include "top/sample.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "collections/compare.h"

const char *const top_subject_names[TOP_SUBJECTS] = { "jobs", "processes", "files" };
const char *const top_label_names[TOP_LABELS] = {
	[TOP_CGROUP] = "cgroup",
	[TOP_NAMESPACE] = "namespace",
	[TOP_POD] = "pod",
	[TOP_POD_UID] = "pod_uid",
	[TOP_CONTAINER] = "container",
	[TOP_CONTAINER_ID] = "container_id",
	[TOP_IMAGE] = "image",
	[TOP_SLURM_JOB] = "slurm_job",
	[TOP_SLURM_STEP] = "slurm_step",
	[TOP_SLURM_NAME] = "slurm_name",
	[TOP_SLURM_USER] = "slurm_user",
};

int top_compare_keys(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return COMPARE(a[0], b[0]) ?: COMPARE(a[1], b[1]) ?: COMPARE(a[2], b[2]);
}

const struct top_thing *top_sample_find(const struct top_sample *sample, enum top_subject subject,
					const uint64_t key[3])
{
	const struct top_things *things = &sample->of[subject];

	return things->count ? bsearch(key, things->all, things->count, sizeof(*things->all),
				       top_compare_keys)
			     : NULL;
}

void top_sample_free(struct top_sample *sample)
{
	for (int subject = 0; subject < TOP_SUBJECTS; subject++) {
		struct top_things *things = &sample->of[subject];

		for (size_t i = 0; i < things->count; i++)
			sums_free(&things->all[i].sums);
		free(things->all);
	}
	sums_free(&sample->node);
	json_object_put(sample->document);
	*sample = (struct top_sample) { 0 };
}
