/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Tables per bucket for values that no single event gives, checked against reports of runs whose
 * activity is limited to these buckets; values that extend beyond a bucket are cut.
 */
#include "unit_test.h"

#include <stdlib.h>

#include "analysis/picture/pictures.h"
#include "ask_report.h"
#include "page_samples.h"

/* Buckets `first` up to `last`. */
static struct report *make_run(struct made_trace *made, uint64_t first, uint64_t last)
{
	const struct report_options options = { .pictures = true };

	make_chained(made, first, last);
	return report_with(made, &options);
}

/* The column that identifies a row of each table. */
static const char *const keys[PICTURE_SAMPLED] = {
	"epoch", "path", "path", "path", "name", "comm", "rank", "location", "state",
};

/* The matching row of another report; -1 for none. */
static int same_row(const struct report *report, const struct report *other, const char *table,
		    const char *key, size_t row)
{
	const struct cell *cell = ask(other, table, row, key);

	if (cell->type != CELL_TEXT)
		return row; /* same order */
	return row_with(report, table, key, cell->text);
}

static void check_row(const struct report *run, const struct report *part, size_t number,
		      const size_t *order, uint64_t first, uint64_t last, size_t i)
{
	const struct picture_sample *sample = &run->pictures->samples.tables[number].rows[i];
	const struct sampled *how = picture_sampled[number]->sampled;
	const char *table = picture_sampled[number]->name;
	int row = same_row(part, run, table, keys[number], order[i]);

	for (int column = 0; column < SAMPLED_MAX && how->columns[column]; column++) {
		uint64_t sum = 0, wanted = 0;

		for (uint64_t at = first; at < last; at++)
			sum += sample->more[column][at];
		if (table_find_column(report_table(run, table), how->columns[column]) < 0)
			continue; /* not recorded */
		if (row >= 0)
			wanted = ask(part, table, row, how->columns[column])->uint;
		if (sum != wanted)
			fail_msg("%s of %s, row %zu, in [%llu, %llu): %llu for %llu",
				 how->columns[column], table, i, (unsigned long long)first,
				 (unsigned long long)last, (unsigned long long)sum,
				 (unsigned long long)wanted);
	}
}

/* Each part of a run equals a run of only that part, in every column of every table. */
TEST(test_parts)
{
	static const uint64_t parts[][2] = {
		{ 0, 160 }, { 0, 1 }, { 20, 21 }, { 33, 90 }, { 159, 160 }
	};
	struct made_trace made, made_part;
	struct report *run = make_run(&made, 0, 160);

	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		uint64_t first = parts[p][0], last = parts[p][1];
		struct report *part = make_run(&made_part, first, last);

		for (size_t i = 0; i < PICTURE_SAMPLED; i++) {
			const struct table *table = report_table(run, picture_sampled[i]->name);
			size_t *order = table_order(table);

			assert_int_equal(run->pictures->samples.tables[i].count, table->row_count);
			assert_true(table->row_count);
			/* The epoch begins 8 ns late only where its part does. */
			for (size_t row = 0; row < table->row_count; row++)
				if (i || first == 0)
					check_row(run, part, i, order, first, last, row);
			free(order);
		}
		done(&made_part, part);
	}
	done(&made, run);
}

static uint64_t sampled_at(const struct report *report, const struct analysis *analysis,
			   const char *column, size_t stretch)
{
	for (size_t i = 0; i < PICTURE_SAMPLED; i++) {
		const struct sampled *how = picture_sampled[i]->sampled;

		for (int j = 0; picture_sampled[i] == analysis && j < SAMPLED_MAX; j++)
			if (how->columns[j] && !strcmp(how->columns[j], column))
				return report->pictures->samples.tables[i].rows[0].more[j][stretch];
	}
	fail_msg("%s has no samples of %s", analysis->name, column);
	return 0;
}

/* Epochs, request times and times of lines are cut at the end of a bucket; operations are not. */
TEST(test_cut)
{
	const struct report_options options = { .pictures = true };
	struct made_trace made;
	struct report *report;

	BEGIN(&made, .spans = true, .block = true, .stacks = true);
	EXEC(&made, .time = 1, .pid = 10, .comm = "a", .command = "a", .rank = -1);
	FILE_ROW(&made, .time = 1, .id = 1, .dev = 8, .ino = 1, .path = "/data/a");
	SPAN(&made, .begin = TICK / 2, .end = 3 * TICK, .pid = 10, .id = 1, .name = "epoch");
	SPAN(&made, .begin = TICK - 3 * MS, .end = TICK + MS, .pid = 10, .id = 2, .name = "step",
	     .category = "compute");
	CALL(&made, .time = TICK - MS, .dur = 3 * MS, .pid = 10, .op = M_PREAD, .file = 1,
	     .asked = 4096, .result = 4096, .fetched = 4096);
	BIO(&made, .time = TICK - MS, .dur = 3 * MS, .queue = 0, .pid = 10, .op = M_REQUEST_READ,
	    .file = 1, .bytes = 4096, .request = 1);
	made_frame(&made, 1, 1, "/job/train.py", 1, "<module>");
	made_stack(&made, 1, 1, 0, 1);
	SAMPLE(&made, .time = TICK - MS, .dur = 3 * MS, .pid = 10, .op = M_PREAD, .fetched = 3000,
	       .stack = 1);
	SAMPLE(&made, .time = TICK - 1, .dur = 1000, .weight = MS, .pid = 10, .op = M_PREAD,
	       .stack = 1);
	REQUEST(&made, .time = TICK - MS, .dur = 3 * MS, .pid = 10, .op = M_REQUEST_READ,
		.bytes = 4096, .dev = 8, .part = 8, .id = 1);
	made_finish(&made, 0, 2000 * MS);
	report = report_with(&made, &options);
	assert_int_equal(sampled_at(report, &analysis_epochs, "time_ns", 0), TICK - TICK / 2);
	assert_int_equal(sampled_at(report, &analysis_epochs, "time_ns", 1), TICK);
	assert_int_equal(sampled_at(report, &analysis_epochs, "time_ns", 3), 0);
	assert_int_equal(sampled_at(report, &analysis_epochs, "compute_ns", 0), 3 * MS);
	assert_int_equal(sampled_at(report, &analysis_epochs, "compute_ns", 1), MS);
	assert_int_equal(sampled_at(report, &analysis_epochs, "io_ns", 0), MS);
	assert_int_equal(sampled_at(report, &analysis_epochs, "io_ns", 1), 2 * MS);
	assert_int_equal(sampled_at(report, &analysis_epochs, "unoverlapped_io_ns", 0), 0);
	assert_int_equal(sampled_at(report, &analysis_epochs, "unoverlapped_io_ns", 1), MS);
	assert_int_equal(sampled_at(report, &analysis_device_users, "time_ns", 0), MS);
	assert_int_equal(sampled_at(report, &analysis_device_users, "time_ns", 1), 2 * MS);
	assert_int_equal(sampled_at(report, &analysis_device_users, "requests", 0), 1);
	assert_int_equal(sampled_at(report, &analysis_lines, "time_ns", 0), 2 * MS);
	assert_int_equal(sampled_at(report, &analysis_lines, "time_ns", 1), 2 * MS);
	assert_int_equal(sampled_at(report, &analysis_lines, "fetched_bytes", 0), 1000);
	assert_int_equal(sampled_at(report, &analysis_lines, "fetched_bytes", 1), 2000);
	assert_int_equal(sampled_at(report, &analysis_lines, "estimated_ns", 0), MS);
	assert_int_equal(sampled_at(report, &analysis_lines, "estimated_samples", 0), 1);
	assert_int_equal(sampled_at(report, &analysis_lines, "samples", 0), 2);
	assert_int_equal(sampled_at(report, &analysis_lines, "count", 0), 1001);
	assert_int_equal(sampled_at(report, &analysis_lines, "samples", 1), 0);
	assert_int_equal(sampled_at(report, &analysis_latency_breakdown, "time_ns", 0), 0);
	assert_int_equal(sampled_at(report, &analysis_latency_breakdown, "time_ns", 1), 3 * MS);
	assert_int_equal(sampled_at(report, &analysis_latency_breakdown, "device_ns", 1), 3 * MS);
	done(&made, report);
}
