/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Two runs of which one recorded more: what the other did not record has no change. */
#include "unit_test.h"

#include <stdio.h>

#include "analysis/report/compare.h"
#include "analysis/report/limits.h"
#include "findings_made.h"

enum { BEFORE, NOW };

/* Random faults and a read. With a mode, no faults, and only in mode trace a read. */
static struct report *new_report(const char *off, const char *mode)
{
	struct made_trace made;
	struct report *report;

	BEGIN_RUN(&made, .off = off, .mode = mode, .spans = true);
	add_file(&made, 1, 256 * MIB, "/data/tokens.bin");
	add_file(&made, 2, MIB, "/data/list.txt");
	if (!mode || !strcmp(mode, "trace"))
		CALL(&made, .time = 500 * MS, .dur = MS, .pid = 10, .op = M_READ, .file = 2,
		     .asked = 1, .result = 1);
	for (uint64_t i = 0; i < 120 && !off && !mode; i++)
		FAULT(&made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = i * 40503 % 256 * MIB,
		      .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP, .fetched = MIB);
	report = report_between(&made, 10, END);
	made_close(&made);
	return report;
}

struct compared {
	struct report *reports[2];
	struct table *tables[COMPARE_TABLES];
};

static void compare(struct compared *compared, struct report *before, struct report *now)
{
	compared->reports[BEFORE] = before;
	compared->reports[NOW] = now;
	assert_int_equal(compare_make(compared->tables, before, now), 0);
}

static void free_compared(struct compared *compared)
{
	for (size_t i = 0; i < COMPARE_TABLES; i++)
		table_free(compared->tables[i]);
	report_free(compared->reports[BEFORE]);
	report_free(compared->reports[NOW]);
}

static const struct cell *cell_named(const struct table *table, const char *key, const char *name,
				     const char *column)
{
	const int keys = table_find_column(table, key);

	for (size_t i = 0; i < table->row_count; i++)
		if (cell_is(&table_row(table, i)[keys], name))
			return &table_row(table, i)[table_find_column(table, column)];
	fail_msg("no row %s", name);
	return NULL;
}

static bool changes(const struct table *table, const char *name)
{
	return cell_named(table, "name", name, "change_ns")->type == CELL_INT;
}

static void check_state(const struct compared *compared, const char *state)
{
	const struct cell *cell = cell_named(compared->tables[1], "id", "mmap-random", "state");

	if (!cell_is(cell, state))
		fail_msg("%.*s, not %s", (int)cell->length, cell->text, state);
}

/* Judges new findings; `says` receives the words. */
static enum limits_state judge(const struct compared *compared, char says[256])
{
	const struct limits limits = { .measure = "findings", .severity = FINDING_LOW };
	enum limits_state state;
	struct table *table;
	const struct cell *cell;

	assert_int_equal(limits_make(&table, &state, &limits, 1, compared->reports[BEFORE],
				     compared->reports[NOW]),
			 0);
	cell = &table->cells[table_find_column(table, "says")];
	snprintf(says, 256, "%.*s", (int)cell->length, cell->text);
	table_free(table);
	return state;
}

TEST(test_both_recorded_all)
{
	struct compared compared;
	char says[256];

	compare(&compared, new_report(NULL, NULL), new_report(NULL, NULL));
	assert_true(changes(compared.tables[0], "page faults"));
	assert_true(changes(compared.tables[2], "/data/tokens.bin"));
	/* Rows without a change are left out. */
	assert_int_equal(compared.tables[2]->row_count, 2);
	assert_int_equal(compare_rows_worth(compared.tables[0], compared.tables[2]), 0);
	check_state(&compared, "stayed");
	assert_int_equal(judge(&compared, says), LIMIT_WITHIN);
	free_compared(&compared);
}

/* The same reads, without the faults: only their file is worth a row. */
TEST(test_one_path_changed)
{
	struct compared compared;

	compare(&compared, new_report(NULL, "trace"), new_report(NULL, NULL));
	assert_int_equal(compared.tables[2]->row_count, 2);
	assert_int_equal(compare_rows_worth(compared.tables[0], compared.tables[2]), 1);
	free_compared(&compared);
}

/* The earlier run recorded no faults, or only sums. */
TEST(test_earlier_run_lacks_it)
{
	static const char *const runs[][2] = { { "fault", NULL }, { NULL, "profile" } };
	struct compared compared;
	char says[256];

	for (size_t i = 0; i < 2; i++) {
		compare(&compared, new_report(runs[i][0], runs[i][1]), new_report(NULL, NULL));
		assert_true(changes(compared.tables[0], "the run"));
		assert_false(changes(compared.tables[0], "page faults"));
		assert_false(changes(compared.tables[2], "/data/tokens.bin"));
		if (i) {
			assert_false(changes(compared.tables[0], "all I/O"));
			assert_false(changes(compared.tables[0], "unoverlapped I/O"));
		}
		check_state(&compared, "unknown");
		assert_int_equal(judge(&compared, says), LIMIT_UNKNOWN);
		assert_string_equal(says, "not checked in the earlier run: mmap-random");
		free_compared(&compared);
	}
}

/* Slow devices are those of layer block or of mounts: one is enough. */
TEST(test_checked_if_a_layer_suffices)
{
	const struct finding_rule *rule = finding_rule_named("device-slow");
	struct report *without = new_report(NULL, NULL), *with;
	struct made_trace made;

	BEGIN_RUN(&made, .block = true);
	with = report_between(&made, 10, END);
	made_close(&made);
	assert_true(finding_is_checked(rule, with));
	assert_false(finding_is_checked(rule, without));
	report_free(with);
	report_free(without);
}

/* A finding that this run could not have is not gone, and others may be new. */
TEST(test_this_run_lacks_it)
{
	struct compared compared;
	char says[256];

	compare(&compared, new_report(NULL, NULL), new_report("fault", NULL));
	assert_false(changes(compared.tables[0], "page faults"));
	assert_true(changes(compared.tables[0], "read()"));
	check_state(&compared, "unknown");
	assert_int_equal(judge(&compared, says), LIMIT_UNKNOWN);
	assert_non_null(strstr(says, "checked only in the earlier run"));
	free_compared(&compared);
}
