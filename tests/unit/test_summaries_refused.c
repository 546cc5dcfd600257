/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Summaries of which something is asked that needs events, and those that no report would write.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/rollup.h"
#include "random_job.h"

static void check_refused(struct trace_reader *reader, const struct report_options *options,
			  int status, const char *words)
{
	static const char *const names[] = { "some.flt" };
	struct trace_error error = { "" };
	struct report *report;

	assert_int_equal(report_make(&report, &reader, names, 1, options, &error), status);
	if (!strstr(error.text, words) || !strstr(error.text, names[0]))
		fail_msg("%s", error.text);
}

static void test_needs_events(void **state)
{
	const struct filter filter = {
		.from_ns = 1, .until_ns = FILTER_NONE, .pid = FILTER_NONE, .rank = FILTER_NONE
	};
	const struct report_options filtered = { .filter = &filter };
	const struct report_options grouped = { .key = rollup_find_key("file") };
	const struct report_options drawn = { .pictures = true };
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_reader *summary;

	make_job(&job, true);
	summary = summarize(&parted, job.traces, job.names, job.count, 9);
	check_refused(summary, &filtered, -ENOTSUP, "filtered");
	check_refused(summary, &grouped, -ENOTSUP, "grouped");
	check_refused(summary, &drawn, -ENOTSUP, "drawn");
	free_parted(&parted);
	free_job(&job);
}

/* Cut before its end a summary would be a smaller one. */
static void test_cut(void **state)
{
	struct random_job job;
	struct parted parted = { .count = 0 };
	struct trace_error error;
	struct trace_reader *cut;
	struct stat stat;

	make_job(&job, true);
	summarize(&parted, job.traces, job.names, job.count, 9);
	assert_int_equal(fstat(parted.fds[0], &stat), 0);
	assert_int_equal(ftruncate(parted.fds[0], stat.st_size - 60), 0);
	trace_reader_close(parted.opened[0]);
	{
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", parted.fds[0]);
		assert_int_equal(trace_reader_open(&cut, path, &error), 0);
	}
	parted.opened[0] = cut;
	check_refused(cut, NULL, -EINVAL, "not whole");
	free_parted(&parted);
	free_job(&job);
}

/* Rows that contradict each other, or are of nothing: an error or a report, and no more memory than
 * a summary may take. */
static uint64_t hostile_value(void)
{
	static const uint64_t odd[] = { 0, 1, 2, 3, 5, 7, 8, 40, 1 << 21, UINT32_MAX, UINT64_MAX };

	return random_below(4) ? odd[random_below(sizeof(odd) / sizeof(odd[0]))]
			       : next_random(&random_state) >> random_below(60);
}

static void test_hostile(void **state)
{
	static const char *const texts[] = { "trace", "files",	 "findings",	  "access",
					     "title", "cost_ns", "start_unix_ns", "\xff" };
	static const char *const names[] = { "some.flt" };
	size_t refused = 0;

	for (int round = 0; round < 300; round++) {
		struct trace_error error = { "" };
		struct report *report;
		struct made_trace made;
		uint64_t values[TRACE_COLUMNS_MOST];
		int status;

		BEGIN(&made, .mode = SUMMARY_MODE);
		for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
			trace_writer_string(made.writer, texts[i], strlen(texts[i]));
		for (int i = 0; i < 40; i++) {
			enum trace_kind kind = TRACE_SUMMARY_TABLE + random_below(4);

			for (unsigned int c = 0; c < trace_schemas[kind].column_count; c++)
				values[c] = random_below(2) ? hostile_value() : random_below(9);
			if (kind == TRACE_SUMMARY_TABLE)
				values[SUMMARY_TABLE_NUMBER] =
					made.kinds[TRACE_SUMMARY_TABLE].written;
			values[TRACE_COL_TIME] = i;
			made_row(&made, kind, 0, values);
		}
		made_finish(&made, 0, 40);
		status = report_make(&report, &made.reader, names, 1, NULL, &error);
		assert_true(!status || (error.text[0] && status == -EINVAL));
		refused += status != 0;
		report_free(report);
		made_close(&made);
	}
	assert_true(refused > 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_needs_events),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
