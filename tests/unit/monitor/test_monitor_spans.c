// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Span durations: records in any order, open spans, and names chosen by programs. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "made_ledger.h"
#include "monitor/intake/span_times.h"

static void span_begins(struct span_times *times, uint32_t pid, uint64_t id, const char *name,
			uint64_t time_ns)
{
	char room[sizeof(struct event_span) + 128] = { 0 };
	struct event_span *event = (struct event_span *)room;

	event->header = (struct event_header) {
		.time_ns = time_ns, .kind = RECORD_SPAN_BEGIN, .pid = pid, .tid = pid
	};
	event->id = id;
	event->name_bytes = strlen(name);
	event->category_bytes = 4;
	sprintf(event->text, "%sdata", name);
	span_times_take(times, &event->header);
}

static void span_ends(struct span_times *times, uint32_t pid, uint64_t id, uint64_t time_ns)
{
	const struct event_span_end event = {
		.header = { .time_ns = time_ns, .kind = RECORD_SPAN_END, .pid = pid, .tid = pid },
		.id = id,
	};

	span_times_take(times, &event.header);
}

static void process_ends(struct span_times *times, uint32_t pid, uint64_t time_ns)
{
	const struct event_exit event = {
		.header = { .time_ns = time_ns, .kind = RECORD_EXIT, .pid = pid, .tid = pid },
		.process_ends = 1,
	};

	span_times_take(times, &event.header);
}

static void assert_span(struct ledger *ledger, const char *cgroup, const char *name, uint64_t count,
			uint64_t time_ns)
{
	const struct ledger_span *spans = job_called(ledger, cgroup)->spans;

	for (int i = 0; spans && i <= LEDGER_SPANS_MAX; i++)
		if (spans[i].last_ns && !strcmp(spans[i].name.name, name)) {
			assert_int_equal(spans[i].count, count);
			assert_int_equal(spans[i].time_ns, time_ns);
			return;
		}
	assert_int_equal(count + time_ns, 0);
}

TEST(test_spans)
{
	struct ledger *ledger = open_with(roomy);
	struct span_times *times;

	assert_int_equal(span_times_open(&times), 0);
	begin(ledger, 7, "/a", "x", 100);
	begin(ledger, 8, "/b", "x", 100);
	span_times_settle(times, ledger, 105, true); /* nothing has arrived yet */
	/* CPUs deliver independently: an end may arrive before its begin. */
	span_ends(times, 7, 1, 150);
	span_begins(times, 7, 1, "fetch", 120);
	span_begins(times, 8, 1, "fetch", 130); /* another process's span */
	span_begins(times, 7, 2, "epoch", 110);
	span_ends(times, 7, 9, 160); /* began before */
	span_times_settle(times, ledger, 145, false);
	assert_span(ledger, "/a", "fetch", 0, 0);
	span_times_settle(times, ledger, 200, true);
	assert_span(ledger, "/a", "fetch", 1, 30);
	assert_span(ledger, "/a", "epoch", 0, 90);
	assert_span(ledger, "/b", "fetch", 0, 70);
	/* Open spans are counted as they run; spans left open end with their process. */
	process_ends(times, 8, 230);
	span_times_settle(times, ledger, 300, true);
	span_ends(times, 7, 2, 310);
	span_times_settle(times, ledger, 400, true);
	assert_span(ledger, "/b", "fetch", 1, 100);
	assert_span(ledger, "/a", "epoch", 1, 200);
	/* Spans whose end may have been missed are no longer reported. */
	span_begins(times, 7, 3, "fetch", 410);
	span_times_settle(times, ledger, 420, true);
	span_times_forget(times);
	span_ends(times, 7, 3, 430);
	span_times_settle(times, ledger, 500, true);
	assert_span(ledger, "/a", "fetch", 1, 40);
	assert_int_equal(span_times_lost(times), 0);
	span_times_close(times);
	ledger_close(ledger);
}

/* A program that leaks spans has no room for more; the ends of other spans are known. */
TEST(test_leaked_spans)
{
	struct ledger *ledger = open_with(roomy);
	struct span_times *times;
	uint64_t id = 0;

	assert_int_equal(span_times_open(&times), 0);
	begin(ledger, 7, "/a", "x", 100);
	begin(ledger, 8, "/b", "x", 100);
	span_begins(times, 8, 1, "fetch", 110);
	while (!span_times_lost(times)) {
		span_begins(times, 7, ++id, "leak", 120);
		span_times_settle(times, ledger, 125, false);
	}
	assert_int_equal(span_times_lost_ends(times), 0);
	span_ends(times, 8, 1, 130);
	span_times_settle(times, ledger, 200, false);
	assert_span(ledger, "/b", "fetch", 1, 20);
	/* Begins that wait for earlier records are refused, too; an end would be lost. */
	for (int i = 0; i < 70000; i++)
		span_begins(times, 7, ++id, "leak", 210);
	assert_int_equal(span_times_lost_ends(times), 0);
	span_ends(times, 8, 2, 220);
	assert_int_equal(span_times_lost_ends(times), 1);
	process_ends(times, 8, 230);
	assert_int_equal(span_times_lost_ends(times), 2);
	assert_true(span_times_lost(times) > 70000 - 65536);
	span_times_close(times);
	ledger_close(ledger);
}

/* However many and however long the names a program makes up. */
TEST(test_names_of_spans_are_bounded)
{
	struct ledger *ledger = open_with(roomy);
	struct span_times *times;
	char name[101] = "";

	assert_int_equal(span_times_open(&times), 0);
	begin(ledger, 7, "/a", "x", 100);
	for (int i = 0; i < LEDGER_SPANS_MAX + 10; i++) {
		snprintf(name, sizeof(name), "step %d", i);
		span_begins(times, 7, i + 1, name, 200);
		span_ends(times, 7, i + 1, 202);
	}
	memset(name, 'x', 100);
	span_begins(times, 7, 1000, name, 300);
	span_ends(times, 7, 1000, 310);
	span_times_settle(times, ledger, 400, true);
	assert_span(ledger, "/a", "step 0", 1, 2);
	assert_span(ledger, "/a", LEDGER_OTHER, 11, 30);
	assert_true(ledger_node(ledger)->series_used > 0);
	/* Old ones are removed, and their series freed. */
	ledger_exit(ledger, 7, 400);
	ledger_settle(ledger, UINT64_MAX / 2);
	assert_int_equal(ledger_node(ledger)->series_used, 0);
	span_times_close(times);
	ledger_close(ledger);
}

/* No two rows of a job share a name: they would be exported as the same series. */
TEST(test_span_called_as_all_others)
{
	const struct ledger_span_name others = { LEDGER_OTHER, LEDGER_OTHER },
				      almost = { LEDGER_OTHER, "data" };
	struct ledger *ledger = open_with(roomy);
	const struct ledger_span *spans;

	begin(ledger, 7, "/a", "x", 100);
	ledger_add_span(ledger, 7, 200, &others, 1, 50);
	ledger_add_span(ledger, 7, 200, &almost, 2, 60);
	spans = job_called(ledger, "/a")->spans;
	assert_int_equal(spans[LEDGER_SPANS_MAX].count, 1);
	assert_int_equal(spans[0].count, 2);
	assert_int_equal(spans[1].last_ns, 0);
	ledger_close(ledger);
}
