/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Samples of a finding's files and operations, summed up by line. */
#pragma once

#include "analysis/finding/finding_made.h"
#include "analysis/critical_path/critical_path.h"
#include "analysis/stacks/line_sums.h"

enum sampled_kind { SAMPLED_MAIN, SAMPLED_WORKER, SAMPLED_HELPER, SAMPLED_KINDS };

/* Sums by site, and the time by kind of thread. */
struct finding_samples {
	struct line_sums *sites, all; /* to be freed with finding_samples_free() */
	size_t count;
	uint64_t kinds_ns[SAMPLED_KINDS];
};

/* Makes empty sums. Returns 0 or -ENOMEM. */
int finding_samples_init(struct finding_samples *samples, const struct results *results);
void finding_samples_free(struct finding_samples *samples);
void finding_samples_add(struct finding_samples *samples, uint32_t site, const char *kind,
			 const struct line_sums *sums);

/* Adds a finding's samples, of operations of these `uses` (bits 1 << enum use) if its rule counts
 * operations. Returns 0 or -ENOMEM. */
int finding_samples_add_finding(struct finding_samples *samples, struct findings *findings,
				const struct finding *finding, unsigned int uses);
/* Adds stacks on the critical path; with a finding, only those that its rule takes. */
void finding_samples_add_stacks(struct finding_samples *samples, const struct results *results,
				const struct finding *finding, const struct path_stack *stacks,
				size_t count);

/* Returns the evidence's column "path"; empty if it has none. */
struct table_text finding_path(const struct finding *finding);
/* Returns whether the samples are of all files but programs: also if the evidence's path, one of
 * many, has less than half of the time. */
bool finding_takes_all(const struct finding *finding);
