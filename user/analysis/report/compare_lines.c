/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Lines of two reports that took longer or shorter, by more than samples may differ by chance. */
#include "analysis/report/compare_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/shared/results.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "base/number.h"

enum { BEFORE, NOW, SIDES };

/* Standard errors of a change: chance exceeds them in one of 20 cases. */
#define ERRORS_MIN 2

/* A line in one state, summed up over libraries, ranks and kinds of threads. */
struct compared_line {
	struct table_text location, file, state;
	uint64_t time_ns[SIDES], uncertainty_ns[SIDES];
	double variance[SIDES], share[SIDES];
	/* of the change: */
	int64_t change_ns;
	uint64_t change_uncertainty_ns;
	double times;
};

struct compared_lines {
	const struct table *tables[SIDES]; /* "lines" */
	struct arena arena;
	struct map numbers; /* hashes of location, file and state -> index in `lines` */
	struct map totals;  /* hash of a state -> time of all its lines, by side */
	struct compared_line *lines;
	size_t count, room;
};

/* --- rows of the reports; in a summary, any cell may have any type --- */

static const struct cell *cell_at(const struct table *table, size_t row, const char *name)
{
	static const struct cell none = { .type = CELL_NULL };
	const int column = table_find_column(table, name);

	return column < 0 ? &none : &table_row(table, row)[column];
}

static struct table_text text_at(const struct table *table, size_t row, const char *name)
{
	const struct cell *cell = cell_at(table, row, name);

	return cell->type == CELL_TEXT ? (struct table_text) { cell->text, cell->length }
				       : (struct table_text) { "", 0 };
}

static uint64_t hash_of(const struct compared_lines *all, struct table_text text)
{
	return map_hash_bytes(&all->numbers, text.bytes, text.length);
}

static void add_row(struct compared_lines *all, int side, size_t row)
{
	const struct table *table = all->tables[side];
	const struct compared_line like = { .location = text_at(table, row, "location"),
					    .file = text_at(table, row, "file"),
					    .state = text_at(table, row, "state") };
	const uint64_t key[] = { hash_of(all, like.location), hash_of(all, like.file),
				 hash_of(all, like.state) };
	const uint64_t time_ns = table_uint(table, row, "time_ns");
	const double error_ns = table_uint(table, row, "uncertainty_ns");
	struct compared_line *line;
	uint64_t *total;
	bool added;

	if (!like.state.length) /* the rest, of all states */
		return;
	total = map_add(&all->totals, &key[2], &added);
	if (total)
		total[side] = number_add(total[side], time_ns);
	if (!like.file.length)
		return;
	line = MAP_ITEM(&all->numbers, key, all->lines, all->room, all->count, &added);
	if (!line)
		return;
	if (added)
		*line = like;
	line->time_ns[side] = number_add(line->time_ns[side], time_ns);
	line->variance[side] += error_ns * error_ns;
}

/* --- what changed --- */

static uint64_t rounded(double error_ns)
{
	return error_ns < 0x1p63 ? llround(error_ns) : INT64_MAX;
}

/* With rows summed up over states, the totals are not known. */
static double share_of(const struct compared_lines *all, const struct compared_line *line, int side)
{
	const uint64_t key = hash_of(all, line->state), *total = map_find(&all->totals, &key);

	return total && total[side] && !all->tables[side]->folded
		       ? (double)line->time_ns[side] / total[side]
		       : NAN;
}

static void compare(const struct compared_lines *all, struct compared_line *line)
{
	line->change_ns = line->time_ns[NOW] - line->time_ns[BEFORE];
	line->change_uncertainty_ns = rounded(sqrt(line->variance[BEFORE] + line->variance[NOW]));
	line->times =
		line->time_ns[BEFORE] ? (double)line->time_ns[NOW] / line->time_ns[BEFORE] : NAN;
	for (int side = 0; side < SIDES; side++) {
		line->uncertainty_ns[side] = rounded(sqrt(line->variance[side]));
		line->share[side] = share_of(all, line, side);
	}
}

static bool has_changed(const struct compared_lines *all, const struct compared_line *line)
{
	const double change_ns = fabs((double)line->time_ns[NOW] - line->time_ns[BEFORE]);

	for (int side = 0; side < SIDES; side++)
		if (!line->time_ns[side] && all->tables[side]->folded)
			return false; /* it may be in the rest */
	return change_ns > ERRORS_MIN * line->change_uncertainty_ns;
}

COMPARE_BY(compare_changes, struct compared_line,
	   COMPARE(fabs((double)b->change_ns), fabs((double)a->change_ns)))

static const struct table_column columns[] = {
	COLUMN(compared_line, location, "", NONE, FACT,
	       "file without its directories, line and function"),
	COLUMN(compared_line, file, NULL, PATH, FACT, "source file"),
	COLUMN(compared_line, state, "state", NONE, FACT, "as in table lines"),
	COLUMN(compared_line, change_ns, "change", NS, FACT, "time now minus time before"),
	COLUMN(compared_line, change_uncertainty_ns, "±", NS, FACT,
	       "standard error of the change, from those of both times"),
	COLUMN(compared_line, times, "ratio", NONE, FACT, "time now divided by time before"),
	COLUMN_AS("before.time_ns", compared_line, time_ns[BEFORE], "time before", NS, FACT,
		  "time in the earlier run, summed over threads"),
	COLUMN_AS("before.uncertainty_ns", compared_line, uncertainty_ns[BEFORE], "±", NS, FACT,
		  "its standard error"),
	COLUMN_AS("before.share", compared_line, share[BEFORE], "share before", SHARE, FACT,
		  "share of the time of all lines in this state in the earlier run"),
	COLUMN_AS("now.time_ns", compared_line, time_ns[NOW], "now", NS, FACT,
		  "time in this run, summed over threads"),
	COLUMN_AS("now.uncertainty_ns", compared_line, uncertainty_ns[NOW], "±", NS, FACT,
		  "its standard error"),
	COLUMN_AS("now.share", compared_line, share[NOW], "now", SHARE, FACT,
		  "share of the time of all lines in this state in this run"),
};

static const char shown[] =
	"location,state,change_ns,change_uncertainty_ns,before.time_ns,now.time_ns,"
	"before.share,now.share,times";

static void fill(struct compared_lines *all, struct table *table)
{
	for (int side = 0; side < SIDES; side++)
		for (size_t row = 0; row < all->tables[side]->row_count; row++)
			add_row(all, side, row);
	for (size_t i = 0; i < all->count; i++)
		compare(all, &all->lines[i]);
	if (all->count)
		qsort(all->lines, all->count, sizeof(*all->lines), compare_changes);
	for (size_t i = 0; i < all->count; i++)
		if (has_changed(all, &all->lines[i]))
			table_add(table, &all->lines[i]);
	table_set_note(table, "changes within two standard errors are left out");
}

int compare_lines_make(struct table **table, const struct report *before, const struct report *now)
{
	struct compared_lines all = {
		.tables = { [BEFORE] = report_by(before, &analysis_lines),
			    [NOW] = report_by(now, &analysis_lines) },
	};
	int status;

	*table = table_new("compared_lines", "Lines, largest change first", TABLE_LIST);
	table_add_columns(*table, TABLE_COLUMNS(columns));
	map_init_in(&all.numbers, &all.arena, 3, 1);
	map_init_in(&all.totals, &all.arena, 1, SIDES);
	if (!*table)
		return -ENOMEM;
	(*table)->absent = all.tables[BEFORE]->absent || all.tables[NOW]->absent;
	if ((*table)->absent)
		table_set_note(*table, "requires layer stack in both runs");
	else
		fill(&all, *table);
	status = arena_status(&all.arena) ?: table_show(*table, shown, NULL, NULL, NULL);
	arena_free(&all.arena);
	return status;
}
