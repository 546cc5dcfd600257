/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The flame graph, checked against a trace whose stacks are known and against the table of lines;
 * and traces with more stacks than there is room for.
 */
#include "unit_test.h"

#include "analysis/picture/pictures.h"
#include "ask_report.h"
#include "output/page/html.h"
#include "page_samples.h"
#include "tests/random.h"

static struct report *flame_report(struct made_trace *made, const struct filter *filter)
{
	const struct report_options options = { .pictures = true, .filter = filter };

	return report_with(made, &options);
}

/* Returns the child of that name; fails if there is none. */
static uint32_t child(const struct picture_flame *flame, uint32_t parent, const char *name)
{
	for (uint32_t i = 1; i < flame->node_count; i++)
		if (flame->nodes[i].parent == parent &&
		    !strcmp(stack_tree_function(flame->tree, flame->nodes[i].frame).bytes, name))
			return i;
	fail_msg("node %u does not call %s", parent, name);
	return 0;
}

static unsigned int state_named(const char *name)
{
	unsigned int state = 0;

	while (strcmp(sample_state_names[state], name) != 0)
		state++;
	return state;
}

/* The sum of a node and all that it calls, in a state. */
static struct flame_sum sum_of(const struct picture_flame *flame, uint32_t node, const char *state,
			       unsigned int first, unsigned int last)
{
	struct flame_sum sum = { 0 };

	for (size_t i = 0; i < flame->cell_count; i++) {
		const struct flame_cell *cell = &flame->cells[i];
		uint32_t at = cell->node;

		while (at && at != node)
			at = flame->nodes[at].parent;
		if (at != node || cell->state != state_named(state) || cell->stretch < first ||
		    cell->stretch >= last)
			continue;
		sum.time_ns += cell->sum.time_ns;
		sum.estimated_ns += cell->sum.estimated_ns;
		sum.estimated_samples += cell->sum.estimated_samples;
	}
	return sum;
}

static uint64_t time_of(const struct picture_flame *flame, uint32_t node, const char *state)
{
	return sum_of(flame, node, state, 0, PICTURE_COARSE).time_ns;
}

/* The flame graph has all the time of the table of lines, by state. */
static void check_totals(const struct report *report)
{
	const struct table *lines = report_table(report, "lines");
	uint64_t left_ns[FLAME_STATES];

	for (unsigned int state = 0; state < FLAME_STATES; state++)
		left_ns[state] = time_of(&report->pictures->flame, 0, sample_state_names[state]);
	for (size_t row = 0; row < lines->row_count; row++)
		left_ns[state_named(ask(report, "lines", row, "state")->text)] -=
			ask(report, "lines", row, "time_ns")->uint;
	for (unsigned int state = 0; state < FLAME_STATES; state++)
		assert_int_equal(left_ns[state], 0);
}

TEST(test_known)
{
	struct made_trace made;
	const struct picture_flame *flame;
	struct report *report;
	uint32_t module, item, step, worker;
	struct flame_sum sum;

	make_stacks(&made);
	report = flame_report(&made, NULL);
	flame = &report->pictures->flame;
	/* Kinds of threads, the program, and the frames. */
	module = child(flame, child(flame, child(flame, 0, "main"), "train"), "<module>");
	item = child(flame, module, "Tokens.__getitem__");
	step = child(flame, module, "step");
	worker = child(flame, child(flame, child(flame, 0, "worker"), "train"), "<module>");
	assert_int_equal(flame->node_count, 14);
	assert_int_equal(flame->tree->frames[flame->nodes[item].frame].line, 42);
	assert_string_equal(stack_tree_source(flame->tree, flame->nodes[item].frame).bytes,
			    "/job/loader.py");
	assert_int_equal(time_of(flame, item, "io"), 204 * MS);
	assert_int_equal(time_of(flame, item, "pipe"), 30 * MS);
	assert_int_equal(time_of(flame, child(flame, item, FLAME_FUNCTION), "pipe"), 30 * MS);
	assert_int_equal(time_of(flame, item, "cpu"), 0);
	assert_int_equal(time_of(flame, step, "cpu"), 800 * MS);
	assert_int_equal(time_of(flame, worker, "lock"), 200 * MS);
	assert_int_equal(time_of(flame, child(flame, worker, "Tokens.__getitem__"), "lock"),
			 200 * MS);
	assert_int_equal(time_of(flame,
				 child(flame, child(flame, child(flame, 0, "helper"), "train"),
				       "(not Python, or not yet known to be)"),
				 "lock"),
			 2 * MS);
	/* Only short operations, and time on a CPU, are estimated. */
	sum = sum_of(flame, module, "io", 0, PICTURE_COARSE);
	assert_int_equal(sum.estimated_ns, 4 * MS);
	assert_int_equal(sum.estimated_samples, 4);
	sum = sum_of(flame, 0, "cpu", 0, 80);
	assert_int_equal(sum.time_ns, 200 * MS);
	assert_int_equal(sum.estimated_samples, 10);
	/* Waits are spread over their time: 80 buckets are 1 s and 80 ns. */
	assert_int_equal(sum_of(flame, 0, "io", 0, 80).time_ns, 200 * MS);
	assert_int_equal(sum_of(flame, 0, "sleep", 0, 80).time_ns, 100 * MS + 80);
	assert_int_equal(sum_of(flame, 0, "sleep", 80, 160).time_ns, 100 * MS - 80);
	assert_int_equal(sum_of(flame, 0, "lock", 0, 80).time_ns, 0);
	check_totals(report);
	done(&made, report);
}

/* A filter cuts waits as it cuts them in the table. */
TEST(test_filter)
{
	struct filter filter = FILTER_ALL;
	struct made_trace made;
	struct report *report;

	filter.from_ns = 950 * MS;
	filter.until_ns = 1150 * MS;
	make_stacks(&made);
	report = flame_report(&made, &filter);
	assert_int_equal(time_of(&report->pictures->flame, 0, "sleep"), 150 * MS);
	assert_int_equal(time_of(&report->pictures->flame, 0, "lock"), 50 * MS);
	check_totals(report);
	done(&made, report);
}

/* Without the layer, there is none. */
TEST(test_absent)
{
	struct made_trace made;
	struct report *report;

	make_hostile(&made);
	report = flame_report(&made, NULL);
	assert_int_equal(report->pictures->flame.cell_count, 0);
	assert_true(report_table(report, "lines")->absent);
	done(&made, report);
}

/* --- bounds --- */

#define STACKS 150000
#define DEPTH 100

/* Chains of frames with long hostile texts; each has a sample, and the first has one in ten. */
static void make_many(struct made_trace *made)
{
	uint64_t state = 88172645463325252ull;
	char text[300];

	memset(text, '<', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	BEGIN(made, .stacks = true);
	EXEC(made, .time = 1, .pid = 10, .comm = "train", .command = "train");
	for (uint64_t i = 1; i <= STACKS; i++) {
		if (i <= STACKS / 10) {
			text[snprintf(text, sizeof(text), "/%llu/\xff", (unsigned long long)i)] =
				'<';
			made_frame(made, 2, i, text, i, text);
		}
		made_stack(made, 2, i, i % DEPTH ? i - 1 : 0, 1 + i % (STACKS / 10));
	}
	for (uint64_t i = 1; i <= STACKS; i++)
		SAMPLE(made, .time = i * 10000, .dur = MS + next_random(&state) % 1000, .pid = 10,
		       .state = i % 3 ? "lock" : "cpu", .stack = i % 10 ? i : 1);
	made_finish(made, 0, 2000 * MS);
}

TEST(test_bounds)
{
	struct made_trace made;
	const struct picture_flame *flame;
	struct report *report;
	struct sink out;
	uint32_t program, most = 0;

	make_many(&made);
	report = flame_report(&made, NULL);
	flame = &report->pictures->flame;
	assert_in_range(flame->node_count, 100, 2001);
	for (uint32_t i = 1; i < flame->node_count; i++)
		assert_true(flame->nodes[i].parent < i);
	/* Nothing is lost, and the frame with the most time is there. */
	check_totals(report);
	program = child(flame, child(flame, 0, "main"), "train");
	assert_true(time_of(flame, child(flame, program, FLAME_OTHER), "lock") > 0);
	for (uint32_t i = 1; i < flame->node_count; i++)
		if (flame->nodes[i].parent == program &&
		    flame->tree->frames[flame->nodes[i].frame].line == 2)
			most = i;
	assert_true(time_of(flame, most, "lock") > STACKS / 10 * MS / 2);
	sink_open_memory(&out);
	assert_int_equal(html_report(&out, report), 0);
	assert_in_range(out.used, 1, HTML_BYTES_MAX);
	sink_close(&out);
	done(&made, report);
}
