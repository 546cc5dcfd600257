// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Time at lines of Python: which line of a stack is named, and that memory stays bounded. */
#include "unit_test.h"

#include <stdio.h>
#include <string.h>

#include "made_ledger.h"
#include "monitor/intake/line_times.h"

#define STARTED 100

/* A code object of 3.11 whose two instructions are on lines 11 and 12. */
#define TABLE 0xd8, 0, 0, 0xd8, 0, 0 /* each one line below the last */
#define TABLE_BYTES 6
#define FRAMES_MAX 4

struct lines {
	struct ledger *ledger;
	struct line_times *times;
	volatile uint32_t generation;
};

static void set_up(struct lines *lines)
{
	*lines = (struct lines) { .ledger = open_with(roomy) };
	assert_int_equal(line_times_open(&lines->times, &lines->generation), 0);
	begin(lines->ledger, 7, "/a", "x", STARTED);
	begin(lines->ledger, 8, "/a", "x", STARTED);
}

static void tear_down(struct lines *lines)
{
	line_times_close(lines->times);
	ledger_close(lines->ledger);
}

static void take_code(struct lines *lines, uint64_t code, const char *path, const char *function)
{
	struct {
		struct event_frame frame;
		uint8_t table[TABLE_BYTES];
	} record = {
		.frame = { .header.kind = RECORD_FRAME,
			   .code = code,
			   .check = 7,
			   .generation = lines->generation,
			   .first_line = 10,
			   .table_bytes = TABLE_BYTES,
			   .version = 0x30b,
			   .path_bytes = strlen(path),
			   .function_bytes = strlen(function) },
		.table = { TABLE },
	};

	memcpy(record.frame.path, path, strlen(path));
	memcpy(record.frame.function, function, strlen(function));
	assert_true(line_times_take(lines->times, &record.frame.header));
}

/* The innermost code object first, up to 0; each is at its second instruction, on line 12. */
static void take_stack(struct lines *lines, uint32_t id, const uint64_t codes[FRAMES_MAX])
{
	struct {
		struct event_stack stack;
		struct python_frame frames[FRAMES_MAX];
	} record = {
		.stack = { .header.kind = RECORD_STACK, .id = id, .generation = lines->generation }
	};

	for (; record.stack.count < FRAMES_MAX && codes[record.stack.count]; record.stack.count++)
		record.frames[record.stack.count] =
			(struct python_frame) { codes[record.stack.count], 7, 2 };
	assert_true(line_times_take(lines->times, &record.stack.header));
}

static void take_sample(struct lines *lines, uint32_t pid, uint32_t stack, uint32_t state,
			uint64_t weight_ns)
{
	const struct event_sample sample = {
		.header = { .kind = RECORD_SAMPLE, .pid = pid, .time_ns = STARTED + 10 },
		.stack = stack,
		.state = state,
		.weight_ns = weight_ns,
	};

	assert_true(line_times_take(lines->times, &sample.header));
}

static void check_line(const struct lines *lines, uint32_t pid, uint32_t state, const char *file,
		       const char *function, uint64_t time_ns)
{
	const struct ledger_line *line = ledger_line(ledger_process(lines->ledger, pid), state);

	if (!file) {
		assert_null(line);
		return;
	}
	assert_non_null(line);
	assert_string_equal(line->file, file);
	assert_string_equal(line->function, function);
	assert_int_equal(line->line, file[0] ? 12 : 0);
	assert_int_equal(line->time_ns, time_ns);
}

/* The innermost frame of the application is named, and of its lines the one with the most time. */
TEST(test_named_lines)
{
	struct lines lines;

	set_up(&lines);
	take_code(&lines, 1, "/job/a.py", "load");
	take_code(&lines, 2, "/usr/lib/python3.11/queue.py", "get");
	take_code(&lines, 3, "/job/b.py", "main");
	take_code(&lines, 4, "<string>", "made");
	/* Samples may come before their stacks. */
	take_sample(&lines, 7, 1, THREAD_LOCK, 5);
	take_stack(&lines, 1, (uint64_t[FRAMES_MAX]) { 2, 4, 1, 3 });
	take_stack(&lines, 2, (uint64_t[FRAMES_MAX]) { 3 });
	take_stack(&lines, 3, (uint64_t[FRAMES_MAX]) { 2, 4 });
	take_stack(&lines, 4, (uint64_t[FRAMES_MAX]) { 2 });
	take_stack(&lines, 5, (uint64_t[FRAMES_MAX]) { 99 });
	take_sample(&lines, 7, 2, THREAD_LOCK, 6);
	take_sample(&lines, 7, 1, THREAD_LOCK, 3);
	take_sample(&lines, 7, 2, THREAD_CPU, 1);
	take_sample(&lines, 7, 3, SAMPLE_IO, 2);
	take_sample(&lines, 8, 4, THREAD_PIPE, 4);
	take_sample(&lines, 8, 5, THREAD_SLEEP, 9);
	line_times_settle(lines.times, lines.ledger);
	check_line(&lines, 7, THREAD_LOCK, "/job/a.py", "load", 8);
	check_line(&lines, 7, THREAD_CPU, "/job/b.py", "main", 1);
	check_line(&lines, 7, SAMPLE_IO, "<string>", "made", 2);
	check_line(&lines, 7, THREAD_PIPE, NULL, NULL, 0);
	check_line(&lines, 8, THREAD_PIPE, "/usr/lib/python3.11/queue.py", "get", 4);
	check_line(&lines, 8, THREAD_SLEEP, "", "", 9);
	assert_int_equal(line_times_unnamed(lines.times), 0);
	/* Forgotten, but the stacks are known. */
	ledger_forget_lines(lines.ledger);
	check_line(&lines, 7, THREAD_LOCK, NULL, NULL, 0);
	take_sample(&lines, 7, 1, THREAD_LOCK, 4);
	line_times_settle(lines.times, lines.ledger);
	check_line(&lines, 7, THREAD_LOCK, "/job/a.py", "load", 4);
	check_line(&lines, 7, THREAD_CPU, NULL, NULL, 0);
	tear_down(&lines);
}

/* Counts the samples that have no line, except those that are not of Python. */
TEST(test_lost_samples)
{
	const struct event_header other = { .kind = RECORD_THREAD_TIME };
	struct lines lines;

	set_up(&lines);
	assert_false(line_times_take(lines.times, &other));
	take_code(&lines, 1, "/job/a.py", "load");
	take_stack(&lines, 1, (uint64_t[FRAMES_MAX]) { 1 });
	take_sample(&lines, 7, 0, THREAD_LOCK, 5);
	take_sample(&lines, 7, 2, THREAD_LOCK, 5); /* an unknown stack */
	take_sample(&lines, 9, 1, THREAD_LOCK, 5); /* an unknown process */
	line_times_settle(lines.times, lines.ledger);
	assert_int_equal(line_times_unnamed(lines.times), 2);
	assert_int_equal(line_times_lost(lines.times), 0);
	for (int i = 0; i < 65536 + 3; i++)
		take_sample(&lines, 7, 1, THREAD_LOCK, 1);
	assert_int_equal(line_times_lost(lines.times), 3);
	line_times_settle(lines.times, lines.ledger);
	check_line(&lines, 7, THREAD_LOCK, "/job/a.py", "load", 65536);
	assert_int_equal(line_times_unnamed(lines.times), 2);
	tear_down(&lines);
}

/* Texts are cut: a path keeps its end. */
TEST(test_long_texts)
{
	char path[EVENT_FRAME_PATH_BYTES + 1], function[EVENT_FRAME_FUNCTION_BYTES + 1];
	char cut[LEDGER_FUNCTION_BYTES];
	struct lines lines;

	set_up(&lines);
	snprintf(path, sizeof(path), "/%0*d.py", EVENT_FRAME_PATH_BYTES - 4, 7);
	snprintf(function, sizeof(function), "%0*d", EVENT_FRAME_FUNCTION_BYTES, 8);
	memcpy(cut, function, sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = 0;
	take_code(&lines, 1, path, function);
	take_stack(&lines, 1, (uint64_t[FRAMES_MAX]) { 1 });
	take_sample(&lines, 7, 1, THREAD_LOCK, 5);
	line_times_settle(lines.times, lines.ledger);
	check_line(&lines, 7, THREAD_LOCK, path + 1, cut, 5);
	tear_down(&lines);
}

/* A process with any number of lines has the first ones; all processes have bounded memory. */
TEST(test_many_lines)
{
	struct lines lines;
	unsigned int booked;
	char file[LEDGER_PATH_BYTES];

	set_up(&lines);
	for (booked = 0; booked < 100000; booked++) {
		const struct ledger_line line = {
			.file = "a.py", .function = "f", .line = booked, .time_ns = 1
		};

		if (!ledger_add_line(lines.ledger, 7, STARTED + 1, &line))
			break;
	}
	assert_int_equal(booked, LEDGER_LINES_MAX);
	snprintf(file, sizeof(file), "%0*d", LEDGER_PATH_BYTES - 1, 1);
	for (booked = 0; booked < 100000; booked++) {
		const struct ledger_line line = { .file = file, .function = "f", .time_ns = 1 };

		begin(lines.ledger, 100 + booked, "/a", "x", STARTED);
		if (!ledger_add_line(lines.ledger, 100 + booked, STARTED + 1, &line))
			break;
	}
	assert_in_range(booked, LEDGER_LINES_BYTES / 1024, LEDGER_LINES_BYTES / LEDGER_PATH_BYTES);
	tear_down(&lines);
}
