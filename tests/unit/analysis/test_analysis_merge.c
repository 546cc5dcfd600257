/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The unique order of events from a few CPU buffers, many of which start together: by start, then
 * by block, then in the order in which they ended.
 */
#include "unit_test.h"

#include "analysis/order/cursor.h"
#include "ask_report.h"
#include "tests/random.h"

#define CALLS 3000
#define LANES_MAX 5

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	return next_random(&random_state) >> 8;
}

struct call {
	uint64_t start, number;
	unsigned int lane;
};

/* A block for each CPU buffer: one after the other, or interleaved in bursts. */
static void make_trace(struct made_trace *made, unsigned int lanes, unsigned int burst)
{
	uint64_t time = 1000;
	unsigned int lane = 0;

	BEGIN(made, .lanes = LANES_MAX);
	EXEC(made, .time = 0, .pid = 10, .comm = "p", .command = "p", .rank = -1);
	for (uint64_t i = 0; i < CALLS; i++) {
		if (random_bits() % burst == 0)
			lane = random_bits() % lanes;
		if (random_bits() % 3 == 0)
			time += random_bits() % 4;
		CALL(made, .time = time, .dur = 10, .pid = 10, .op = M_READ,
		     .offset = (int64_t)(i * LANES_MAX + lane), .asked = 1, .result = 1,
		     .lane = lane);
		if (random_bits() % 900 == 0)
			EXEC(made, .time = time, .pid = 10, .comm = "q", .command = "q",
			     .rank = -1);
	}
	made_finish(made, 0, time + 1000);
}

static size_t read_calls(const struct made_trace *made, struct call *calls)
{
	static const char *const names[] = { "a.flt" };
	struct trace_reader *reader = made->reader;
	struct trace_error error = { "" };
	const struct event *events;
	struct cursor *cursor;
	struct job job;
	size_t count, all = 0;

	assert_int_equal(job_load(&job, &reader, names, 1, &error), 0);
	assert_int_equal(cursor_open(&cursor, &job, &(struct cursor_options) { .threads = 1 }), 0);
	do {
		assert_int_equal(cursor_next(cursor, &events, &count, &error), 0);
		for (const struct event *event = events; event < events + count; event++) {
			if (!(event->flags & EVENT_CALL))
				continue;
			assert_true(all < CALLS);
			calls[all++] = (struct call) { event->start, event->offset / LANES_MAX,
						       event->offset % LANES_MAX };
		}
	} while (count);
	cursor_close(cursor);
	job_free(&job);
	return all;
}

static void check_order(const struct call *calls)
{
	bool before[LANES_MAX][LANES_MAX] = { { false } };
	uint64_t next[LANES_MAX] = { 0 };

	for (size_t i = 0; i < CALLS; i++) {
		const struct call *call = &calls[i];

		assert_true(call->number >= next[call->lane]);
		next[call->lane] = call->number + 1;
		if (!i)
			continue;
		assert_true(call->start >= call[-1].start);
		if (call->start == call[-1].start)
			before[call[-1].lane][call->lane] = true;
	}
	/* Among blocks with events of equal start, the same one always comes first. */
	for (unsigned int a = 0; a < LANES_MAX; a++)
		for (unsigned int b = 0; b < a; b++)
			assert_false(before[a][b] && before[b][a]);
}

TEST(test_few_lanes)
{
	static struct call calls[CALLS];

	for (unsigned int lanes = 1; lanes <= LANES_MAX; lanes++)
		for (unsigned int burst = 1; burst <= 1000; burst *= 10) {
			struct made_trace made;

			make_trace(&made, lanes, burst);
			assert_int_equal(read_calls(&made, calls), CALLS);
			check_order(calls);
			made_close(&made);
		}
}
