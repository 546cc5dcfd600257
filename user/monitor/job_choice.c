/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Labels against patterns: one without that label is never meant.
 */
#include "monitor/job_choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "log.h"

int job_choice_add(const char *option, const char *text, struct job_choice *choice)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < ledger_label_count && choice->count < JOB_CHOICE_MOST; i++) {
		const struct ledger_label *label = &ledger_labels[i];

		if (strlen(label->name) != length || strncmp(label->name, text, length) != 0 ||
		    !text[length] || !text[length + 1])
			continue;
		choice->each[choice->count++] = (struct job_chosen) { label, text + length + 1 };
		return 0;
	}
	log_error("%s %s: is no label of jobs with a pattern, such as slurm_job=42, "
		  "cgroup=/kubepods* or user=alice; labels are cgroup, container, pod, slurm_job, "
		  "slurm_step and user",
		  option, text);
	return -EINVAL;
}

bool job_choice_has(const struct job_choice *choice, const struct ledger_job *job)
{
	for (size_t i = 0; i < choice->count; i++) {
		const char *value = choice->each[i].label->get(job);

		if (value[0] && !fnmatch(choice->each[i].pattern, value, 0))
			return true;
	}
	return false;
}
