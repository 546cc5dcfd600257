/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#include "analysis/finding/finding_samples.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/stacks/lines.h"
#include "base/number.h"

struct table_text finding_path(const struct finding *finding)
{
	struct table_text path = { NULL, 0 };

	finding_get_evidence(finding->rule, finding->evidence, "path", table_get_text, &path,
			     sizeof(path));
	return path;
}

bool finding_takes_all(const struct finding *finding)
{
	double of_file = NAN;

	finding_get_evidence(finding->rule, finding->evidence, "of_file", table_get_real, &of_file,
			     sizeof(of_file));
	return finding->rule->lines_of_all || isfinite(of_file);
}

/* Verdicts on files, which are the same for all lines. */
enum verdict { UNKNOWN, YES, NO };

static bool takes_file(struct findings *findings, const struct finding *finding, uint32_t number)
{
	const struct finding_rule *rule = finding->rule;
	struct table_text path = finding_path(finding);
	struct file_view file;

	if (rule->files.takes)
		return number != FILE_NONE && file_group_takes(findings, rule, number);
	if (rule->lines_of_pattern)
		return io_patterns_has(findings->results, rule->io_pattern, number);
	if (number == FILE_NONE || !files_used(findings->results, number, &file))
		return finding_takes_all(finding);
	if (finding_takes_all(finding))
		return !file_group_is_program(&file);
	return path.bytes && file.path.length == path.length &&
	       !memcmp(file.path.bytes, path.bytes, path.length);
}

int finding_samples_init(struct finding_samples *samples, const struct results *results)
{
	size_t uses;

	*samples = (struct finding_samples) { .sites = NULL };
	lines_uses(results, &uses, &samples->count);
	samples->sites = calloc(samples->count + 1, sizeof(*samples->sites));
	return samples->sites ? 0 : -ENOMEM;
}

void finding_samples_free(struct finding_samples *samples)
{
	free(samples->sites);
}

void finding_samples_add(struct finding_samples *samples, uint32_t site, const char *kind,
			 const struct line_sums *sums)
{
	static const char *const kinds[] = { "main", "worker", "helper" };

	for (size_t i = 0; i < SAMPLED_KINDS; i++)
		if (!strcmp(kinds[i], kind))
			samples->kinds_ns[i] = number_add(samples->kinds_ns[i], sums->time_ns);
	line_sums_add(&samples->all, sums);
	if (site != SITE_NONE)
		line_sums_add(&samples->sites[site], sums);
}

/* Sums up the rows that a rule takes. */
static int sum_up_rows(struct findings *findings, const struct finding *finding,
		       struct finding_samples *samples)
{
	size_t count;
	struct lines_row *rows = lines_rows(findings->results, &count);

	for (size_t i = 0; rows && i < count; i++)
		if (finding->rule->lines_row(finding->evidence, &rows[i]))
			finding_samples_add(samples, rows[i].site, rows[i].kind, &rows[i].sums);
	free(rows);
	return rows ? 0 : -ENOMEM;
}

/* Returns, by process, the line that starts processes for the longest time, to be freed; NULL if
 * out of memory. */
static uint32_t *find_starts(const struct results *results, const struct finding *finding)
{
	const struct process_table *processes = &results->job->processes;
	uint64_t *most_ns = calloc(processes->count + 1, sizeof(*most_ns));
	uint32_t *starts = calloc(processes->count + 1, sizeof(*starts));
	size_t count;
	const struct path_stack *stacks = critical_path_stacks(results, THREAD_CPU, &count);

	for (size_t i = 0; starts && i < processes->count; i++)
		starts[i] = SITE_NONE;
	for (; starts && most_ns && count; count--, stacks++)
		if (stacks->time_ns > most_ns[stacks->process] &&
		    finding->rule->lines_start(results->job, stacks)) {
			most_ns[stacks->process] = stacks->time_ns;
			starts[stacks->process] =
				lines_site(results, stacks->trace, stacks->stack, stacks->cut);
		}
	free(most_ns);
	return starts;
}

/* Returns the line that started a process, if its own is only of generated code, as in one that
 * Python spawns ("<string>:1"). */
static uint32_t site_of_start(const struct results *results, const uint32_t *starts,
			      uint32_t process, uint32_t site)
{
	const struct process_table *processes = &results->job->processes;
	char location[LOCATION_BYTES];

	if (site == SITE_NONE)
		return site;
	lines_locate(results, site, location);
	if (location[0] != '<')
		return site;
	for (process = processes->processes[process].parent; process < processes->count;
	     process = processes->processes[process].parent)
		if (starts[process] != SITE_NONE)
			return starts[process];
	return site;
}

void finding_samples_add_stacks(struct finding_samples *samples, const struct results *results,
				const struct finding *finding, const struct path_stack *stacks,
				size_t count)
{
	uint32_t *starts =
		finding && finding->rule->lines_start ? find_starts(results, finding) : NULL;
	const bool exact = finding && finding->rule->state != THREAD_CPU;

	for (; count; count--, stacks++) {
		const struct line_sums sums = {
			.time_ns = stacks->time_ns,
			.samples = stacks->samples,
			.estimated_ns = exact ? 0 : stacks->time_ns,
			.estimated_samples = exact ? 0 : stacks->samples,
		};
		uint32_t site = lines_site(results, stacks->trace, stacks->stack, stacks->cut);

		if (starts)
			site = site_of_start(results, starts, stacks->process, site);
		if (!finding || finding->rule->lines_path(results->job, finding->evidence, stacks))
			finding_samples_add(samples, site < samples->count ? site : SITE_NONE,
					    thread_kind(results->job, stacks->process, stacks->tid),
					    &sums);
	}
	free(starts);
}

/* Sums up the operations of these uses on files that a rule takes. */
static int sum_up_uses(struct findings *findings, const struct finding *finding, unsigned int uses,
		       struct finding_samples *samples)
{
	const struct finding_rule *rule = finding->rule;
	const size_t files = findings->results->job->files.count;
	size_t count, sites;
	const struct line_use *use = lines_uses(findings->results, &count, &sites);
	uint8_t *verdicts = calloc(files + 1, 1); /* the last one is that of no file */

	for (; verdicts && count; count--, use++) {
		uint8_t *verdict = &verdicts[use->file < files ? use->file : files];

		if (!(uses >> files_use_of(use->class) & 1))
			continue;
		if (rule->lines_take)
			*verdict = rule->lines_take(findings, finding->evidence, use) ? YES : NO;
		else if (*verdict == UNKNOWN)
			*verdict = takes_file(findings, finding, use->file) ? YES : NO;
		if (*verdict == YES)
			finding_samples_add(samples, use->site, use->kind, &use->sums);
	}
	free(verdicts);
	return verdicts ? 0 : -ENOMEM;
}

int finding_samples_add_finding(struct finding_samples *samples, struct findings *findings,
				const struct finding *finding, unsigned int uses)
{
	const struct finding_rule *rule = finding->rule;
	size_t count;
	const struct path_stack *stacks =
		critical_path_stacks(findings->results, rule->state, &count);

	if (rule->lines_path)
		finding_samples_add_stacks(samples, findings->results, finding, stacks, count);
	if (rule->lines_path && (samples->all.time_ns || !rule->lines_row))
		return 0;
	return rule->lines_row ? sum_up_rows(findings, finding, samples)
			       : sum_up_uses(findings, finding, uses, samples);
}
