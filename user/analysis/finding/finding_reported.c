/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Whether earlier findings already explain a wait: for the same I/O. */
#include <string.h>

#include "analysis/finding/finding_made.h"
#include "base/number.h"

#define USE_SHARE 0.25 /* of its time, for a use to be what a finding is about */

void finding_get_evidence(const struct finding_rule *rule, const void *evidence, const char *name,
			  __typeof__(table_get_text) *get, void *value, size_t size)
{
	for (size_t i = 0; i < rule->evidence->count; i++) {
		const struct table_column *column = &rule->evidence->columns[i];

		if (!strcmp(column->name, name) && column->get == get)
			memcpy(value, (const char *)evidence + column->key, size);
	}
}

unsigned int finding_uses(const struct finding_rule *rule)
{
	if (!rule->files.takes)
		return rule->lines;
	return 1u << rule->files.use | rule->lines |
	       (rule->files.with_metadata ? 1u << USE_METADATA : 0) |
	       (rule->files.with_faults ? 1u << USE_MMAP : 0);
}

unsigned int finding_uses_of(const uint64_t times_ns[IO_CLASS_COUNT])
{
	uint64_t use_ns[USES] = { 0 }, all_ns = 0;
	unsigned int uses = 0;

	for (unsigned int class = 0; class < IO_CLASS_COUNT; class ++) {
		use_ns[files_use_of(class)] += times_ns[class];
		all_ns += times_ns[class];
	}
	for (unsigned int use = 0; use < USES; use++)
		if (use_ns[use] && use_ns[use] >= USE_SHARE * all_ns)
			uses |= 1u << use;
	return uses;
}

struct finding_io finding_io_of(const struct finding_rule *rule, const void *evidence,
				const struct finding_verdict *verdict)
{
	struct finding_io io = { .uses = verdict->uses ? verdict->uses : finding_uses(rule) };
	uint64_t files = 0;

	finding_get_evidence(rule, evidence, "files", table_get_uint, &files, sizeof(files));
	if (files == 1)
		finding_get_evidence(rule, evidence, "path", table_get_text, &io.path,
				     sizeof(io.path));
	return io;
}

/* A rule that names another in its `reported_by` knows that their uses agree, unless the uses of
 * the other one's findings vary. */
static bool may_be_same(const struct finding *finding, const struct finding_io *io)
{
	const unsigned int uses = finding->verdict.uses;
	const struct table_text path =
		finding_io_of(finding->rule, finding->evidence, &finding->verdict).path;

	if (uses && io->uses && !(uses & io->uses))
		return false;
	return !path.length || !io->path.length ||
	       (path.length == io->path.length && !memcmp(path.bytes, io->path.bytes, path.length));
}

uint64_t finding_cost_of_runs(const struct findings *findings, const char *id)
{
	const struct table *reported = findings->reported;
	uint64_t most_ns = 0;

	for (size_t row = 0; reported && row < reported->row_count; row++)
		if (cell_is(&table_row(reported, row)[FINDING_ID], id))
			most_ns = number_max(most_ns,
					     finding_number_at(reported, row, FINDING_COST_NS));
	return most_ns;
}

/* CPU work of the same lines is no wait. */
static uint64_t explained_ns(const struct finding *finding)
{
	return number_max(finding->waited_ns, finding->verdict.covers_ns);
}

uint64_t finding_cost_of(const struct findings *findings, const char *id,
			 const struct finding_io *io)
{
	uint64_t most_ns = finding_cost_of_runs(findings, id);

	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->all[i].rule->id, id) &&
		    (!io || may_be_same(&findings->all[i], io)))
			most_ns = number_max(most_ns, explained_ns(&findings->all[i]));
	return most_ns;
}

bool finding_is_reported(const struct findings *findings, const char *const *ids, uint64_t cost_ns,
			 const struct finding_io *io)
{
	bool reported = false;

	/* A sum over threads costs no more than the run took. */
	if (findings->aggregated && cost_ns > findings->duration_ns)
		cost_ns = findings->duration_ns;
	for (; *ids && !reported && cost_ns; ids++)
		reported = finding_cost_of(findings, *ids, io) >=
			   threshold(THRESHOLD_SAME_WAIT) * cost_ns;
	return reported;
}
