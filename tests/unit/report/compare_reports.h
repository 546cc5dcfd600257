/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares a report of parts with a report of the whole, number by number. */
#pragma once

#include "analysis/finding/finding.h"
#include "analysis/report/report_parts.h"
#include "random_job.h"

/* --- tables --- */

/*
 * Everything not listed here must be equal. "single runs": conclusions from one run's numbers
 * differ from conclusions from all runs together. "by events": several runs need their events for
 * it.
 */
static const struct exception {
	const char *table, *column; /* NULL: all columns, and which rows exist */
	const char *why;
} exceptions[] = {
	{ "findings", NULL, "some rules look at single runs; others: compare_findings()" },
	{ "caveats", NULL, "words, and one that says what they are put together from" },
	{ "paths", NULL, "which files are alike is decided in single runs" },
	{ "readahead", NULL, "a run does not see what another read of a file" },
	{ "writeback", NULL, "a run does not see what another wrote to a file" },
	{ "lifetimes", NULL, "a run does not see that another removed a file" },
	{ "timeline", NULL, "by events" },
	{ "device_heat", NULL, "by events" },
	{ "files", "pattern.followed", "threads share slots where they are looked for" },
	{ "files", "pattern.backward", "threads share slots where they are looked for" },
	{ "files", "read.pattern.followed", "threads share slots where they are looked for" },
	{ "files", "read.pattern.backward", "threads share slots where they are looked for" },
	{ "files", "mmap.pattern.followed", "threads share slots where they are looked for" },
	{ "files", "mmap.pattern.backward", "threads share slots where they are looked for" },
	{ "reopens", NULL, "which files are opened often is decided in single runs" },
	{ "programs", NULL, "which are many is decided in single runs" },
	{ "steps", "outlier", "what stands out does so among the steps of its run" },
	{ "failed_lookups", "example", "the first of some run" },
	{ "io_patterns", "path", "where runs share files, none knows the total of one" },
	{ "io_patterns", "file_thread_time_ns", "the same" },
};

static bool is_excepted(const char *table, const char *column)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (!strcmp(exceptions[i].table, table) &&
		    (!exceptions[i].column || (column && !strcmp(exceptions[i].column, column))))
			return true;
	return false;
}

/* Columns that identify a row. */
static bool is_identity(const char *table, const char *column, enum table_kind kind)
{
	static const char *const of[][2] = {
		{ "slowest", "op" },	  { "slowest", "start_ns" }, { "slowest", "tid" },
		{ "steps", "rank" },	  { "steps", "start_ns" },   { "processes", "host" },
		{ "epochs", "start_ns" },
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (!strcmp(of[i][0], table) && !strcmp(of[i][1], column))
			return true;
	/* Epochs of processes without a rank are counted together, over all runs. */
	if (!strcmp(table, "epochs") && !strcmp(column, "epoch"))
		return false;
	return kind == KIND_KEY;
}

static bool is_known(const struct cell *cell)
{
	return cell->type != CELL_NULL && !cell->summed;
}

static bool is_same(const struct cell *a, const struct cell *b);

static bool has_text(const struct cell *list, const struct cell *text)
{
	for (uint32_t i = 0; i < list->length; i++)
		if (is_same(&list->texts[i], text))
			return true;
	return false;
}

static bool same_tables(const struct table *a, const struct table *b)
{
	bool same = a->row_count == b->row_count && a->column_count == b->column_count;

	for (size_t i = 0; same && i < a->row_count * a->column_count; i++)
		same = is_same(&a->cells[i], &b->cells[i]);
	return same;
}

static bool is_same(const struct cell *a, const struct cell *b)
{
	if (is_known(a) != is_known(b))
		return false;
	if (!is_known(a))
		return true;
	if (a->type != b->type)
		return false;
	switch (a->type) {
	case CELL_BOOL:
		return a->flag == b->flag;
	case CELL_TEXT:
		return a->length == b->length && !memcmp(a->text, b->text, a->length);
	case CELL_TEXTS: /* in run order */
		for (uint32_t i = 0; i < a->length; i++)
			if (!has_text(b, &a->texts[i]))
				return false;
		return a->length == b->length;
	case CELL_TABLE:
		return same_tables(a->table, b->table);
	case CELL_REAL: /* the same numbers, computed in another order */
		return a->real - b->real < 1e-9 && b->real - a->real < 1e-9;
	default:
		return a->uint == b->uint;
	}
}

static const struct cell *at(const struct table *table, size_t row, size_t column)
{
	return &table->cells[row * table->column_count + column];
}

struct comparing {
	const struct analysis *analysis;
	const struct table *whole, *parts;
	bool *taken; /* rows of the parts already matched */
	bool apart;
	size_t reported, unreported;
};

static size_t same_row(const struct comparing *comparing, size_t row)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	for (size_t other = 0; other < parts->row_count; other++) {
		bool same = !comparing->taken[other];

		for (size_t i = 0; i < whole->column_count && same; i++)
			if (is_identity(whole->name, whole->columns[i].name,
					whole->columns[i].kind))
				same = is_same(at(whole, row, i), at(parts, other, i));
		if (same)
			return other;
	}
	fail_msg("%s: row %zu of the report of the traces is missing", whole->name, row);
	return 0;
}

/* Steps and epochs of a process without a rank are measured by the whole job's activity. */
static bool is_unranked(const struct table *table, size_t row)
{
	int rank = table_find_column(table, "rank");

	return (!strcmp(table->name, "steps") || !strcmp(table->name, "epochs")) && rank >= 0 &&
	       !is_known(at(table, row, rank));
}

/* True if a report of parts may leave the column null. */
static bool may_be_open(const struct comparing *comparing, const struct table_column *column)
{
	enum table_kind kind = column->kind;

	if (kind == KIND_UNION || kind == KIND_COVERED || kind == KIND_UNOVERLAPPED ||
	    kind == KIND_REMAINDER)
		return !comparing->apart && !comparing->analysis->merging.own &&
		       strcmp(comparing->whole->name, "processes");
	return kind == KIND_DERIVED || kind == KIND_RATIO || kind == KIND_FACT ||
	       kind == KIND_DURATION || kind == KIND_SHARED;
}

static void compare_row(struct comparing *comparing, size_t row, size_t other)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	for (size_t i = 0; i < whole->column_count; i++) {
		const struct table_column *column = &whole->columns[i];

		if (is_excepted(whole->name, column->name) || is_unranked(whole, row))
			continue;
		if (is_same(at(whole, row, i), at(parts, other, i))) {
			comparing->reported++;
			continue;
		}
		if (is_known(at(parts, other, i)) || !may_be_open(comparing, column))
			fail_msg("%s.%s of row %zu: %s%lld of the traces, %s%lld of the parts",
				 whole->name, column->name, row,
				 is_known(at(whole, row, i)) ? "" : "null ",
				 (long long)at(whole, row, i)->uint,
				 is_known(at(parts, other, i)) ? "" : "null ",
				 (long long)at(parts, other, i)->uint);
		comparing->unreported++;
	}
}

static void compare_tables(struct comparing *comparing)
{
	const struct table *whole = comparing->whole, *parts = comparing->parts;

	if (is_excepted(whole->name, NULL))
		return;
	if (whole->absent && parts->absent)
		return;
	if (comparing->analysis->merging.whole && parts->absent) {
		comparing->unreported++;
		return;
	}
	assert_int_equal(whole->absent, parts->absent);
	if (whole->column_count != parts->column_count)
		fail_msg("%s: %zu columns of the traces, %zu of the parts", whole->name,
			 whole->column_count, parts->column_count);
	for (size_t i = 0; i < whole->column_count; i++) {
		const char *title = parts->columns[i].title;

		assert_string_equal(whole->columns[i].name, parts->columns[i].name);
		assert_true(!title || !strstr(title, "summed, summed"));
	}
	if (whole->row_count != parts->row_count)
		fail_msg("%s: %zu rows of the traces, %zu of the parts", whole->name,
			 whole->row_count, parts->row_count);
	comparing->taken = calloc(parts->row_count + 1, sizeof(*comparing->taken));
	assert_non_null(comparing->taken);
	for (size_t row = 0; row < whole->row_count; row++) {
		size_t other = same_row(comparing, row);

		comparing->taken[other] = true;
		compare_row(comparing, row, other);
	}
	free(comparing->taken);
}

static inline void compare(const struct report *whole, const struct report *parts, bool apart,
			   size_t *reported, size_t *unreported)
{
	size_t count;
	const struct analysis *const *analyses = report_analyses(&count);

	assert_int_equal(whole->table_count, parts->table_count);
	for (size_t i = 0; i < count; i++) {
		struct comparing comparing = { .analysis = analyses[i],
					       .whole = whole->tables[i],
					       .parts = parts->tables[i],
					       .apart = apart };

		compare_tables(&comparing);
		*reported += comparing.reported;
		*unreported += comparing.unreported;
	}
}

/* --- findings --- */

/* Evidence that all runs together give differently, or not at all. */
static bool is_of_single_runs(const char *column)
{
	static const char *const names[] = { "place", "example", "consecutive", "backward", "path",
					     "file", "readahead_bytes", "files", "other_files",
					     /* depends on files that changed between runs: */
					     "size_bytes", "size_each" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(column, names[i]))
			return true;
	return false;
}

static const struct cell *find_finding(const struct report *report, const char *id)
{
	const struct table *findings = report_table(report, "findings");
	const struct cell *found = NULL;

	for (size_t row = 0; row < findings->row_count; row++)
		if (cell_is(at(findings, row, FINDING_ID), id)) {
			assert_null(found);
			found = at(findings, row, 0);
		}
	return found;
}

static void compare_evidence(const char *id, const struct table *whole, const struct table *parts)
{
	assert_int_equal(whole->column_count, parts->column_count);
	for (size_t i = 0; i < whole->column_count; i++)
		if (!is_of_single_runs(whole->columns[i].name) && !parts->cells[i].summed &&
		    !is_same(&whole->cells[i], &parts->cells[i]))
			fail_msg("%s: %s is %lld of the traces, %lld of the parts", id,
				 whole->columns[i].name, (long long)whole->cells[i].uint,
				 (long long)parts->cells[i].uint);
}

/* Findings based on wait times treat overlapping runs individually. */
static bool is_of_waits(const char *id)
{
	static const char *const ids[] = { "fsync-often",	   "flushes",	      "device-slow",
					   "device-overloaded",	   "sync-checkpoint", "loader-io",
					   "loader-preprocessing", "loader-idle" };

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (!strcmp(id, ids[i]))
			return true;
	return false;
}

/* True if the finding rests on so few operations that only their time triggered it. */
static bool is_of_few(const struct report *report, const char *id)
{
	const struct cell *evidence = find_finding(report, id) + FINDING_EVIDENCE_COLUMN;
	int count = table_find_column(evidence->table, "count");

	return count >= 0 && evidence->table->cells[count].type == CELL_UINT &&
	       evidence->table->cells[count].uint < 100;
}

static size_t found; /* findings compared */

/* For overlapping runs, a cost is that of at least one run, and may be too low to report. */
static void compare_finding(const struct report *whole, const struct report *parts, const char *id,
			    bool apart)
{
	const struct cell *a = find_finding(whole, id), *b = find_finding(parts, id);
	uint64_t duration_ns = ask(whole, "trace", 0, "duration_ns")->uint;

	if (a && !b && !apart && a[FINDING_COST_NS].type == CELL_UINT &&
	    a[FINDING_COST_NS].uint < TRACES_MAX * 0.002 * duration_ns)
		return;
	if (!apart && is_of_waits(id))
		return;
	/* Overlapping runs sum their times, which makes shares larger. */
	if (!apart && (!strcmp(id, "metadata-heavy") || finding_rule_named(id)->files.takes))
		return;
	/* A few slow operations count by their share of the run, which leaves out files whose size
	 * changed between runs.
	 */
	if (!a != !b && is_of_few(a ? whole : parts, id))
		return;
	if (!a != !b)
		fail_msg("%s is only reported for the %s", id, a ? "traces" : "parts");
	if (!a)
		return;
	found++;
	compare_evidence(id, a[FINDING_EVIDENCE_COLUMN].table, b[FINDING_EVIDENCE_COLUMN].table);
	for (int i = 0; i < FINDING_COLUMNS; i++)
		if ((i == FINDING_COST_BYTES || i == FINDING_CONFIDENCE ||
		     (apart && (i == FINDING_COST_NS || i == FINDING_SEVERITY))) &&
		    !is_same(&a[i], &b[i]))
			fail_msg("%s: %s differs", id,
				 report_table(whole, "findings")->columns[i].name);
}

/* Findings that only all runs together show are found without their events, too. */
static void compare_findings(const struct report *whole, const struct report *parts, bool apart)
{
	for (size_t i = 0; i < finding_rule_count; i++)
		if (finding_rules[i]->cross_run)
			compare_finding(whole, parts, finding_rules[i]->id, apart);
}
