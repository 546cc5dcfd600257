/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Sums over events as columns of tables. Knows nothing of which events they are.
 */
#include "analysis/tally.h"

#include <errno.h>
#include <stdio.h>

void tally_add_unseen(struct tally *tally, const struct trace_operation_total *unseen,
		      const struct event_unseen *place)
{
	tally->fetched_bytes += unseen->fetched_bytes;
	if (!place->whole)
		return;
	tally->count += unseen->count;
	tally->errors += unseen->errors;
	tally->bytes += unseen->bytes;
	if (place->timed)
		tally->thread_time_ns += unseen->thread_time_ns;
}

static bool recorded(const struct job *job, unsigned int needs)
{
	return (job->layers & needs) == needs;
}

int tally_add_columns(struct table *table, const struct job *job, const struct tally_group *group)
{
	char name[64], title[64];
	int status = 0;

	if (!recorded(job, group->needs))
		return table_add_column(table, group->name, NULL, UNIT_NONE);
	for (size_t i = 0; i < group->field_count && !status; i++) {
		const struct tally_field *field = &group->fields[i];
		bool titled = group->title && field->title;

		snprintf(name, sizeof(name), "%s.%s", group->name, field->name);
		if (titled)
			snprintf(title, sizeof(title), "%s %s", group->title, field->title);
		status = table_add_column(table, name, titled ? title : NULL, field->unit);
	}
	return status;
}

struct cell *tally_fill(struct cell *cell, const struct job *job, const struct tally_group *group,
			const struct tally *tally)
{
	static const struct tally empty;
	const char *sums = (const char *)(tally ? tally : &empty);

	if (!recorded(job, group->needs))
		return cell + 1;
	for (size_t i = 0; i < group->field_count; i++, cell++)
		if (recorded(job, group->fields[i].needs))
			cell_uint(cell, *(const uint64_t *)(sums + group->fields[i].offset));
	return cell;
}
