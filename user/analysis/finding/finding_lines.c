/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the lines whose samples are of a finding's files and operations. */
#include "analysis/finding/finding_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/path.h"
#include "analysis/finding/finding_samples.h"
#include "analysis/stacks/lines.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/utf8.h"

#define LINES_NAMED 2	   /* at most, each with at least */
#define NAME_MAX_BYTES 120 /* of a location; longer ones are cut */
#define SHARE_MIN 0.1	   /* of the time */
#define SHARE_MAX 0.75	   /* with it, a line is enough */
#define ERROR_MAX 0.3	   /* of a share: one or two samples name no line */

/* Returns the site with the most time; the number of sites if none has any. */
static size_t find_worst(const struct finding_samples *samples)
{
	size_t worst = samples->count;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < samples->count; i++)
		if (samples->sites[i].time_ns > most_ns) {
			most_ns = samples->sites[i].time_ns;
			worst = i;
		}
	return worst;
}

int finding_held_at(struct findings *findings, struct table_text *at)
{
	size_t count;
	const struct path_stack *stacks =
		critical_path_stacks(findings->results, PATH_LOCKED, &count);
	struct finding_samples samples;
	char location[LOCATION_BYTES];
	size_t worst;
	int status;

	*at = (struct table_text) { NULL, 0 };
	if (!count)
		return 0;
	status = finding_samples_init(&samples, findings->results);
	if (!status)
		finding_samples_add_stacks(&samples, findings->results, NULL, stacks, count);
	worst = find_worst(&samples);
	if (!status && worst < samples.count) {
		lines_locate(findings->results, worst, location);
		at->length = strlen(location);
		at->bytes = arena_text(findings->arena, location, at->length);
		status = at->bytes ? 0 : -ENOMEM;
	}
	finding_samples_free(&samples);
	return status;
}

/* The standard error of a part's share, by that of the part and that of the rest. Even if all of n
 * samples are of the part, one in n + 1 may not be. */
static double share_error(const struct line_sums *part, const struct line_sums *all, double share)
{
	const struct line_sums rest = {
		.estimated_ns = all->estimated_ns - part->estimated_ns,
		.estimated_samples = all->estimated_samples - part->estimated_samples,
	};
	const double rest_ns = rest.estimated_samples
				       ? line_sums_error(&rest)
				       : part->estimated_ns / (part->estimated_samples + 1.0);

	return hypot((1 - share) * line_sums_error(part), share * rest_ns) / all->time_ns;
}

/* Adds a name, cut at a character. */
static void add_name(struct strbuf *text, const char *name, size_t length)
{
	const size_t shown = utf8_cut(name, length, NAME_MAX_BYTES);

	strbuf_add(text, "%.*s%s", (int)shown, name, shown < length ? "…" : "");
}

/* "of it"; "of the time on FILE", or on several files, if the samples are also of other operations
 * or other files than the finding is about; "of its I/O" */
static void add_whole(struct strbuf *text, const struct finding *finding)
{
	const struct finding_rule *rule = finding->rule;
	const struct table_text path = finding_path(finding);
	uint64_t files = TABLE_NO_UINT;
	size_t base;

	finding_get_evidence(finding->rule, finding->evidence, "files", table_get_uint, &files,
			     sizeof(files));
	if (rule->lines_whole) {
		strbuf_add(text, " of %s", rule->lines_whole);
	} else if (rule->lines_of_pattern && files != 1) {
		strbuf_add(text, " of the time on these files");
	} else if (rule->files.takes || rule->lines_of_all || !path.length) {
		strbuf_add(text, " of it");
	} else if (finding_takes_all(finding)) {
		strbuf_add(text, " of the time on all files");
	} else {
		base = path_base(path.bytes, path.length);
		strbuf_add(text, " of the time on ");
		add_name(text, path.bytes + base, path.length - base);
	}
}

bool finding_lines_kinds(const struct results *results)
{
	size_t count, sites;
	const struct line_use *use = lines_uses(results, &count, &sites);

	for (size_t i = 1; i < results->job->processes.count; i++)
		if (strcmp(process_kind(results->job, i), "main"))
			return true;
	for (; count; count--, use++)
		if (strcmp(use->kind, "main"))
			return true;
	return false;
}

/* " (in workers and helper threads)": those with a noticeable share of the time, unless all have.
 */
static void add_kinds(const struct results *results, struct strbuf *text,
		      const struct finding_samples *samples)
{
	static const char *const texts[SAMPLED_KINDS] = { "main threads", "workers",
							  "helper threads" };
	uint64_t whole_ns, mains;
	const char *named[SAMPLED_KINDS];
	size_t threads, count = 0;

	critical_path_threads(results, &threads, &whole_ns, &mains);
	for (size_t i = 0; i < SAMPLED_KINDS; i++)
		if (finding_share(samples->kinds_ns[i], samples->all.time_ns) >= SHARE_MIN)
			named[count++] =
				i == SAMPLED_MAIN && mains == 1 ? "the main thread" : texts[i];
	if (count == 1)
		strbuf_add(text, " (in %s)", named[0]);
	else if (count == 2)
		strbuf_add(text, " (in %s and %s)", named[0], named[1]);
}

/* "loader.py:42 in TokenDataset.__getitem__, 61% ± 2% of it; train.py:7 in main, 30% ± 2% (in
 * workers)" */
int finding_locate(struct findings *findings, struct finding *finding)
{
	struct finding_samples samples;
	struct strbuf text = { .used = 0 };
	double named = 0;
	int status;

	if (!finding_uses(finding->rule) && !finding->rule->lines_row && !finding->rule->lines_path)
		return 0;
	status = finding_samples_init(&samples, findings->results);
	if (!status)
		status = finding_samples_add_finding(&samples, findings, finding,
						     finding_uses(finding->rule));
	for (int i = 0; i < LINES_NAMED && !status && named < SHARE_MAX; i++) {
		const size_t worst = find_worst(&samples);
		char location[LOCATION_BYTES];
		double share, error;

		if (worst == samples.count)
			break;
		share = finding_share(samples.sites[worst].time_ns, samples.all.time_ns);
		error = share_error(&samples.sites[worst], &samples.all, share);
		if (share < SHARE_MIN || error >= ERROR_MAX)
			break;
		lines_locate(findings->results, worst, location);
		strbuf_clause(&text, "%s", "");
		add_name(&text, location, strlen(location));
		strbuf_add(&text, ", %.0f%%", 100 * share);
		if (error >= 0.005)
			strbuf_add(&text, " ± %.0f%%", 100 * error);
		if (!i)
			add_whole(&text, finding);
		named += share;
		samples.sites[worst].time_ns = 0;
	}
	if (text.used && findings->many_kinds)
		add_kinds(findings->results, &text, &samples);
	if (!status && text.used) {
		finding->where = arena_text(findings->arena, text.bytes, text.used);
		status = finding->where ? 0 : -ENOMEM;
	}
	finding_samples_free(&samples);
	return status;
}
