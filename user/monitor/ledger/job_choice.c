/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Matches labels against patterns; a job without the label never matches. */
#include "monitor/ledger/job_choice.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "base/log.h"
#include "base/strbuf.h"

static void say_known_labels(const char *option, const char *text)
{
	struct strbuf list = { .used = 0 };

	for (size_t i = 0; i < ledger_label_count; i++)
		strbuf_join(&list, ", ", "%s", ledger_labels[i].name);
	log_error("%s %s: not LABEL=PATTERN, such as slurm_job=42, cgroup=/kubepods* or "
		  "user=alice; labels are %s",
		  option, text, list.bytes);
}

int job_choice_add(const char *option, const char *text, struct job_choice *choice)
{
	size_t length = strcspn(text, "=");

	for (size_t i = 0; i < ledger_label_count && choice->count < JOB_CHOICE_MAX; i++) {
		const struct ledger_label *label = &ledger_labels[i];

		if (strlen(label->name) != length || strncmp(label->name, text, length) != 0 ||
		    !text[length] || !text[length + 1])
			continue;
		choice->each[choice->count++] = (struct job_chosen) { label, text + length + 1 };
		return 0;
	}
	say_known_labels(option, text);
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
