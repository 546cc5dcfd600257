/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Finds the lines whose samples are of a finding's files and operations. */
#include "analysis/finding/finding_lines.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/finding/finding_files.h"
#include "analysis/stacks/lines.h"
#include "base/strbuf.h"

#define LINES_NAMED 2	/* at most, each with at least */
#define SHARE_MIN 0.1	/* of the time */
#define SHARE_MOST 0.75 /* with it, a line is enough */

static unsigned int uses_of(const struct finding_rule *rule)
{
	if (!rule->files.takes)
		return rule->lines;
	return 1u << rule->files.use | (rule->files.with_metadata ? 1u << USE_METADATA : 0) |
	       (rule->files.with_faults ? 1u << USE_MMAP : 0);
}

/* The evidence's column "path"; empty if it has none. */
static struct table_text path_of(const struct finding *finding)
{
	struct table_text path = { NULL, 0 };

	for (size_t i = 0; i < finding->rule->evidence_count; i++) {
		const struct table_column *column = &finding->rule->evidence[i];

		if (!strcmp(column->name, "path") && column->get == table_get_text)
			memcpy(&path, (const char *)finding->evidence + column->key, sizeof(path));
	}
	return path;
}

static bool takes_file(struct findings *findings, const struct finding *finding, uint32_t number)
{
	struct table_text path = path_of(finding);
	struct file_view file;

	if (finding->rule->files.takes)
		return number != FILE_NONE && file_group_takes(findings, finding->rule, number);
	if (number == FILE_NONE || !files_used(findings->results, number, &file))
		return finding->rule->lines_of_all;
	if (finding->rule->lines_of_all)
		return !file_group_is_program(&file);
	return path.bytes && file.path.length == path.length &&
	       !memcmp(file.path.bytes, path.bytes, path.length);
}

/* Sums of a finding's samples by site. */
struct located {
	struct line_sums *sites, all;
	size_t count;
};

static int sum_up(struct findings *findings, const struct finding *finding, struct located *located)
{
	enum { UNKNOWN, YES, NO };
	const size_t files = findings->results->job->files.count;
	const unsigned int uses = uses_of(finding->rule);
	size_t count;
	const struct line_use *line = lines_uses(findings->results, &count, &located->count);
	uint8_t *verdicts = calloc(files + 1, 1); /* the last one is that of no file */

	located->sites = calloc(located->count + 1, sizeof(*located->sites));
	if (!verdicts || !located->sites) {
		free(verdicts);
		return -ENOMEM;
	}
	for (; count; count--, line++) {
		uint8_t *verdict = &verdicts[line->file < files ? line->file : files];

		if (!(uses >> files_use_of(line->class) & 1))
			continue;
		if (*verdict == UNKNOWN)
			*verdict = takes_file(findings, finding, line->file) ? YES : NO;
		if (*verdict == NO)
			continue;
		line_sums_add(&located->all, &line->sums);
		if (line->site != SITE_NONE)
			line_sums_add(&located->sites[line->site], &line->sums);
	}
	free(verdicts);
	return 0;
}

/* Returns the site with the most time; the number of sites if none has any. */
static size_t find_worst(const struct located *located)
{
	size_t worst = located->count;
	uint64_t most_ns = 0;

	for (size_t i = 0; i < located->count; i++)
		if (located->sites[i].time_ns > most_ns) {
			most_ns = located->sites[i].time_ns;
			worst = i;
		}
	return worst;
}

/* The standard error of a part's share, by that of the part and that of the rest. */
static double share_error(const struct line_sums *part, const struct line_sums *all, double share)
{
	const struct line_sums rest = {
		.estimated_ns = all->estimated_ns - part->estimated_ns,
		.estimated_samples = all->estimated_samples - part->estimated_samples,
	};

	return hypot((1 - share) * line_sums_error(part), share * line_sums_error(&rest)) /
	       all->time_ns;
}

/* "loader.py:42 in TokenDataset.__getitem__, 61% ± 2% of it; train.py:7 in main, 30% ± 2%" */
int finding_locate(struct findings *findings, struct finding *finding)
{
	struct located located = { .sites = NULL };
	struct strbuf text = { .used = 0 };
	double named = 0;
	int status = 0;

	if (!uses_of(finding->rule))
		return 0;
	status = sum_up(findings, finding, &located);
	for (int i = 0; i < LINES_NAMED && !status && named < SHARE_MOST; i++) {
		const size_t worst = find_worst(&located);
		char location[LOCATION_BYTES];
		double share, error;

		if (worst == located.count)
			break;
		share = finding_share(located.sites[worst].time_ns, located.all.time_ns);
		if (share < SHARE_MIN)
			break;
		error = share_error(&located.sites[worst], &located.all, share);
		lines_locate(findings->results, worst, location);
		strbuf_clause(&text, "%.120s, %.0f%%", location, 100 * share);
		if (error >= 0.005)
			strbuf_add(&text, " ± %.0f%%", 100 * error);
		strbuf_add(&text, i ? "" : " of it");
		named += share;
		located.sites[worst].time_ns = 0;
	}
	if (!status && text.used) {
		finding->where = arena_text(findings->arena, text.bytes, text.used);
		status = finding->where ? 0 : -ENOMEM;
	}
	free(located.sites);
	return status;
}
