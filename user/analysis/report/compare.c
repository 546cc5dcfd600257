/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Tables of two reports, joined by the names of their rows. */
#include "analysis/report/compare.h"
#include "analysis/report/compare_lines.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/totals/access.h"
#include "analysis/phases/timeline.h"
#include "analysis/finding/finding.h"
#include "collections/compare.h"
#include "collections/map.h"
#include "analysis/files/paths.h"
#include "analysis/run/trace_table.h"
#include "base/number.h"

enum { BEFORE, NOW, SIDES };
enum { TIME, BYTES, COUNT, NUMBERS };

/* A row of a joined table. */
struct compare_row {
	struct table_text name, title;
	uint64_t numbers[SIDES][NUMBERS]; /* TABLE_NO_UINT: missing or unknown */
	bool in[SIDES];
	bool open[SIDES]; /* missing, but the run may have had it */
	/* For the columns: */
	int64_t change_ns;
	double times;
	const char *state;
};

/* Columns to join. */
struct compared_columns {
	size_t name, title, numbers[NUMBERS];
};

struct join {
	struct arena arena;
	struct compare_row *lines;
	size_t count, room;
	struct map names;
};

static uint64_t number_of(const struct cell *cell)
{
	return cell->type == CELL_UINT && !cell->summed ? cell->uint : TABLE_NO_UINT;
}

static struct table_text text_of(const struct cell *cell)
{
	return cell->type == CELL_TEXT ? (struct table_text) { cell->text, cell->length }
				       : (struct table_text) { 0 };
}

/* Returns the line of a name, creating it if needed; NULL if out of memory. */
static struct compare_row *line_of(struct join *join, struct table_text name)
{
	const uint64_t key = map_hash_bytes(&join->names, name.bytes, name.length);
	struct compare_row *row;
	bool added;

	row = MAP_ITEM(&join->names, &key, join->lines, join->room, join->count, &added);
	if (row && added) {
		memset(row->numbers, 0xff, sizeof(row->numbers));
		row->name = name;
	}
	return row;
}

static int add_side(struct join *join, const struct table *table,
		    const struct compared_columns *source, int side)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *cells = table_row(table, i);
		struct compare_row *line = line_of(join, text_of(&cells[source->name]));

		if (!line)
			return -ENOMEM;
		if (line->in[side]) /* several findings of one kind: the most expensive is first */
			continue;
		line->in[side] = true;
		line->title = text_of(&cells[source->title]);
		for (int j = 0; j < NUMBERS; j++)
			line->numbers[side][j] = number_of(&cells[source->numbers[j]]);
	}
	return 0;
}

/* --- the run as a whole --- */

static uint64_t sum_of(const struct table *timeline, enum timeline_column column)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < timeline->row_count; i++) {
		const uint64_t part = number_of(&table_row(timeline, i)[column]);

		if (part == TABLE_NO_UINT)
			return TABLE_NO_UINT;
		sum += part;
	}
	return sum;
}

static int add_time(struct join *join, const char *name, int side, uint64_t time_ns)
{
	struct compare_row *line;

	if (time_ns == TABLE_NO_UINT)
		return 0;
	line = line_of(join, (struct table_text) { name, strlen(name) });
	if (!line)
		return -ENOMEM;
	line->in[side] = true;
	line->numbers[side][TIME] = time_ns;
	return 0;
}

static int add_run(struct join *join, const struct report *report, int side)
{
	const struct table *trace = report_by(report, &analysis_trace);
	const struct table *timeline = report_by(report, &analysis_timeline);
	int status = add_time(join, "the run", side, number_of(&trace->cells[ABOUT_DURATION]));

	if (!status)
		status = add_time(join, "compute", side, sum_of(timeline, TIMELINE_COMPUTE));
	if (!status)
		status = add_time(join, "unoverlapped I/O", side, sum_of(timeline, TIMELINE_IO));
	return status;
}

/* --- tables --- */

static const struct table_column columns[] = {
	COLUMN(compare_row, name, "", PATH, FACT, "run, class of calls or path that is compared"),
	COLUMN(compare_row, change_ns, "change", NS, FACT, "time now minus time before"),
	COLUMN(compare_row, times, "ratio", NONE, FACT, "time now divided by time before"),
	COLUMN_AS("before.time_ns", compare_row, numbers[BEFORE][TIME], "time before", NS, FACT,
		  "time in the earlier run"),
	COLUMN_AS("now.time_ns", compare_row, numbers[NOW][TIME], "time now", NS, FACT,
		  "time in this run"),
	COLUMN_AS("before.fetched_bytes", compare_row, numbers[BEFORE][BYTES],
		  "from storage before", BYTES, FACT,
		  "bytes read from storage into the page cache in the earlier run"),
	COLUMN_AS("now.fetched_bytes", compare_row, numbers[NOW][BYTES], "from storage now", BYTES,
		  FACT, "bytes read from storage into the page cache in this run"),
	COLUMN_AS("before.operations", compare_row, numbers[BEFORE][COUNT], "operations before",
		  COUNT, FACT, "number of operations in the earlier run"),
	COLUMN_AS("now.operations", compare_row, numbers[NOW][COUNT], "operations now", COUNT, FACT,
		  "number of operations in this run"),
};

static const char shown[] = "name,change_ns,times,before.time_ns,now.time_ns,"
			    "before.fetched_bytes,now.fetched_bytes";

static const struct table_column finding_columns[] = {
	COLUMN(compare_row, state, "", NONE, FACT,
	       "came: only in this run; went: only in the earlier run; stayed: in both; unknown: "
	       "the other run did not record what it takes to check"),
	COLUMN_AS("id", compare_row, name, "finding", NONE, FACT, "name of the finding"),
	COLUMN_AS("before.cost_ns", compare_row, numbers[BEFORE][TIME], "cost before", NS, FACT,
		  "cost of the finding in the earlier run"),
	COLUMN_AS("now.cost_ns", compare_row, numbers[NOW][TIME], "cost now", NS, FACT,
		  "cost of the finding in this run"),
	COLUMN(compare_row, title, "what", NONE, FACT, "title of the finding"),
};

static const char *state_of(const struct compare_row *line)
{
	if (line->open[BEFORE] || line->open[NOW])
		return "unknown";
	return !line->in[BEFORE] ? "came" : line->in[NOW] ? "stayed" : "went";
}

/* Returns the time of a row: 0 if the run has none, TABLE_NO_UINT if that is unknown. */
static uint64_t time_of(const struct compare_row *line, int side)
{
	return line->in[side] || line->open[side] ? line->numbers[side][TIME] : 0;
}

static void compare(struct compare_row *line)
{
	uint64_t before = time_of(line, BEFORE), now = time_of(line, NOW);

	line->state = state_of(line);
	line->change_ns = TABLE_NO_INT;
	line->times = NAN;
	if (before == TABLE_NO_UINT || now == TABLE_NO_UINT)
		return;
	line->change_ns = (int64_t)(now - before);
	if (before && line->in[NOW])
		line->times = (double)now / before;
}

static uint64_t size_of_change(const struct compare_row *line)
{
	uint64_t change = line->change_ns;

	return line->change_ns == TABLE_NO_INT ? 0 : line->change_ns < 0 ? -change : change;
}

static int compare_changes(const void *left, const void *right)
{
	uint64_t a = size_of_change(left), b = size_of_change(right);

	return COMPARE(b, a);
}

/* Frees the join. */
static int fill(struct table **table, struct join *join, const char *name, const char *title,
		const struct table_column *list, size_t count, const char *view, bool sorted)
{
	int status;

	*table = table_new(name, title, TABLE_LIST);
	table_add_columns(*table, list, count);
	for (size_t i = 0; i < join->count; i++)
		compare(&join->lines[i]);
	if (sorted && join->count)
		qsort(join->lines, join->count, sizeof(*join->lines), compare_changes);
	for (size_t i = 0; i < join->count; i++)
		table_add(*table, &join->lines[i]);
	status = table_show(*table, view, NULL, NULL, NULL);
	arena_free(&join->arena);
	return status;
}

/* Rows that only one run has, from the given one on. */
static void leave_open(struct join *join, size_t first, int side, bool open)
{
	for (size_t i = first; i < join->count; i++)
		join->lines[i].open[side] = open && !join->lines[i].in[side];
}

/* What the other run recorded of I/O and this one did not may have happened here, too. So may rows
 * that were summed up or dropped. */
static bool is_open(const struct report *const reports[SIDES], const struct analysis *analysis,
		    int side)
{
	const struct table *table = report_by(reports[side], analysis);
	const struct table *access = report_by(reports[side], &analysis_access);
	unsigned int layers[SIDES];

	if (table->absent || table->folded || table->cut || !access->row_count ||
	    number_of(&access->cells[ACCESS_TIME]) == TABLE_NO_UINT)
		return true;
	for (int i = 0; i < SIDES; i++)
		layers[i] = trace_layers(report_by(reports[i], &analysis_trace)) &
			    (JOB_SYSCALL | JOB_FAULT | JOB_ASYNC | JOB_VFS | JOB_PAGECACHE);
	return layers[!side] & ~layers[side];
}

static int join_tables(struct join *join, const struct report *const reports[SIDES],
		       const struct analysis *analysis, const struct compared_columns *source)
{
	const size_t first = join->count;
	int status = 0;

	for (int side = 0; side < SIDES && !status; side++)
		status = add_side(join, report_by(reports[side], analysis), source, side);
	for (int side = 0; side < SIDES; side++)
		leave_open(join, first, side, is_open(reports, analysis, side));
	return status;
}

static int join_runs(struct join *join, const struct report *const reports[SIDES])
{
	int status = 0;

	for (int side = 0; side < SIDES && !status; side++)
		status = add_run(join, reports[side], side);
	for (int side = 0; side < SIDES; side++)
		leave_open(join, 0, side, true);
	return status;
}

static int join_findings(struct join *join, const struct report *const reports[SIDES],
			 const struct compared_columns *source)
{
	int status = join_tables(join, reports, &analysis_findings, source);

	for (size_t i = 0; i < join->count; i++) {
		struct compare_row *line = &join->lines[i];
		const struct cell id = { .type = CELL_TEXT,
					 .text = line->name.bytes,
					 .length = line->name.length };
		const struct finding_rule *rule = finding_rule_of(&id);

		for (int side = 0; side < SIDES; side++)
			line->open[side] = !line->in[side] &&
					   !(rule && finding_is_checked(rule, reports[side]));
	}
	return status;
}

int compare_make(struct table *tables[COMPARE_TABLES], const struct report *before,
		 const struct report *now)
{
	static const struct compared_columns access = {
		ACCESS_NAME, ACCESS_NAME, { ACCESS_TIME, ACCESS_FETCHED, ACCESS_COUNT }
	};
	static const struct compared_columns finding = {
		FINDING_ID,
		FINDING_TITLE,
		{ FINDING_COST_NS, FINDING_COST_BYTES, FINDING_COST_BYTES },
	};
	static const struct compared_columns path_columns = {
		PATH_PATH, PATH_PATH, { PATH_TIME, PATH_FETCHED, PATH_OPERATIONS }
	};
	const struct report *const reports[SIDES] = { [BEFORE] = before, [NOW] = now };
	struct join whole = { 0 }, findings = { 0 }, paths = { 0 };
	int status = 0, filled;

	memset(tables, 0, COMPARE_TABLES * sizeof(*tables));
	map_init_in(&whole.names, &whole.arena, 1, 1);
	map_init_in(&findings.names, &findings.arena, 1, 1);
	map_init_in(&paths.names, &paths.arena, 1, 1);
	status = join_runs(&whole, reports);
	if (!status)
		status = join_tables(&whole, reports, &analysis_access, &access);
	if (!status)
		status = join_findings(&findings, reports, &finding);
	if (!status)
		status = join_tables(&paths, reports, &analysis_paths, &path_columns);
	filled = fill(&tables[0], &whole, "compared", NULL, TABLE_COLUMNS(columns), shown, false);
	status = status ? status : filled;
	filled = fill(&tables[1], &findings, "compared_findings", "Findings",
		      TABLE_COLUMNS(finding_columns), NULL, true);
	status = status ? status : filled;
	filled = fill(&tables[2], &paths, "compared_paths", "Paths, largest change first",
		      TABLE_COLUMNS(columns), shown, true);
	status = status ? status : filled;
	filled = compare_lines_make(&tables[3], before, now);
	return status ? status : filled;
}

/* Changes below this share of the longer run are not worth a row. */
#define WORTH_SHARE 0.001

size_t compare_rows_worth(const struct table *whole, const struct table *sorted)
{
	const int column = table_find_column(sorted, "change_ns");
	double min_ns = WORTH_SHARE * number_max(table_uint(whole, 0, "before.time_ns"),
						 table_uint(whole, 0, "now.time_ns"));
	size_t count = 0;

	while (count < sorted->row_count) {
		const struct cell *change = &table_row(sorted, count)[column];

		if (change->type != CELL_INT || fabs((double)change->sint) < min_ns)
			break;
		count++;
	}
	return count;
}
