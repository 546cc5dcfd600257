/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Findings: each rule triggers on a trace with its problem and not on a sound sibling; every row of
 * the registry is complete. See finding.h for how to add a rule.
 */
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/finding/finding.h"
#include "analysis/finding/finding_text.h"
#include "ask_report.h"

#define MS 1000000ull
#define MIB (1ull << 20)

static const struct cell *evidence(const struct report *report, size_t row, const char *name)
{
	const struct table *record = ask(report, "findings", row, "evidence")->table;
	int column = table_find_column(record, name);

	assert_int_not_equal(column, -1);
	return &record->cells[column];
}

static void make_start(struct made_trace *made)
{
	BEGIN(made);
	EXEC(made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
}

static struct report *finish(struct made_trace *made, uint64_t end_ns)
{
	made_finish(made, 10, end_ns);
	return made_report(&made->reader, 1);
}

static void free_all(struct made_trace *made, struct report *report)
{
	done(made, report);
}

/* --- the registry --- */

#define ROOM(array) (sizeof(array) / sizeof((array)[0]))

static void check_listed(const struct finding_rule *rule, const struct finding_threshold *wanted)
{
	bool listed = !wanted;

	for (size_t i = 0; rule->thresholds[i]; i++)
		listed |= wanted && !strcmp(rule->thresholds[i]->meaning, wanted->meaning);
	if (!listed)
		fail_msg("%s: .thresholds lacks \"%s\"", rule->id, wanted->meaning);
}

/* Texts only name existing evidence; every rule has the texts that --explain prints. */
TEST(test_registry)
{
	(void)state;
	for (size_t i = 0; i < finding_rule_count; i++) {
		const struct finding_rule *rule = finding_rules[i];
		const char *advice =
			rule->advice_in_general ? rule->advice_in_general : rule->advice;
		const char *texts[] = { rule->title, rule->says, rule->advice, rule->more, advice };
		void *nothing = calloc(1, rule->evidence->bytes);
		struct arena arena = { 0 };
		struct table *record;

		assert_non_null(rule->id);
		assert_ptr_equal(finding_rule_named(rule->id), rule);
		assert_non_null(rule->find);
		assert_true(rule->order > (i ? finding_rules[i - 1]->order : 0));
		/* Lists end with NULL, which a full one has no room for. */
		assert_null(rule->reported_by[ROOM(rule->reported_by) - 1]);
		assert_null(rule->thresholds[ROOM(rule->thresholds) - 1]);
		for (size_t j = 0; rule->reported_by[j]; j++) {
			const struct finding_rule *other = finding_rule_named(rule->reported_by[j]);

			if (!other || other->order >= rule->order)
				fail_msg("%s: %s does not run before it", rule->id,
					 rule->reported_by[j]);
		}
		assert_non_null(rule->rule);
		assert_int_equal(!!rule->lines_whole,
				 rule->lines_take || rule->lines_row || rule->lines_path);
		assert_true(rule->evidence->count > 0);
		record = table_new(rule->id, NULL, TABLE_RECORD);
		table_add_columns(record, rule->evidence->columns, rule->evidence->count);
		table_add(record, nothing);
		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++) {
			const char *unknown = NULL;

			assert_non_null(texts[j]);
			assert_non_null(finding_text(&arena, texts[j], record, &unknown));
			if (unknown)
				fail_msg("%s: no evidence is called %s", rule->id, unknown);
		}
		/* A sentence, neither empty nor only a placeholder. */
		if (!strpbrk(finding_text_general(&arena, advice, rule->evidence->columns,
						  rule->evidence->count),
			     "abcdefghijklmnopqrstuvwxyz"))
			fail_msg("%s: --explain gives no advice", rule->id);
		for (size_t j = 0; rule->thresholds[j]; j++) {
			assert_true(rule->thresholds[j]->value > 0);
			assert_true(strlen(rule->thresholds[j]->meaning) > 0);
			assert_true(strlen(rule->thresholds[j]->source) > 0);
		}
		check_listed(rule, rule->files.counts_min);
		check_listed(rule, rule->files.counts_min ? &THRESHOLD_TIME_DECIDES : NULL);
		check_listed(rule, rule->files.counts_min ? &THRESHOLD_FEW : NULL);
		for (size_t j = 0; j < rule->evidence->count; j++)
			assert_non_null(rule->evidence->columns[j].meaning);
		table_free(record);
		arena_free(&arena);
		free(nothing);
	}
	assert_null(finding_rule_named("no-such-finding"));
}

/* Minimum counts that say what kind of access it is, or how sure; and those with a rule of their
 * own for time. */
static bool is_no_amount(const char *id, const char *meaning)
{
	static const char *const others[][2] = {
		{ "mmap-strided", "major faults of a file" },
		{ "mmap-store-faults",
		  "minor faults on data" }, /* few that take long wait for reads */
		{ "mmap-copied", "minor faults on data" },
		{ "mmap-minor-faults", "minor faults on data" },
		{ "small-reads-cached", "small reads of a file from memory per open" },
		{ "worker-start", "starts of a program by one process" },
		{ "workers-renewed", "times that a process forks workers" },
		{ "many-small-files", "small files" }, /* a few are read-bound, not a data set */
		{ "fsync-often", "consecutive syncs" },
		{ "fsync-often", "syncs that the run waits for" },
		{ "stores-amplified", "stores to large folios" },
		{ "node-slow", "requests of a node for it to be compared" },
		{ "pickled-data", "CPU samples" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i][0], id) && !strcmp(others[i][1], meaning))
			return true;
	return false;
}

/* Few but long operations cost as much as many short ones: a minimum count does not hide them. */
TEST(test_time_decides)
{
	for (size_t i = 0; i < finding_rule_count; i++) {
		const struct finding_rule *rule = finding_rules[i];

		for (size_t j = 0; rule->thresholds[j]; j++) {
			const struct finding_threshold *one = rule->thresholds[j];

			if (one->unit != UNIT_COUNT || one->bound != BOUND_MIN ||
			    is_no_amount(rule->id, one->meaning))
				continue;
			check_listed(rule, &THRESHOLD_TIME_DECIDES);
			check_listed(rule, &THRESHOLD_FEW);
		}
	}
}

TEST(test_text)
{
	struct numbers {
		uint64_t bytes, time_ns, count, one, unknown;
		struct table_text path;
		double share;
	};
	static const struct table_column columns[] = {
		{ "bytes", NULL, UNIT_BYTES, KIND_FACT, "", TABLE_UINT(struct numbers, bytes), 0 },
		{ "time_ns", NULL, UNIT_NS, KIND_FACT, "", TABLE_UINT(struct numbers, time_ns), 0 },
		{ "count", NULL, UNIT_COUNT, KIND_FACT, "", TABLE_UINT(struct numbers, count), 0 },
		{ "one", NULL, UNIT_COUNT, KIND_FACT, "", TABLE_UINT(struct numbers, one), 0 },
		{ "unknown", NULL, UNIT_COUNT, KIND_FACT, "", TABLE_UINT(struct numbers, unknown),
		  0 },
		{ "path", NULL, UNIT_NONE, KIND_FACT, "", TABLE_TEXT(struct numbers, path), 0 },
		{ "share", NULL, UNIT_SHARE, KIND_FACT, "", TABLE_REAL(struct numbers, share), 0 },
	};
	const struct numbers numbers = { 3 * MIB / 2,	       12 * MS, 1234, 1, TABLE_NO_UINT,
					 { "/a/{bytes}", 10 }, 0.25 };
	const char *unknown = NULL;
	struct arena arena = { 0 };
	struct table *record;

	(void)state;
	record = table_new("", NULL, TABLE_RECORD);
	table_add_columns(record, TABLE_COLUMNS(columns));
	table_add(record, &numbers);
	assert_string_equal(finding_text(&arena,
					 "{count} of {bytes} in {time_ns}, {share} of {path}: "
					 "{unknown}",
					 record, &unknown),
			    "1,234 of 1.5 MiB in 12.0 ms, 25.0% of /a/{bytes}: -");
	assert_null(unknown);
	assert_string_equal(finding_text(&arena, "{count}[ of {path}][, {bytes} or {unknown}].",
					 record, &unknown),
			    "1,234 of /a/{bytes}.");
	assert_null(unknown);
	assert_string_equal(finding_text(&arena,
					 "{count:file|files}, {one:file|files}[, {one:call|calls} "
					 "of {unknown:a|b}]",
					 record, &unknown),
			    "1,234 files, 1 file");
	assert_null(unknown);
	assert_string_equal(finding_text(&arena,
					 "[{one:a|b}||none][ {unknown}|| {count:c|d}] | [||x]y",
					 record, &unknown),
			    "1 a 1,234 d | y");
	assert_null(unknown);
	assert_string_equal(finding_text(&arena, "{none} {", record, &unknown), "{none} {");
	assert_non_null(unknown);
	table_free(record);
	arena_free(&arena);
}

/* --- rules --- */

TEST(test_loss)
{
	struct made_trace made;
	struct report *report;
	int row;

	(void)state;
	make_start(&made);
	CALL(&made, .time = 100, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 1);
	report = finish(&made, 1000);
	assert_int_equal(row_of_finding(report, "loss"), -1);
	free_all(&made, report);

	make_start(&made);
	for (int i = 0; i < 98; i++)
		CALL(&made, .time = 100 + i, .dur = 1, .pid = 10, .op = M_READ, .file = 1,
		     .result = 1);
	made.kinds[TRACE_SYSCALL].events += 2;
	made.kinds[TRACE_SYSCALL].lost += 2;
	report = finish(&made, 1000);
	row = row_of_finding(report, "loss");
	assert_int_not_equal(row, -1);
	check_text(report, "findings", row, "severity", "note");
	check_null(report, "findings", row, "cost_ns");
	assert_int_equal(evidence(report, row, "lost")->uint, 2);
	free_all(&made, report);

	make_start(&made);
	CALL(&made, .time = 100, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 1);
	made.kinds[TRACE_SYSCALL].events += 50;
	made.kinds[TRACE_SYSCALL].lost += 50;
	report = finish(&made, 1000);
	check_text(report, "findings", row_of_finding(report, "loss"), "severity", "high");
	free_all(&made, report);
}

/* With 99.8% of the events lost, findings from the kernel's totals remain. */
TEST(test_nearly_all_lost)
{
	struct made_trace made;
	struct report *report;

	make_start(&made);
	CALL(&made, .time = 100, .dur = 10, .pid = 10, .op = M_READ, .file = 1, .result = 1);
	made.kinds[TRACE_SYSCALL].events += 499;
	made.kinds[TRACE_SYSCALL].lost += 499;
	made.operations[M_ANONYMOUS] = (struct trace_operation_total) { .count = 20000,
									.thread_time_ns = 300 * MS,
									.major_faults = 5000 };
	EXIT(&made, .time = 1000 * MS - 2, .pid = 10, .major = 5000, .comm = "a");
	report = finish(&made, 1000 * MS);
	check_text(report, "findings", row_of_finding(report, "loss"), "severity", "high");
	assert_int_not_equal(row_of_finding(report, "swapped"), -1);
	assert_int_equal(report_table(report, "findings")->row_count, 2);
	CHECK(report, "trace", 0, "lost.total", 499);
	free_all(&made, report);
}

/* Major faults of 1 ms and 1 MiB each on a file, at the pages that `page_of` returns. */
static void make_faults(struct made_trace *made, unsigned int count,
			uint64_t (*page_of)(unsigned int number))
{
	make_start(made);
	FILE_ROW(made, .time = 10, .id = 1, .dev = 1, .ino = 1, .size = 1 << 30,
		 .path = "/data/tokens.bin");
	for (unsigned int i = 0; i < count; i++)
		FAULT(made, .time = 100 + i * 2 * MS, .dur = MS, .pid = 10, .file = 1,
		      .offset = page_of(i) * 4096, .flags = TRACE_FAULT_MAJOR | TRACE_FAULT_FILEMAP,
		      .fetched = MIB);
}

static uint64_t in_order(unsigned int number)
{
	return number * 256;
}

static uint64_t at_random(unsigned int number)
{
	return number * 2654435761u % 262144;
}

TEST(test_mmap_random)
{
	struct made_trace made;
	struct report *report;
	int row;

	(void)state;
	make_faults(&made, 100, in_order);
	report = finish(&made, 400 * MS);
	assert_int_equal(row_of_finding(report, "mmap-random"), -1);
	free_all(&made, report);

	make_faults(&made, 15, at_random);
	report = finish(&made, 400 * MS);
	assert_int_equal(row_of_finding(report, "mmap-random"), -1);
	free_all(&made, report);

	make_faults(&made, 100, at_random);
	report = finish(&made, 400 * MS);
	row = row_of_finding(report, "mmap-random");
	assert_int_equal(row, 0);
	check_text(report, "findings", row, "severity", "high");
	CHECK(report, "findings", row, "cost_ns", 92 * MS); /* without 80 us for each page */
	assert_int_equal(evidence(report, row, "touched_pages")->uint, 100);
	CHECK(report, "findings", row, "cost_bytes", 100 * MIB);
	check_text(report, "findings", row, "title", "Random mmap reads of tokens.bin");
	assert_int_equal(evidence(report, row, "major")->uint, 100);
	assert_int_equal(evidence(report, row, "fetched_each")->uint, MIB);
	assert_int_equal(evidence(report, row, "files")->uint, 1);
	assert_true(evidence(report, row, "backward")->real > 0.2);
	free_all(&made, report);

	/* The same in a run long enough for it not to matter. */
	make_faults(&made, 100, at_random);
	report = finish(&made, 100000 * MS);
	assert_int_equal(row_of_finding(report, "mmap-random"), -1);
	free_all(&made, report);
}

/* A file is opened again and again, and parsed for 12 ms. If `inside`, another process does so for
 * 1 ms of these. */
static uint64_t cost_of_opens(bool inside)
{
	struct made_trace made;
	struct report *report;
	uint64_t cost;

	make_start(&made);
	EXEC(&made, .time = 10, .pid = 20, .comm = "b", .command = "b", .rank = -1);
	FILE_ROW(&made, .time = 10, .id = 1, .ino = 1, .size = 64 * MIB, .path = "/data/a.npz");
	for (uint64_t i = 0; i < 40; i++) {
		for (uint64_t j = 0; j < (inside ? 2 : 1); j++) {
			const uint64_t at = 100 + i * 20 * MS + j * 8 * MS, pid = 10 + 10 * j;

			CALL(&made, .time = at, .dur = 5000, .pid = pid, .tid = pid, .op = M_OPENAT,
			     .file = 1, .result = 3);
			CALL(&made, .time = at + 10000, .dur = 5000, .pid = pid, .tid = pid,
			     .op = M_PREAD, .file = 1, .asked = 4096, .result = 4096);
			CALL(&made, .time = at + (j ? 1 : 12) * MS, .dur = 5000, .pid = pid,
			     .tid = pid, .op = M_PREAD, .file = 1, .offset = (i + 1) * MIB,
			     .asked = 4096, .result = 4096);
		}
	}
	report = finish(&made, 1000 * MS);
	cost = ask(report, "findings", finding_row(report, "opened-again"), "cost_ns")->uint;
	free_all(&made, report);
	return cost;
}

/* The end of a short open hides nothing of a longer one around it. */
TEST(test_opens_inside)
{
	uint64_t alone = cost_of_opens(false);

	assert_true(alone > 200 * MS);
	assert_true(cost_of_opens(true) > alone / 2);
}

/* I/O hidden by compute costs nothing. */
TEST(test_hidden_by_compute)
{
	struct made_trace made;
	struct report *report;
	int row;

	(void)state;
	make_faults(&made, 100, at_random);
	SPAN(&made, .begin = 100 + 100 * MS, .end = 100 + 200 * MS, .pid = 10, .tid = 11, .id = 1,
	     .name = "forward", .category = "compute");
	report = finish(&made, 400 * MS);
	row = row_of_finding(report, "mmap-random");
	assert_int_not_equal(row, -1);
	CHECK(report, "findings", row, "cost_ns", 46 * MS); /* see above */
	free_all(&made, report);
}

/* Threads that open files while others read are in both waits at once: the cost must not exceed the
 * total I/O time.
 */
TEST(test_cost_of_classes)
{
	static char paths[1000][32];
	struct made_trace made;
	struct report *report;
	size_t row;

	(void)state;
	make_start(&made);
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t at = 100 + i * 20000;

		snprintf(paths[i], sizeof(paths[i]), "/data/%u.jpg", (unsigned int)i);
		FILE_ROW(&made, .time = 10, .id = i + 1, .dev = 1, .ino = i + 1, .size = 20480,
			 .path = paths[i]);
		CALL(&made, .time = at, .dur = 10000, .pid = 10, .op = M_OPENAT, .file = i + 1,
		     .result = 3);
		CALL(&made, .time = at, .dur = 10000, .pid = 10, .tid = 11, .op = M_READ,
		     .file = i + 1, .asked = 32768, .result = 20480);
	}
	report = finish(&made, 100 * MS);
	row = finding_row(report, "many-small-files");
	CHECK(report, "findings", row, "cost_ns", 1000 * 10000);
	free_all(&made, report);
}

static void add_time(struct made_trace *made, uint64_t tid, enum thread_state state,
		     enum thread_state rest)
{
	struct made_thread_time row = { .time = 10, .dur = 400 * MS, .pid = 10, .tid = tid };

	row.states[state] = row.states[rest] = row.dur / 2;
	made_thread_time(made, &row);
}

/* Work that is no longer done under a lock does not wait for a CPU there either. */
TEST(test_helper_waits_for_cpu)
{
	struct made_trace made;
	struct report *report;
	int row;

	BEGIN(&made, .threads = true);
	EXEC(&made, .time = 10, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	add_time(&made, 10, THREAD_SLEEP, THREAD_LOCK);
	add_time(&made, 12, THREAD_CPU, THREAD_RUNNABLE);
	WAIT(&made, .time = 100 * MS, .dur = 200 * MS, .pid = 10, .state = "lock", .call = "futex",
	     .waker_pid = 10, .waker_tid = 12);
	report = finish(&made, 400 * MS + 10);
	row = row_of_finding(report, "helper-bound");
	assert_int_not_equal(row, -1);
	assert_in_range(evidence(report, row, "time_ns")->uint, 99 * MS, 101 * MS);
	assert_in_range(ask(report, "findings", row, "cost_ns")->uint, 198 * MS, 202 * MS);
	free_all(&made, report);
}
