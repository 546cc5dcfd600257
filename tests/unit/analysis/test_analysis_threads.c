/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Reading ahead with threads gives the same result as a single thread: the same events in the same
 * order with the same rows, with any amount of memory, early stops and damage.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analysis/order/cursor.h"
#include "ask_report.h"
#include "tests/random.h"

#define ROUNDS 60000 /* of a few rows each: more than a cursor reads without threads */
#define LANES 4
#define THREADS 4

static uint64_t random_state = 0x9e3779b97f4a7c15;

static uint64_t random_bits(void)
{
	return next_random(&random_state) >> 8;
}

static void make_round(struct made_trace *made, uint64_t i)
{
	uint64_t time = 1000000000 + i * 20000, lane = random_bits() % LANES;
	uint64_t pid = 100 + random_bits() % 7, file = 1 + random_bits() % 50;

	CALL(made, .time = time, .dur = random_bits() % 60000, .pid = pid, .op = M_READ,
	     .file = file, .offset = random_bits() % 1000 * 4096, .asked = 4096, .result = 4096,
	     .lane = lane);
	CALL(made, .time = time + random_bits() % 5000, .dur = 500, .pid = pid + 1, .op = M_PREAD,
	     .file = file, .offset = i, .asked = 100, .result = 90, .lane = (lane + 1) % LANES);
	FAULT(made, .time = time + random_bits() % 9000, .dur = random_bits() % 100000, .pid = pid,
	      .file = file, .offset = 4096 * i, .flags = TRACE_FAULT_MAJOR,
	      .fetched = random_bits() % 9 * 4096, .lane = lane);
	if (i % 16 == 0)
		CALL(made, .time = time + 10, .dur = 900, .pid = pid, .op = M_SENDFILE,
		     .file = file, .offset = -1, .asked = 10, .result = 10, .file2 = file % 50 + 1,
		     .lane = lane);
	if (i % 8 == 0)
		SPAN(made, .begin = time + 1, .end = time + 15000, .pid = pid, .id = i + 1,
		     .name = i % 3 ? "step" : "fetch", .category = i % 3 ? "compute" : "data",
		     .lane = lane);
	if (i % 256 == 0)
		assert_int_equal(trace_writer_tick(made->writer, time), 0);
}

static void make_trace(struct made_trace *made)
{
	BEGIN(made, .lanes = LANES, .spans = true, .monotonic_ns = 1000000000);
	for (uint64_t i = 1; i <= 50; i++)
		FILE_ROW(made, .time = 1000000000, .id = i, .dev = 1, .ino = i, .size = 1 << 20,
			 .path = i % 2 ? "/data/a" : "/data/b");
	for (uint64_t i = 0; i < ROUNDS; i++)
		make_round(made, i);
	made_finish(made, 1000000000, 1000000000 + ROUNDS * 20000ull);
}

/* Events returned by one run of the cursor. */
struct given {
	struct event *events;
	uint64_t *values; /* one column of each event's row */
	size_t count, room;
	uint64_t lost;
};

static void keep(struct given *given, const struct event *event)
{
	if (given->count == given->room) {
		given->room = given->room ? 2 * given->room : 1 << 16;
		given->events = reallocarray(given->events, given->room, sizeof(*given->events));
		given->values = reallocarray(given->values, given->room, sizeof(*given->values));
		assert_non_null(given->events);
		assert_non_null(given->values);
	}
	given->events[given->count] = *event;
	given->events[given->count].block = NULL;
	/* Clears the padding after the last member. */
	memset(&given->events[given->count].flags + 1, 0,
	       sizeof(*event) - offsetof(struct event, flags) - sizeof(event->flags));
	given->values[given->count++] =
		event_value(event, TRACE_COL_TIME) ^ (uint64_t)event_kind(event) << 56;
}

static struct given collect(struct trace_reader *reader, unsigned int threads, size_t bytes,
			    size_t most)
{
	static const char *const names[] = { "a.flt" };
	const struct cursor_options options = { .threads = threads, .bytes_most = bytes };
	struct given given = { .count = 0 };
	struct trace_error error = { "" };
	const struct event *events;
	struct cursor *cursor;
	struct job job;
	size_t count;

	assert_int_equal(job_load(&job, &reader, names, 1, &error), 0);
	assert_int_equal(cursor_open(&cursor, &job, &options), 0);
	do {
		assert_int_equal(cursor_next(cursor, &events, &count, &error), 0);
		for (size_t i = 0; i < count; i++)
			keep(&given, &events[i]);
	} while (count && given.count < most);
	if (given.count < most)
		assert_true(cursor_progress(cursor) == 1);
	cursor_close(cursor);
	given.lost = job.lost;
	job_free(&job);
	return given;
}

static void check_same(struct given *one, struct given *many)
{
	assert_int_equal(one->count, many->count);
	assert_int_equal(one->lost, many->lost);
	assert_memory_equal(one->events, many->events, one->count * sizeof(*one->events));
	assert_memory_equal(one->values, many->values, one->count * sizeof(*one->values));
	free(one->events);
	free(one->values);
	free(many->events);
	free(many->values);
}

static void test_same(void **state)
{
	struct made_trace *made = *state;
	struct given one = collect(made->reader, 1, 0, SIZE_MAX);
	struct given many = collect(made->reader, THREADS, 0, SIZE_MAX);

	/*
	 * Three calls and faults per round; in some rounds a transfer, and a span's begin and end.
	 */
	assert_int_equal(one.count,
			 3 * ROUNDS + 2 * ((ROUNDS + 15) / 16) + 2 * ((ROUNDS + 7) / 8) + 50);
	check_same(&one, &many);
}

static void test_little_memory(void **state)
{
	struct made_trace *made = *state;
	struct given one = collect(made->reader, 1, 0, SIZE_MAX);
	struct given many = collect(made->reader, THREADS, 512 << 10, SIZE_MAX);

	check_same(&one, &many);
}

static void test_left_early(void **state)
{
	struct made_trace *made = *state;

	for (size_t most = 1; most < 100000; most *= 7) {
		struct given one = collect(made->reader, 1, 0, most);
		struct given many = collect(made->reader, THREADS, 0, most);

		check_same(&one, &many);
	}
}

/* Unreadable blocks are skipped and their rows counted, whichever thread finds them. */
static void test_damage(void **state)
{
	struct made_trace *made = *state;
	uint8_t *bytes = malloc(made->length);
	struct trace_reader *readers[2];
	struct trace_error error;
	struct given one, many;

	assert_non_null(bytes);
	memcpy(bytes, made->bytes, made->length);
	for (size_t i = 0; i < trace_reader_block_count(made->reader); i += 5) {
		const struct trace_block_info *info = trace_reader_block_info(made->reader, i);

		if (info->kind == TRACE_SYSCALL || info->kind == TRACE_FAULT)
			bytes[info->offset + 60] ^= 0x55;
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(trace_reader_open_memory(&readers[i], bytes, made->length, &error),
				 0);
	one = collect(readers[0], 1, 0, SIZE_MAX);
	many = collect(readers[1], THREADS, 0, SIZE_MAX);
	assert_true(one.lost > 0);
	assert_string_equal(trace_reader_damage(readers[0]), trace_reader_damage(readers[1]));
	check_same(&one, &many);
	for (int i = 0; i < 2; i++)
		trace_reader_close(readers[i]);
	free(bytes);
}

static void check_same_cell(const struct cell *a, const struct cell *b)
{
	assert_int_equal(a->type, b->type);
	if (a->type == CELL_TEXT) {
		assert_int_equal(a->length, b->length);
		assert_memory_equal(a->text, b->text, a->length);
	} else if (a->type == CELL_UINT) {
		assert_int_equal(a->uint, b->uint);
	}
}

/* A whole report on the first CPU only, and on all CPUs. */
static void test_report(void **state)
{
	struct made_trace *made = *state;
	struct report *one, *many;
	cpu_set_t all, first;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	assert_int_equal(sched_setaffinity(0, sizeof(first), &first), 0);
	one = made_report(&made->reader, 1);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	many = made_report(&made->reader, 1);
	assert_int_equal(one->table_count, many->table_count);
	for (size_t i = 0; i < one->table_count; i++) {
		const struct table *a = one->tables[i], *b = many->tables[i];

		assert_int_equal(a->row_count, b->row_count);
		assert_int_equal(a->column_count, b->column_count);
		for (size_t j = 0; j < a->row_count * a->column_count; j++)
			check_same_cell(&a->cells[j], &b->cells[j]);
	}
	report_free(one);
	report_free(many);
}

static int set_up(void **state)
{
	static struct made_trace made;

	make_trace(&made);
	*state = &made;
	return 0;
}

static int tear_down(void **state)
{
	made_close(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	   cmocka_unit_test(test_little_memory),
		cmocka_unit_test(test_left_early), cmocka_unit_test(test_damage),
		cmocka_unit_test(test_report),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
