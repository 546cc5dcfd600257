/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Parses --fail-above, and turns the comparison into an exit status. */
#include "command/common/fail_above.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "command/common/command.h"
#include "command/common/no_trace.h"
#include "base/log.h"
#include "base/units.h"

/* --- parsing --- */

/* "10%" or "12.5%", as a share of 1. */
static bool parse_share(const char *text, double *share)
{
	char *end;
	double percent;

	if (text[0] < '0' || text[0] > '9')
		return false;
	percent = strtod(text, &end);
	if (strcmp(end, "%") || percent > 1e6)
		return false;
	*share = percent / 100;
	return true;
}

static bool parse_number(const char *text, enum table_unit unit, uint64_t *number)
{
	return unit == UNIT_NS ? units_read_time(text, number)
			       : units_read_number(text, unit == UNIT_BYTES, number);
}

/* "10%", "64M", "10%+1s": each part at most once. Modifies the text. */
static bool parse_growth(struct limits *limits, char *text)
{
	bool share = false, more = false;

	for (char *part = text, *next; part; part = next) {
		next = strchr(part, '+');
		if (next)
			*next++ = '\0';
		if (!share && parse_share(part, &limits->share))
			share = true;
		else if (!more && parse_number(part, limits->unit, &limits->more))
			more = true;
		else
			return false;
	}
	return true;
}

static bool parse_severity(struct limits *limits, const char *text)
{
	for (int i = FINDING_NOTE; i <= FINDING_HIGH; i++) {
		if (strcmp(finding_severities[i], text))
			continue;
		limits->severity = i;
		return true;
	}
	return false;
}

static int refuse_measure(const char *name, int why)
{
	struct strbuf list = { .used = 0 };

	if (why == -EINVAL) {
		log_error("--fail-above %s: not a time, a number of bytes or a count", name);
		return EXIT_USAGE;
	}
	strbuf_add(&list, "findings");
	for (const struct limits_word *word = limits_words; word->name; word++)
		strbuf_join(&list, ", ", "%s", word->name);
	log_error("--fail-above %s: no such measure; use one of %s, or a column of a one-row "
		  "table, such as totals.read.count (see --list-columns)",
		  name, list.bytes);
	return EXIT_USAGE;
}

static int refuse_allowance(const char *measure, const char *text, enum table_unit unit)
{
	log_error("--fail-above %s=%s: not a limit; use a percentage (10%%), %s, or both (10%%+%s)",
		  measure, text,
		  unit == UNIT_NS      ? "a time (250ms)"
		  : unit == UNIT_BYTES ? "bytes (64M)"
				       : "a count (100)",
		  unit == UNIT_NS      ? "250ms"
		  : unit == UNIT_BYTES ? "64M"
				       : "100");
	return EXIT_USAGE;
}

/* "MEASURE" or "MEASURE=ALLOWANCE". Modifies the text. */
static int parse_one(struct limits *limits, const struct report *nothing, char *text, bool against)
{
	char *allowance = strchr(text, '='), *reported = NULL;
	int status;

	if (allowance)
		*allowance++ = '\0';
	status = limits_find(limits, nothing, text);
	if (status)
		return refuse_measure(text, status);
	if (!limits->table.bytes) {
		if (parse_severity(limits, allowance ? allowance : "high"))
			return 0;
		log_error("--fail-above findings=%s: not one of note, low, medium, high",
			  allowance);
		return EXIT_USAGE;
	}
	if (!allowance)
		return 0;
	reported = strdup(allowance); /* a copy, because parsing modifies it */
	if (!parse_growth(limits, allowance))
		status = refuse_allowance(text, reported ? reported : "", limits->unit);
	free(reported);
	if (!status && limits->share > 0 && !against) {
		log_error("--fail-above %s: a percentage requires --against TRACE, the run to "
			  "compare with",
			  text);
		status = EXIT_USAGE;
	}
	return status;
}

/* The measures are those of an empty report. */
static int parse_list(struct fail_above *limits, const struct report *nothing, bool against)
{
	size_t max = 1;
	int status = 0;

	for (const char *at = limits->text; *at; at++)
		max += *at == ',';
	limits->list = calloc(max, sizeof(*limits->list));
	if (!limits->list)
		return EXIT_FAILED;
	for (char *one = limits->text, *next; one && !status; one = next) {
		next = strchr(one, ',');
		if (next)
			*next++ = '\0';
		status = parse_one(&limits->list[limits->count++], nothing, one, against);
	}
	return status;
}

int fail_above_parse(struct fail_above *limits, const char *text, bool against)
{
	struct trace_reader *reader = NULL;
	struct report *nothing = NULL;
	int status = no_trace_report(&nothing, &reader, NULL);

	limits->text = status ? NULL : strdup(text);
	status = status || !limits->text ? EXIT_FAILED : parse_list(limits, nothing, against);
	if (status == EXIT_FAILED)
		log_error("--fail-above: out of memory");
	report_free(nothing);
	trace_reader_close(reader);
	return status;
}

/* --- judging --- */

int fail_above_judge(struct fail_above *limits, const struct report *before,
		     const struct report *now)
{
	return limits_make(&limits->table, &limits->state, limits->list, limits->count, before,
			   now);
}

static struct strbuf name_measures(const struct table *table, const char *state)
{
	const int column = table_find_column(table, "state"),
		  name = table_find_column(table, "measure");
	struct strbuf list = { .used = 0 };

	for (size_t i = 0; i < table->row_count; i++) {
		const struct cell *row = table_row(table, i);

		if (cell_is(&row[column], state))
			strbuf_join(&list, ", ", "%.*s", (int)row[name].length, row[name].text);
	}
	return list;
}

int fail_above_status(const struct fail_above *limits)
{
	struct strbuf list;

	if (limits->state == LIMIT_WITHIN)
		return 0;
	if (limits->state == LIMIT_EXCEEDED) {
		list = name_measures(limits->table, "worse");
		log_error("--fail-above: limits exceeded: %s", list.bytes);
		return EXIT_WORSE;
	}
	list = name_measures(limits->table, "not known");
	log_error("--fail-above: not measured in these traces, so not checked: %s", list.bytes);
	return EXIT_FAILED;
}

void fail_above_free(struct fail_above *limits)
{
	table_free(limits->table);
	free(limits->list);
	free(limits->text);
}
