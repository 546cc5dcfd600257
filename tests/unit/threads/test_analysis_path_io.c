/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* The time with I/O on the critical path: as painted moment by moment, and of series at once. */
#include "unit_test.h"

#include <string.h>

#include "analysis/critical_path/state.h"
#include "tests/random.h"

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	return (next_random(&random_state) >> 8) % limit;
}

/* --- painted --- */

#define PAINT_THREADS 4
#define PAINT_NS 400
#define PAINT_FILES 3

/* A thread at each moment. */
struct painted {
	bool on_path[PAINT_NS], waits[PAINT_NS];
	int class[PAINT_NS], file[PAINT_NS]; /* of its operation; -1: none */
};

static uint64_t a_later_time(uint64_t now_ns, uint64_t most)
{
	const uint64_t time_ns = now_ns + 1 + random_below(most);

	return time_ns < PAINT_NS ? time_ns : PAINT_NS;
}

static void paint_operation(struct painted *thread, struct critical_path *path, uint32_t number,
			    uint64_t now_ns)
{
	const uint64_t end_ns = a_later_time(now_ns, 60);
	struct path_thread *real = &path->threads[number];

	if (end_ns <= real->op_end_ns)
		return;
	critical_path_io_stop(path, number);
	real->op_end_ns = end_ns;
	real->op_class = random_below(2);
	real->op_file = random_below(PAINT_FILES);
	critical_path_io_resume(path, number);
	for (uint64_t i = now_ns; i < end_ns; i++) {
		thread->class[i] = real->op_class;
		thread->file[i] = real->op_file;
	}
}

static void paint_bools(bool *of, uint64_t from_ns, uint64_t until_ns)
{
	for (uint64_t i = from_ns; i < until_ns; i++)
		of[i] = true;
}

/* Something happens to a thread now. */
static void paint(struct painted *thread, bool others[][PAINT_NS], struct critical_path *path,
		  uint32_t number, uint64_t now_ns)
{
	struct path_thread *real = &path->threads[number];
	const uint64_t end_ns = a_later_time(now_ns, 90);
	const unsigned int class = random_below(2);

	critical_path_io_advance(path, now_ns);
	switch (random_below(8)) {
	case 0: /* enters the path, or stays */
		real->until_ns = end_ns > real->until_ns ? end_ns : real->until_ns;
		critical_path_io_renew(path, number);
		paint_bools(thread->on_path, now_ns, real->until_ns);
		break;
	case 1: /* waits */
		real->wait_end_ns = end_ns > real->wait_end_ns ? end_ns : real->wait_end_ns;
		critical_path_io_renew(path, number);
		paint_bools(thread->waits, now_ns, real->wait_end_ns);
		break;
	case 2: /* off the path, but waited for */
		critical_path_io_other(path, class, UINT32_MAX, now_ns, end_ns);
		paint_bools(others[class], now_ns, end_ns);
		break;
	default:
		paint_operation(thread, path, number, now_ns);
	}
}

static void check_painted(const struct painted *threads, bool others[][PAINT_NS],
			  const struct critical_path *path)
{
	uint64_t class_ns[2] = { 0 }, file_ns[PAINT_FILES][2] = { 0 }, io_ns[PAINT_THREADS] = { 0 };

	for (int at = 0; at < PAINT_NS; at++) {
		bool any[2] = { others[0][at], others[1][at] };

		for (int i = 0; i < PAINT_THREADS; i++) {
			const struct painted *thread = &threads[i];

			if (!thread->on_path[at] || thread->waits[at] || thread->class[at] < 0)
				continue;
			io_ns[i]++;
			file_ns[thread->file[at]][thread->class[at]]++;
			any[thread->class[at]] = true;
		}
		class_ns[0] += any[0];
		class_ns[1] += any[1];
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(path->io[i].time_ns, class_ns[i]);
		for (size_t file = 0; file < PAINT_FILES; file++)
			assert_int_equal(file < path->file_room ? path->files[file][i] : 0,
					 file_ns[file][i]);
	}
	for (int i = 0; i < PAINT_THREADS; i++)
		assert_int_equal(path->threads[i].io_ns, io_ns[i]);
}

/* Operations, waits and stays on the path in any order give what painting moment by moment does. */
TEST(test_io_as_painted)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		const struct job job = { .end_ns = PAINT_NS };
		struct path_thread threads[PAINT_THREADS] = { 0 };
		struct painted painted[PAINT_THREADS];
		bool others[2][PAINT_NS] = { 0 };
		struct arena arena = { 0 };
		struct critical_path path = {
			.job = &job, .arena = &arena, .threads = threads, .count = PAINT_THREADS
		};

		random_state = seed;
		memset(painted, 0, sizeof(painted));
		for (int i = 0; i < PAINT_THREADS; i++)
			memset(painted[i].class, -1, sizeof(painted[i].class));
		for (uint64_t now_ns = 0; now_ns < PAINT_NS; now_ns += random_below(10)) {
			const uint32_t number = random_below(PAINT_THREADS);

			paint(&painted[number], others, &path, number, now_ns);
		}
		critical_path_io_end(&path);
		assert_int_equal(arena_status(&arena), 0);
		check_painted(painted, others, &path);
		arena_free(&arena);
	}
}

/* --- series --- */

#define ALIKE_MAX 60

/* Calls of a process, one after the other: usually of one thread on one file. */
static uint64_t random_calls(struct event *events, size_t count, uint64_t now_ns,
			     const struct loaded_block *block)
{
	const struct event like = { .block = block,
				    .process = 1,
				    .thread = 10 + random_below(2),
				    .file = random_below(3),
				    .class = random_below(2),
				    .operation = random_below(2),
				    .flags = EVENT_COUNTED | EVENT_TIMED | EVENT_CALL };
	const bool differ = !random_below(4);

	for (size_t i = 0; i < count; i++) {
		events[i] = like;
		events[i].start = now_ns;
		events[i].end = now_ns + random_below(20);
		now_ns = events[i].end + random_below(5);
		if (differ && !random_below(30))
			events[i].thread = 12;
		if (differ && !random_below(30))
			events[i].file = 2;
		if (differ && !random_below(30))
			now_ns = events[i].start;
	}
	return now_ns;
}

/* Something that happened to a thread before those calls. */
static void happen(struct critical_path *path, unsigned int what, uint64_t now_ns, uint64_t end_ns)
{
	critical_path_io_advance(path, now_ns);
	if (!path->count)
		return;
	if (what == 0)
		path->blocked_until_ns = end_ns;
	else if (what == 1)
		path->threads[path->count - 1].until_ns = end_ns;
	else if (what == 2)
		path->threads[0].wait_end_ns = end_ns;
	else if (what == 3)
		critical_path_io_other(path, 0, 0, now_ns, end_ns);
	else if (what == 4) /* a long operation of the main thread */
		path->threads[0].op_end_ns = end_ns;
	for (size_t i = 0; i < path->count; i++)
		critical_path_io_renew(path, i);
}

static void check_same_io(const struct critical_path *path, const struct critical_path *other)
{
	assert_int_equal(path->count, other->count);
	assert_int_equal(path->file_room, other->file_room);
	for (int i = 0; i < 2; i++)
		assert_int_equal(path->io[i].time_ns, other->io[i].time_ns);
	assert_int_equal(critical_path_locks_ns(path), critical_path_locks_ns(other));
	for (size_t i = 0; i < path->file_room; i++)
		assert_memory_equal(path->files[i], other->files[i], sizeof(path->files[i]));
	for (size_t i = 0; i < path->count; i++) {
		assert_int_equal(path->threads[i].io_ns, other->threads[i].io_ns);
		assert_int_equal(path->threads[i].op_end_ns, other->threads[i].op_end_ns);
		assert_int_equal(path->threads[i].last_ns, other->threads[i].last_ns);
	}
}

/* A series at once gives what its events do one by one. */
TEST(test_series_as_events)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct operation operations[] = { { .locks = false }, { .locks = true } };
		struct process processes[] = {
			{ .parent = PROCESS_NONE },
			{ .pid = 10, .rank = -1, .parent = PROCESS_NONE },
		};
		const struct job job = {
			.end_ns = 1000000,
			.operations = operations,
			.processes = { .processes = processes, .count = 2 },
		};
		const struct loaded_block block = { .trace = 0 };
		struct arena arena = { 0 };
		struct critical_path one_by_one = { 0 }, at_once = { 0 };
		struct event events[ALIKE_MAX];
		uint64_t now_ns = 0;

		random_state = seed;
		critical_path_begin(&one_by_one, &job, &arena);
		critical_path_begin(&at_once, &job, &arena);
		for (int i = 0; i < 20; i++) {
			const size_t count = 32 + random_below(ALIKE_MAX - 32);
			const unsigned int what = random_below(8);
			const uint64_t end_ns = now_ns + random_below(1500);
			struct event_series series = { .events = events, .count = count };

			happen(&one_by_one, what, now_ns, end_ns);
			happen(&at_once, what, now_ns, end_ns);
			now_ns = random_calls(events, count, now_ns, &block);
			assert_int_equal(critical_path_events(&one_by_one, events, count), 0);
			assert_int_equal(critical_path_series(&at_once, &series), 0);
		}
		critical_path_io_end(&one_by_one);
		critical_path_io_end(&at_once);
		check_same_io(&one_by_one, &at_once);
		arena_free(&arena);
	}
}
