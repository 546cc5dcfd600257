/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Compares measures of two reports with the growth that is allowed. */
#include "analysis/report/limits.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/run/trace_table.h"
#include "base/units.h"

#define SAYS_MAX 512

const struct limits_word limits_words[] = {
	{ "time", "trace", { "duration_ns" }, NULL, NULL, "duration of the run" },
	{ "io",
	  "totals",
	  { "io.time_ns" },
	  NULL,
	  NULL,
	  "time with at least one operation or fault in progress" },
	{ "unoverlapped",
	  "overlap",
	  { "unoverlapped_io_ns" },
	  "totals",
	  "io.time_ns",
	  "I/O time outside compute; all I/O time if no compute is marked" },
	{ "operations",
	  "totals",
	  { "read.count", "write.count", "metadata.count", "sync.count" },
	  NULL,
	  NULL,
	  "calls, faults excluded" },
	{ "errors",
	  "totals",
	  { "read.errors", "write.errors", "metadata.errors", "sync.errors" },
	  NULL,
	  NULL,
	  "calls that failed" },
	{ "read", "totals", { "read.bytes" }, NULL, NULL, "bytes read by calls" },
	{ "written", "totals", { "write.bytes" }, NULL, NULL, "bytes written by calls" },
	{ "faults",
	  "totals",
	  { "mmap_read.faults", "mmap_write.faults" },
	  NULL,
	  NULL,
	  "page faults on mapped files" },
	{ "fetched",
	  "totals",
	  { "read.fetched_bytes", "write.fetched_bytes", "metadata.fetched_bytes",
	    "sync.fetched_bytes", "mmap_read.fetched_bytes", "mmap_write.fetched_bytes",
	    "unattributed.fetched_bytes", "indirect.fetched_bytes" },
	  NULL,
	  NULL,
	  "bytes read from storage into the page cache, readahead included" },
	{ NULL, NULL, { NULL }, NULL, NULL, NULL },
};

static bool is_word(const char *word, struct table_text text)
{
	return strlen(word) == text.length && !memcmp(word, text.bytes, text.length);
}

/* Finds a table of one row. */
static const struct table *record_of(const struct report *report, struct table_text name)
{
	for (size_t i = 0; i < report->table_count; i++)
		if (is_word(report->tables[i]->name, name) &&
		    report->tables[i]->shape == TABLE_RECORD)
			return report->tables[i];
	return NULL;
}

static struct table_text literal(const char *text)
{
	return (struct table_text) { text, strlen(text) };
}

/* --- measures --- */

/* "totals.read.bytes": the table is the part before the first dot. */
static int set_column(struct limits *limits, const char *measure)
{
	const char *dot = strchr(measure, '.');

	if (!dot)
		return -ENOENT;
	limits->table = (struct table_text) { measure, dot - measure };
	limits->columns[0] = dot + 1;
	return 0;
}

static void set_word(struct limits *limits, const struct limits_word *word)
{
	limits->table = literal(word->table);
	memcpy(limits->columns, word->columns, sizeof(limits->columns));
	limits->instead_table = word->instead_table;
	limits->instead = word->instead;
}

int limits_find(struct limits *limits, const struct report *report, const char *measure)
{
	const struct limits_word *word = limits_words;
	const struct table *table;
	int status = 0, column;

	*limits = (struct limits) { .measure = measure,
				    .unit = UNIT_COUNT,
				    .severity = FINDING_NOTE };
	if (!strcmp(measure, "findings"))
		return 0;
	while (word->name && strcmp(word->name, measure))
		word++;
	if (word->name)
		set_word(limits, word);
	else
		status = set_column(limits, measure);
	table = status ? NULL : record_of(report, limits->table);
	column = table ? table_find_column(table, limits->columns[0]) : -1;
	if (column < 0)
		return -ENOENT;
	limits->unit = table->columns[column].unit;
	return limits->unit == UNIT_COUNT || limits->unit == UNIT_BYTES || limits->unit == UNIT_NS
		       ? 0
		       : -EINVAL;
}

/* --- numbers --- */

struct number {
	uint64_t value; /* TABLE_NO_UINT: unknown */
	bool at_least;
};

static struct number number_in(const struct report *report, struct table_text name,
			       const char *column)
{
	const struct table *table = record_of(report, name);
	int found =
		table && !table->absent && table->row_count ? table_find_column(table, column) : -1;
	const struct cell *cell = found < 0 ? NULL : &table->cells[found];

	if (!cell || cell->type != CELL_UINT || cell->summed)
		return (struct number) { .value = TABLE_NO_UINT };
	return (struct number) { .value = cell->uint, .at_least = cell->at_least };
}

static struct number number_of(const struct report *report, const struct limits *limits)
{
	struct number sum = { 0 };

	for (size_t i = 0; i < LIMIT_COLUMNS_MAX && limits->columns[i]; i++) {
		struct number one = number_in(report, limits->table, limits->columns[i]);

		if (one.value == TABLE_NO_UINT && limits->instead)
			one = number_in(report, literal(limits->instead_table), limits->instead);
		if (one.value == TABLE_NO_UINT)
			return one;
		if (__builtin_add_overflow(sum.value, one.value, &sum.value))
			sum.value = TABLE_NO_UINT - 1;
		sum.at_least |= one.at_least;
	}
	return sum;
}

/* Returns the limit; it is never below `before`, because share and absolute amount only add. */
static uint64_t limit_of(uint64_t before, const struct limits *limits)
{
	long double limit = before + (long double)before * limits->share + limits->more;

	return limit < (long double)(TABLE_NO_UINT - 1) ? (uint64_t)limit : TABLE_NO_UINT - 1;
}

/* --- findings --- */

/* A severity unknown to this version may be anything. */
static bool is_severe(const struct cell *finding, enum finding_severity min)
{
	enum finding_severity severity = finding_severity_in(&finding[FINDING_SEVERITY]);

	return severity >= min || severity == FINDING_BY_COST;
}

static bool has_finding(const struct report *report, const struct cell *id,
			enum finding_severity min)
{
	const struct table *table = report_by(report, &analysis_findings);

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *row = table_row(table, i);

		if (row[FINDING_ID].length == id->length &&
		    !memcmp(row[FINDING_ID].text, id->text, id->length) && is_severe(row, min))
			return true;
	}
	return false;
}

/* --- the table --- */

struct limits_row {
	struct table_text measure;
	const char *state, *unit;
	uint64_t before, now, limit; /* TABLE_NO_UINT: unknown */
	char says[SAYS_MAX];
};

static void get_says(struct table *table, struct cell *cell, const void *row,
		     const struct table_column *column)
{
	const struct limits_row *line = row;

	table_set_literal(table, cell, line->says);
}

static const struct table_column columns[] = {
	COLUMN(limits_row, state, "", NONE, FACT,
	       "worse: over the limit; within: not over it; or not known"),
	COLUMN(limits_row, measure, "measure", NONE, FACT, "measure that must not grow"),
	COLUMN(limits_row, unit, NULL, NONE, FACT, "ns, bytes or count"),
	COLUMN(limits_row, before, NULL, NONE, FACT, "value in the earlier run, in unit"),
	COLUMN(limits_row, now, NULL, NONE, FACT, "value in this run, in unit"),
	{ "allowed", NULL, UNIT_NONE, KIND_FACT, "highest value that is allowed, in unit",
	  TABLE_UINT(struct limits_row, limit), 0 },
	{ "says", "what", UNIT_NONE, KIND_FACT, "the result as text", .get = get_says },
};

static const char *reported(char text[UNITS_TEXT], uint64_t value, enum table_unit unit)
{
	if (value == TABLE_NO_UINT)
		return "not known";
	return unit == UNIT_NS	    ? units_ns(text, value)
	       : unit == UNIT_BYTES ? units_bytes(text, value)
				    : units_count(text, value);
}

/* If the old number is a lower bound, growth is not proven; if the new one is, its absence is
 * not. */
static enum limits_state judge(struct limits_row *line, const struct limits *limits,
			       const struct report *before, const struct report *now)
{
	const struct number was = before ? number_of(before, limits) : (struct number) { 0 };
	const struct number is = number_of(now, limits);
	const bool known = was.value != TABLE_NO_UINT && is.value != TABLE_NO_UINT;
	char text[3][UNITS_TEXT];
	size_t used;

	line->before = before ? was.value : TABLE_NO_UINT;
	line->now = is.value;
	line->limit = known ? limit_of(was.value, limits) : TABLE_NO_UINT;
	used = snprintf(line->says, sizeof(line->says), "%s%s",
			is.at_least && known ? "at least " : "",
			reported(text[0], is.value, limits->unit));
	if (before)
		used += snprintf(line->says + used, sizeof(line->says) - used, ", before %s%s",
				 was.at_least && known ? "at least " : "",
				 reported(text[1], was.value, limits->unit));
	if (known)
		snprintf(line->says + used, sizeof(line->says) - used, "; limit %s",
			 reported(text[2], line->limit, limits->unit));
	if (!known)
		return LIMIT_UNKNOWN;
	if (is.value > line->limit)
		return was.at_least ? LIMIT_UNKNOWN : LIMIT_EXCEEDED;
	return is.at_least ? LIMIT_UNKNOWN : LIMIT_WITHIN;
}

static uint64_t count_findings(const struct report *report, enum finding_severity min)
{
	const struct table *table = report_by(report, &analysis_findings);
	uint64_t count = 0;

	for (size_t i = 0; i < table->row_count; i++)
		count += is_severe(table_row(table, i), min);
	return count;
}

/* Most rules need single operations. */
static bool has_events(const struct report *report)
{
	return cell_is(&report_by(report, &analysis_trace)->cells[ABOUT_MODE], "trace");
}

/* The findings that only this run has: those of rules that the earlier run could check, or the
 * others. Returns how many. */
static size_t list_new(struct limits_row *line, enum finding_severity min, bool checked,
		       const struct report *before, const struct report *now)
{
	const struct table *table = report_by(now, &analysis_findings);
	size_t used = 0, count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *row = table_row(table, i), *id = &row[FINDING_ID];
		const struct finding_rule *rule = finding_rule_of(id);

		if (!is_severe(row, min) || (before && has_finding(before, id, min)) ||
		    checked != (!before || (rule && finding_is_checked(rule, before))))
			continue;
		if (used < sizeof(line->says))
			used += snprintf(line->says + used, sizeof(line->says) - used, "%s%.*s",
					 count	   ? ", "
					 : checked ? "new: "
						   : "not checked in the earlier run: ",
					 (int)id->length, id->text);
		count++;
	}
	return count;
}

static size_t count_unchecked(const struct report *before, const struct report *now)
{
	size_t count = 0;

	for (size_t i = 0; i < finding_rule_count; i++)
		count += finding_is_checked(finding_rules[i], before) &&
			 !finding_is_checked(finding_rules[i], now);
	return count;
}

/* A finding of that severity in the run before is not new. */
static enum limits_state judge_findings(struct limits_row *line, const struct limits *limits,
					const struct report *before, const struct report *now)
{
	size_t unchecked;

	line->now = count_findings(now, limits->severity);
	line->before = before ? count_findings(before, limits->severity) : TABLE_NO_UINT;
	line->limit = TABLE_NO_UINT;
	if (list_new(line, limits->severity, true, before, now))
		return LIMIT_EXCEEDED;
	if (list_new(line, limits->severity, false, before, now))
		return LIMIT_UNKNOWN;
	unchecked = before ? count_unchecked(before, now) : 0;
	if (!has_events(now))
		snprintf(line->says, sizeof(line->says),
			 "findings require individual events (--mode trace)");
	else if (unchecked)
		snprintf(line->says, sizeof(line->says),
			 "%zu kinds of findings were checked only in the earlier run", unchecked);
	else
		snprintf(line->says, sizeof(line->says), "no new findings of severity %s or above",
			 finding_severities[limits->severity]);
	return unchecked || !has_events(now) ? LIMIT_UNKNOWN : LIMIT_WITHIN;
}

int limits_make(struct table **table, enum limits_state *state, const struct limits *list,
		size_t count, const struct report *before, const struct report *now)
{
	static const char *const states[] = { "within", "not known", "worse" };

	*table = table_new("allowed", "Limits", TABLE_LIST);
	*state = LIMIT_WITHIN;
	table_add_columns(*table, TABLE_COLUMNS(columns));
	for (size_t i = 0; i < count; i++) {
		struct limits_row line = {
			.measure = literal(list[i].measure),
			.unit = list[i].unit == UNIT_NS	     ? "ns"
				: list[i].unit == UNIT_BYTES ? "bytes"
							     : "count",
		};
		enum limits_state one = list[i].table.bytes
						? judge(&line, &list[i], before, now)
						: judge_findings(&line, &list[i], before, now);

		line.state = states[one];
		*state = one > *state ? one : *state;
		table_add(*table, &line);
	}
	return table_status(*table);
}
